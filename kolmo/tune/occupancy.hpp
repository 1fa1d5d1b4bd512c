#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kolmo/base/error.hpp"

namespace kolmo::tune {

/// What one multiprocessor of a compute capability can hold at a time, and a GPU that has such
/// multiprocessors. Every one has 65536 registers. Source: CUDA C++ Programming Guide, compute capabilities;
/// cuda_occupancy.h of CUDA 13.0.
struct Multiprocessor {
  std::string_view capability;   ///< "9.0"
  int warps, blocks;             ///< resident at a time
  int barriers;                  ///< named barriers shared by its blocks; 0: no limit
  std::size_t shared;            ///< bytes of shared memory
  std::size_t shared_per_block;  ///< bytes a block may ask for
  std::string_view gpu;
  int count;  ///< multiprocessors of that GPU
};

std::span<const Multiprocessor> multiprocessors();
/// Throws InvalidArgument, naming the known ones, for any other capability.
const Multiprocessor& multiprocessor(std::string_view capability);

/// What a launch asks of a multiprocessor.
struct Resources {
  int threads = 0;         ///< per block
  int registers = 0;       ///< per thread
  std::size_t shared = 0;  ///< bytes per block, static and dynamic
  int barriers = 0;        ///< per block
  int carveout = -1;       ///< percent of shared memory preferred over L1; -1: all of it
};

enum class Limit : std::uint8_t { warps, blocks, registers, shared, barriers };
inline constexpr std::array<std::string_view, 5> limit_names{"warps", "blocks", "registers", "shared memory",
                                                             "barriers"};

/// How much less of everything together would let one more block be resident: registers per thread, and
/// bytes and barriers per block. Not `possible` when the limit is warps or blocks.
struct Savings {
  bool possible = false;
  int registers = 0;
  std::size_t shared = 0;
  int barriers = 0;
};

/// How many blocks and warps of a launch one multiprocessor holds at a time. 0 blocks: it cannot start.
struct Occupancy {
  int blocks = 0;
  int warps = 0;
  double ratio = 0;              ///< of the warps it could hold
  std::array<int, 5> blocks_by;  ///< what each Limit alone would allow; INT_MAX: no limit
  Savings one_more_block;

  bool limited_by(Limit l) const { return blocks_by[std::size_t(l)] == blocks; }
  std::vector<std::string_view> limits() const;
};

/// Theoretical occupancy. Registers are given to whole warps in units of 256 within a quarter of the
/// multiprocessor, shared memory in units of 128 bytes with 1 KiB per block kept by the driver. Equal to
/// cuda_occupancy.h, but for its limiting factors when barriers bind, which are stale there. Clusters are not
/// modelled. Throws InvalidArgument for a launch no device could be asked for.
Occupancy occupancy(const Multiprocessor& on, const Resources& launch);

/// The bytes of shared memory a block may take so that `blocks` are resident; 0 when none would do.
/// cuda_occupancy.h forgets the driver's 1 KiB per block here, so that its answer allows one block less.
std::size_t shared_for(const Multiprocessor& on, int blocks);

/// The block size with the highest occupancy, the larger of equals: what the occupancy API would choose.
int suggested_threads(const Multiprocessor& on, Resources launch, int most = 1024);

/// How a grid fills a GPU: `waves` of resident blocks, of which the last is only partly full; `efficiency` is
/// the share of block slots that do work.
struct Waves {
  double waves = 0, efficiency = 0;
};
Waves waves(std::uint64_t grid, const Occupancy& occupancy, int multiprocessors);

}  // namespace kolmo::tune
