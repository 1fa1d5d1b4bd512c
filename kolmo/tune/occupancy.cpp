#include "kolmo/tune/occupancy.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <string>

namespace kolmo::tune {
namespace {

constexpr std::size_t KiB = 1024;
constexpr std::size_t reserved = 1 * KiB;  // the driver reserves so much for each block
constexpr std::size_t shared_unit = 128;
constexpr int register_unit = 256;  // registers are allocated to a warp in such units
constexpr int registers_total = 65536, quarters = 4, max_registers = 256, max_threads = 1024;

constexpr Multiprocessor table[] = {
    {"8.0", 64, 32, 0, 164 * KiB, 163 * KiB, "A100", 108},
    {"8.6", 48, 16, 0, 100 * KiB, 99 * KiB, "RTX A6000", 84},
    {"8.7", 48, 16, 0, 164 * KiB, 163 * KiB, "Jetson AGX Orin", 16},
    {"8.9", 48, 24, 0, 100 * KiB, 99 * KiB, "L40S", 142},
    {"9.0", 64, 32, 64, 228 * KiB, 227 * KiB, "H200", 132},
    {"10.0", 64, 32, 64, 228 * KiB, 227 * KiB, "B200", 148},
    {"10.3", 64, 32, 64, 228 * KiB, 227 * KiB, "B300", 148},
    {"11.0", 48, 24, 24, 228 * KiB, 227 * KiB, "Jetson Thor", 20},
    {"12.0", 48, 24, 24, 100 * KiB, 99 * KiB, "RTX 5090", 170},
    {"12.1", 48, 24, 24, 100 * KiB, 99 * KiB, "GB10", 48},
};

template <class T>
constexpr T round_up(T n, T unit) {
  return (n + unit - 1) / unit * unit;
}

/// The smallest configurable amount of shared memory (the rest is L1) of at least `bytes`.
std::size_t configurable(const Multiprocessor& on, std::size_t bytes) {
  for (const std::size_t size : {0, 8, 16, 32, 64, 100, 132, 164, 196, 228})
    if (size * KiB >= bytes && size * KiB <= on.shared) return size * KiB;
  return on.shared;
}

int by_warps(const Multiprocessor& on, const Resources& r) {
  return r.threads > max_threads ? 0 : on.warps / ((r.threads + 31) / 32);
}

int by_registers(const Resources& r) {
  if (r.registers == 0) return INT_MAX;
  const int warps = (r.threads + 31) / 32, per_warp = round_up(32 * r.registers, register_unit);
  // To decide whether a launch is refused, its warps are rounded up to the same number in every quarter.
  if (r.registers > max_registers || std::int64_t(per_warp) * round_up(warps, quarters) > registers_total)
    return 0;
  return registers_total / quarters / per_warp * quarters / warps;
}

int by_shared(const Multiprocessor& on, const Resources& r) {
  const std::size_t bytes = round_up(r.shared + reserved, shared_unit);
  if (bytes > on.shared_per_block + reserved) return 0;
  const std::size_t preferred = r.carveout < 0 ? on.shared : std::size_t(r.carveout) * on.shared / 100;
  std::size_t all = configurable(on, preferred);
  if (all < bytes) all = configurable(on, bytes);
  return int(all / bytes);
}

int by_barriers(const Multiprocessor& on, const Resources& r) {
  return on.barriers && r.barriers ? on.barriers / r.barriers : INT_MAX;
}

std::array<int, 5> limits_of(const Multiprocessor& on, const Resources& r) {
  return {by_warps(on, r), on.blocks, by_registers(r), by_shared(on, r), by_barriers(on, r)};
}

/// Finds how much less a launch may use for one more block to fit: each resource is reduced by its own unit
/// until it allows that.
Savings one_more(const Multiprocessor& on, const Resources& r, int blocks) {
  Resources less = r;
  if (by_warps(on, r) <= blocks || on.blocks <= blocks) return {};
  while (by_registers(less) <= blocks) less.registers = (less.registers - 1) / 8 * 8;
  while (by_shared(on, less) <= blocks) {
    if (less.shared == 0) return {};  // the driver's reservation alone exceeds the limit
    const std::size_t taken = round_up(less.shared + reserved, shared_unit) - shared_unit;
    less.shared = taken > reserved ? taken - reserved : 0;
  }
  while (by_barriers(on, less) <= blocks) --less.barriers;
  return {true, r.registers - less.registers, r.shared - less.shared, r.barriers - less.barriers};
}

}  // namespace

std::span<const Multiprocessor> multiprocessors() { return table; }

const Multiprocessor& multiprocessor(std::string_view capability) {
  std::string known;
  for (const Multiprocessor& m : table) {
    if (m.capability == capability) return m;
    known += (known.empty() ? "" : ", ") + std::string(m.capability);
  }
  fail<InvalidArgument>("occupancy: compute capability '" + std::string(capability) +
                        "' is not known; there are " + known);
}

std::vector<std::string_view> Occupancy::limits() const {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < limit_names.size(); ++i)
    if (limited_by(Limit(i))) names.push_back(limit_names[i]);
  return names;
}

Occupancy occupancy(const Multiprocessor& on, const Resources& launch) {
  const auto check = [](bool ok, const char* name, auto value) {
    if (!ok)
      fail<InvalidArgument>("occupancy: " + std::string(name) + " is " + std::to_string(value) +
                            ", which no launch can have");
  };
  check(launch.threads > 0, "threads", launch.threads);
  check(launch.registers >= 0, "registers", launch.registers);
  check(launch.barriers >= 0, "barriers", launch.barriers);
  check(launch.shared < std::size_t(1) << 40, "shared", launch.shared);
  check(launch.carveout >= -1 && launch.carveout <= 100, "carveout", launch.carveout);

  Occupancy o;
  o.blocks_by = limits_of(on, launch);
  o.blocks = *std::min_element(o.blocks_by.begin(), o.blocks_by.end());
  o.warps = o.blocks * ((launch.threads + 31) / 32);
  o.ratio = double(o.warps) / on.warps;
  o.one_more_block = one_more(on, launch, o.blocks);
  return o;
}

std::size_t shared_for(const Multiprocessor& on, int blocks) {
  if (blocks < 1) return 0;
  const std::size_t each = on.shared / std::size_t(blocks) / shared_unit * shared_unit;
  return each > reserved ? std::min(each - reserved, on.shared_per_block) : 0;
}

int suggested_threads(const Multiprocessor& on, Resources launch, int most) {
  int best = 0, most_resident = 0;
  for (int threads = round_up(std::min(most, max_threads), 32); threads > 0; threads -= 32) {
    launch.threads = std::min(threads, most);
    const auto by = limits_of(on, launch);
    const int resident = *std::min_element(by.begin(), by.end()) * launch.threads;
    if (resident > most_resident) most_resident = resident, best = launch.threads;
  }
  return best;
}

Waves waves(std::uint64_t grid, const Occupancy& occupancy, int multiprocessors) {
  if (!grid || !occupancy.blocks || multiprocessors < 1) return {};
  const double w = double(grid) / (double(occupancy.blocks) * multiprocessors);
  return {w, w / std::ceil(w)};
}

}  // namespace kolmo::tune
