#include "cli/tune_occupancy.hpp"

#include "kolmo/check/placement.hpp"
#include "kolmo/op/registry.hpp"
#include "kolmo/tune/kernel_resources.hpp"
#include "kolmo/tune/launches.hpp"
#include "kolmo/tune/occupancy.hpp"

namespace kolmo::cli {
namespace {

/// The occupancy of launches; empty if a kernel is not in the table.
std::optional<VariantOccupancy> of_launches(const std::vector<Launch>& launches,
                                            const std::string& capability) {
  VariantOccupancy v;
  std::uint64_t largest = 0;
  for (const Launch& l : launches) {
    const auto* k = tune::built_resources().find(tune::symbol_of(l.kernel), capability);
    if (!k) return {};
    const int threads = int(l.block[0] * l.block[1] * l.block[2]);
    const tune::Occupancy o = tune::occupancy(tune::multiprocessor(capability),
                                              {threads, k->registers, k->shared + l.shared, k->barriers});
    v.possible &= o.blocks > 0;
    const std::uint64_t size = std::uint64_t(threads) * l.grid[0] * l.grid[1] * l.grid[2];
    if (size > largest) largest = size, v.ratio = o.ratio, v.threads = threads;
  }
  return largest ? std::optional(v) : std::nullopt;
}

}  // namespace

std::map<int, VariantOccupancy> variant_occupancies(const check::Problem& problem, const Stream& stream) {
  std::map<int, VariantOccupancy> all;
  if (stream.device().kind != DeviceKind::cuda || tune::built_resources().kernels().empty()) return all;
  const std::string capability = device_info(stream.device()).capability;
  const OpEntry& entry = entry_of(problem.op());
  Stream log(stream.device(), 1);
  check::Placement placed(problem, log);
  for (const int v : entry.fitting(placed.args(), DeviceKind::cuda))
    if (const auto o = of_launches(tune::launches_of(entry, placed.args(), v, log), capability)) all[v] = *o;
  return all;
}

int highest_occupancy(const std::map<int, VariantOccupancy>& variants) {
  int best = -1;
  for (const auto& [row, o] : variants) {
    if (!o.possible) continue;
    const VariantOccupancy* b = best < 0 ? nullptr : &variants.at(best);
    if (!b || o.ratio > b->ratio || (o.ratio == b->ratio && o.threads > b->threads)) best = row;
  }
  return best;
}

}  // namespace kolmo::cli
