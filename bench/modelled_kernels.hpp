#pragma once
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kolmo/base/philox.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/tune/occupancy.hpp"
#include "kolmo/tune/space.hpp"

namespace kolmo::modelled {

using tune::Occupancy, tune::Parameter, tune::Space, tune::Values;

/// The times of a kernel in every configuration of a space, from a model of an H200 (132 multiprocessors, 4.8
/// TB/s, 67 TFLOP/s in f32). The model is the roofline, reduced for occupancy too low to hide latency, for a
/// partly filled last wave, and for loops unrolled too little or too much, plus a ripple of 2 % without
/// explanation.
struct Kernel {
  std::string name;
  Space space;
  std::vector<double> seconds;
};

inline constexpr double bandwidth = 4.8e12, flops = 67e12, launch = 2e-6;
inline constexpr int processors = 132;

inline double ripple(std::size_t id, std::uint64_t seed) {
  const Philox::Words random = Philox(seed)(id, 0);
  const double u = uniform53(random.w[0], random.w[1]) + uniform53(random.w[2], random.w[3]) - 1;
  return std::exp(0.02 * std::sqrt(6.0) * u);
}

inline Occupancy occupancy_of(const Values& v) {
  return tune::occupancy(tune::multiprocessor("9.0"),
                         {int(v[0]), int(24 + 6 * v[1] + 4 * v[2]), std::size_t(v[0] * v[1] * v[2] * 4), 1});
}

/// A kernel that reads `n` elements of 4 bytes once, with `work` operations each. Parameters: threads per
/// block, items per thread, stages of the pipeline through shared memory.
inline Kernel streaming(double n, double work, std::uint64_t seed) {
  const std::vector<Parameter> parameters{
      {"block", {256, 32, 64, 128, 512, 1024}}, {"items", {4, 1, 2, 8, 16}}, {"stages", {1, 2, 3, 4}}};
  Space space(parameters, [](const Values& v) { return occupancy_of(v).blocks > 0; });
  std::vector<double> times;
  for (std::size_t c = 0; c < space.size(); ++c) {
    const Values v = space.values(c);
    const Occupancy o = occupancy_of(v);
    const double in_flight = double(o.warps) * double(v[1]) * (1 + 0.5 * double(v[2] - 1));
    const double latency = 1 - std::exp(-in_flight / 40);
    const auto grid = std::uint64_t(std::ceil(n / double(v[0] * v[1])));
    const double tail = tune::waves(grid, o, processors).efficiency;
    const double unroll = 1 / (1 + 0.03 * std::pow(std::log2(double(v[1]) / 4), 2));
    const double best = std::max(4 * n / bandwidth, work * n / flops);
    times.push_back((launch + best / (latency * unroll * std::max(0.05, tail))) * ripple(space.id(c), seed));
  }
  return {"streaming n=" + std::to_string(std::int64_t(n)), std::move(space), std::move(times)};
}

/// A product of square matrices in tiles. Parameters: threads per block, tile of a block, stages.
inline Kernel tiled(double n, std::uint64_t seed) {
  const std::vector<Parameter> parameters{
      {"block", {256, 64, 128, 512}}, {"tile", {64, 16, 32, 128, 256}}, {"stages", {1, 2, 3, 4}}};
  const auto occupancy_of = [](const Values& v) {
    const auto registers = 32 + v[1] * v[1] / v[0];
    if (registers > 255) return Occupancy{};
    return tune::occupancy(tune::multiprocessor("9.0"),
                           {int(v[0]), int(registers), std::size_t(2 * v[1] * 16 * 4 * v[2]), 1});
  };
  Space space(parameters, [&](const Values& v) { return occupancy_of(v).blocks > 0; });
  std::vector<double> times;
  for (std::size_t c = 0; c < space.size(); ++c) {
    const Values v = space.values(c);
    const double tile = double(v[1]), blocks = std::pow(std::ceil(n / tile), 2);
    const Occupancy o = occupancy_of(v);
    const double tail = tune::waves(std::uint64_t(blocks), o, processors).efficiency;
    const double padded = std::pow(std::ceil(n / tile) * tile / n, 2);
    const double traffic = 2 * n * n * n * 4 / tile / (3 * bandwidth);  // a third is served by the cache
    const double hidden = 1 - std::exp(-double(o.warps) * (1 + 0.6 * double(v[2] - 1)) / 10);
    const double compute =
        2 * n * n * n * padded / flops / (0.35 + 0.65 * tile * tile / (tile * tile + 24.0 * 24));
    times.push_back((launch + std::max(traffic, compute) / (hidden * std::max(0.05, tail))) *
                    ripple(space.id(c), seed));
  }
  return {"tiled n=" + std::to_string(std::int64_t(n)), std::move(space), std::move(times)};
}

/// All modelled kernels: two kinds at eight sizes each, and one that is limited by arithmetic.
inline std::vector<Kernel> all() {
  std::vector<Kernel> kernels;
  for (int i = 0; i < 8; ++i) {
    kernels.push_back(streaming(std::pow(4.0, 5 + i), 2, std::uint64_t(i)));
    kernels.push_back(streaming(std::pow(3.0, 8 + i), 60, std::uint64_t(100 + i)));
    kernels.push_back(tiled(std::pow(2.0, 5 + i) * (i % 2 ? 1 : 1.3), std::uint64_t(200 + i)));
  }
  return kernels;
}

/// Reads spaces with measured times: {"spaces": [{"name": ..., "seconds": [...]}]}. The first time of each is
/// the default's.
inline std::vector<Kernel> recorded(const std::string& file) {
  std::vector<Kernel> kernels;
  const auto all = nlohmann::json::parse(read_file(file));
  for (const auto& k : all.at("spaces")) {
    Parameter p{"configuration", {}};
    for (std::size_t i = 0; i < k.at("seconds").size(); ++i) p.values.push_back(std::int64_t(i));
    kernels.push_back({k.at("name"), Space(std::vector<Parameter>{p}), k.at("seconds")});
  }
  return kernels;
}

}  // namespace kolmo::modelled
