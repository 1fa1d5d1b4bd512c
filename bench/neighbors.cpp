// Measures nearest-neighbour estimates of large series by every variant of a device, from data that are on the device.
// All variants must give the same bits.
//   bench_neighbors --rows 10000 --rows 1000000 --device cuda:0 --record results.json
#include <CLI/CLI.hpp>
#include <bit>
#include <chrono>
#include <map>
#include <random>

#include "bench/record.hpp"
#include "kolmo/op/define.hpp"
#include "kolmo/op/registry.hpp"
#include "kolmo/ops/info/ksg_conditional_mutual_information/ksg_conditional_mutual_information.hpp"
#include "kolmo/tune/statistics.hpp"

namespace kolmo::bench {
namespace {

using Args = KsgConditionalMutualInformationArgs;

/// x, y and z as columns that follow each other in time: the past of x, the present of y, and the past of y.
struct Kind {
  const char* name;
  int dx, dy, dz;
};
constexpr Kind kinds[] = {{"MI(1,1)", 1, 1, 0}, {"MI(1,3)", 1, 3, 0},    {"MI(1,7)", 1, 7, 0},
                          {"TE(1,1)", 1, 1, 1}, {"CMI(1,1;2)", 1, 1, 2}, {"TE(2,2)", 2, 1, 2},
                          {"TE(3,3)", 3, 1, 3}};

/// An autoregressive x, and an autoregressive y that follows it.
struct Series {
  std::vector<double> x, y;
  explicit Series(std::int64_t n) : x(std::size_t(n)), y(std::size_t(n)) {
    std::mt19937_64 random(std::uint64_t(n) + 1);
    std::normal_distribution<double> normal;
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = normal(random) + (i ? 0.5 * x[i - 1] : 0);
      y[i] = normal(random) + (i ? 0.4 * y[i - 1] + 0.5 * x[i - 1] : 0);
    }
  }
};

class Estimate {
 public:
  Estimate(const Kind& kind, const Series& from, std::int64_t surrogates, Stream& stream) : stream_(stream) {
    const std::int64_t past = 8, n = std::int64_t(from.x.size()) - past;
    const auto upload = [&](const std::vector<double>& series, int columns, int newest) {
      std::vector<double> rows;
      for (std::int64_t r = 0; r < n; ++r)
        for (int c = 0; c < columns; ++c) rows.push_back(series[std::size_t(r + past - newest - c)]);
      buffers_.emplace_back(rows.size() * sizeof(double), stream);
      const Tensor to = buffers_.back().as(DType::f64, std::array{n, std::int64_t(columns)});
      stream.copy(to, tensor(rows.data(), {n, std::int64_t(columns)}));
      stream.synchronize();
      return to;
    };
    const Tensor x = upload(from.x, kind.dx, 1);
    args.x = tensor(x.as<double>(), {1, n, std::int64_t(kind.dx)}, stream.device());
    args.y = upload(from.y, kind.dy, 0);
    if (kind.dz) args.z = upload(from.y, kind.dz, 1);
    buffers_.emplace_back((1 + surrogates) * sizeof(double), stream);
    args.value = buffers_.back().as(DType::f64, std::array<std::int64_t, 3>{1, 1, 1 + surrogates});
    args.surrogates = surrogates, args.surrogate_type = SurrogateType::circular;
  }
  double seconds(int variant) {
    const auto begin = std::chrono::steady_clock::now();
    ksg_conditional_mutual_information(args, stream_, {.variant = variant});
    stream_.synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  std::vector<double> values() {
    std::vector<double> v(std::size_t(1 + args.surrogates));
    stream_.copy(tensor(v.data(), {1, 1, std::int64_t(v.size())}), args.value);
    stream_.synchronize();
    return v;
  }
  Args args;

 private:
  Stream& stream_;
  std::vector<Buffer> buffers_;
};

int run(int argc, char** argv) {
  CLI::App app("Time of nearest-neighbour estimates on a GPU");
  std::vector<std::int64_t> rows;
  std::int64_t surrogates = 0;
  std::string device = "cuda:0", record, only, variant;
  double limit = 10;
  int samples = 5;
  app.add_option("--rows", rows, "sizes of the series, ascending")->required();
  app.add_option("--surrogates", surrogates, "circular ones beside the observed data");
  app.add_option("--kind", only, "only the estimate of this name, e.g. TE(3,3)");
  app.add_option("--variant", variant, "only this variant");
  app.add_option("--samples", samples, "of each time; fewer after a second")->capture_default_str();
  app.add_option("--limit", limit, "seconds; a variant that going by fewer rows takes longer is left out")
      ->capture_default_str();
  app.add_option("--device", device, "cuda, cuda:N or simt")->capture_default_str();
  app.add_option("--record", record, "write every sample to this JSON file");
  CLI11_PARSE(app, argc, argv);

  Stream stream(parse_device(device));
  const OpEntry& entry = entry_of(ksg_conditional_mutual_information);
  const ImplBase& impl = *entry.impl(stream.device().kind);
  std::map<std::pair<std::string, int>, std::pair<std::int64_t, double>> last;  // rows and seconds
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const std::int64_t n : rows) {
    const Series series(n + 8);
    for (const Kind& kind : kinds) {
      if (!only.empty() && only != kind.name) continue;
      Estimate estimate(kind, series, surrogates, stream);
      std::vector<double> expected;
      for (int v = impl.rows().size() - 1; v >= 0; --v) {
        const std::string name(impl.rows()[v].name);
        auto& [before, seconds] = last[{kind.name, v}];
        const bool too_long = before && seconds * double(n) / double(before) > limit;
        if (too_long || !impl.fits(&estimate.args, v) || (!variant.empty() && variant != name)) continue;
        std::vector<double> times;
        double spent = 0;
        if (seconds < 0.1) estimate.seconds(v);  // loads kernels and allocates memory
        while (int(times.size()) < samples && (times.empty() || spent < 1))
          times.push_back(estimate.seconds(v)), spent += times.back();
        before = n, seconds = tune::median(times);
        const std::vector<double> values = estimate.values();
        if (expected.empty()) expected = values;
        for (std::size_t i = 0; i < values.size(); ++i)
          if (std::bit_cast<std::uint64_t>(values[i]) != std::bit_cast<std::uint64_t>(expected[i]))
            fail<Error>(std::string(kind.name) + " of " + std::to_string(n) + " rows: " + name +
                        " gives another value");
        std::cout << kind.name << ' ' << n << " rows, " << 1 + surrogates << " estimates, " << name << ": "
                  << seconds << " s" << std::endl;
        lines.push_back({{"estimate", kind.name},
                         {"in_use", v == entry.default_variant(&estimate.args, stream.device().kind)},
                         {"rows", n},
                         {"estimates", 1 + surrogates},
                         {"variant", name},
                         {"median", seconds},
                         {"seconds", times}});
      }
    }
  }
  if (!record.empty())
    write_record(record, "neighbors", device_info(stream.device()), {{"k", 4}, {"rows", lines}});
  return 0;
}

}  // namespace
}  // namespace kolmo::bench

int main(int argc, char** argv) {
  return kolmo::bench::status_of("neighbors", kolmo::bench::run, argc, argv);
}
