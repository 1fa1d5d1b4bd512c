// Writes for bench/world_model_ablation.py what the world model is given of each log of a folder, and what the simple forecasters say:
//   world_model_inputs FOLDER FILE
// cmake --build --preset ci --target bench_world_model_inputs builds it.
// FILE holds doubles: for each run its blocks n, n x (8 inputs, 3 planned, 5 of the trace, log loss), its origins m, and
// m x (blocks seen, noise, 5 forecasters x 10 centres). Runs are in the order of their names.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <vector>

#include "kolmo/predict/analysis/backtest.hpp"
#include "kolmo/predict/decide/history.hpp"
#include "kolmo/predict/forecast/calibrator.hpp"
#include "kolmo/predict/forecast/forecasters.hpp"
#include "kolmo/predict/model/inputs.hpp"

namespace {

using namespace kolmo;
using namespace kolmo::predict;

constexpr const char* names[] = {"persistence", "local_linear", "power_law", "lag_law", "lag_law_and_trend"};
constexpr std::size_t first = 10, ahead_of = 10;

void add_origins(const Blocks& blocks, std::vector<double>& out) {
  const std::size_t n = blocks.loss.size(), step = std::max<std::size_t>(5, n / 16);
  std::set<std::size_t> origins;
  for (std::size_t t = first; t < n; t += 5) origins.insert(t);
  for (std::size_t t = first; t < n; t += step) origins.insert(t);
  out.push_back(double(origins.size()));
  const auto all = simple_forecasters();
  for (const std::size_t t : origins) {
    const Seen seen{blocks, t};
    const RateBlocks came = rates_of(blocks, t, std::min(ahead_of, n - t));
    out.push_back(double(t)), out.push_back(noise_of(seen));
    for (const char* name : names)
      for (const auto& f : all) {
        if (f->name() != name) continue;
        std::vector<double> centres = f->centres(seen, came);
        centres.resize(ahead_of, NAN);
        out.insert(out.end(), centres.begin(), centres.end());
      }
  }
}

}  // namespace

int main(int, char** arguments) {
  std::vector<double> out;
  for (const Run& run : read_runs(arguments[1], {}).runs) {
    const Blocks& blocks = run.log.blocks();
    const TrainingInputs in({blocks, blocks.loss.size()}, {});
    out.push_back(double(in.block.size()));
    for (std::size_t i = 0; i < in.block.size(); ++i) {
      out.insert(out.end(), in.block[i].begin(), in.block[i].end());
      out.insert(out.end(), in.planned[i].begin(), in.planned[i].end());
      const auto& t = in.trace[i];
      out.insert(out.end(), {t.level, t.fast_mean, t.slow_mean, t.anchor, t.trend, std::log(blocks.loss[i])});
    }
    add_origins(blocks, out);
  }
  std::FILE* const file = std::fopen(arguments[2], "wb");
  const bool written = file && std::fwrite(out.data(), sizeof(double), out.size(), file) == out.size();
  return file && !std::fclose(file) && written ? 0 : 1;
}
