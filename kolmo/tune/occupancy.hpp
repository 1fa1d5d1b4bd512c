#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kolmo/base/error.hpp"

namespace kolmo::tune {

/// The limits of one multiprocessor of a compute capability, and the multiprocessor count of one GPU that has
/// it. All have 65536 registers. Source: CUDA C++ Programming Guide, compute capabilities; cuda_occupancy.h
/// of CUDA 13.0.
struct Multiprocessor {
  std::string_view capability;   ///< "9.0"
  int warps, blocks;             ///< resident at a time
  int barriers;                  ///< named barriers shared by its blocks; 0: no limit
  std::size_t shared;            ///< bytes of shared memory
  std::size_t shared_per_block;  ///< limit per block, bytes
  std::string_view gpu;
  int count;  ///< multiprocessors of that GPU
};

std::span<const Multiprocessor> multiprocessors();
/// Throws InvalidArgument, naming the known ones, for any other capability.
const Multiprocessor& multiprocessor(std::string_view capability);

/// The resources that a launch needs on a multiprocessor.
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

/// The reductions that together allow one more resident block: registers per thread, bytes and barriers per
/// block. Not `possible` if the limit is warps or blocks.
struct Savings {
  bool possible = false;
  int registers = 0;
  std::size_t shared = 0;
  int barriers = 0;
};

/// How many blocks and warps of a launch are resident on one multiprocessor. With 0 blocks it cannot start.
struct Occupancy {
  int blocks = 0;
  int warps = 0;
  double ratio = 0;              ///< resident warps over the maximum
  std::array<int, 5> blocks_by;  ///< limit by each Limit alone; INT_MAX: no limit
  Savings one_more_block;

  bool limited_by(Limit l) const { return blocks_by[std::size_t(l)] == blocks; }
  std::vector<std::string_view> limits() const;
};

/// Computes the theoretical occupancy. Registers are allocated to whole warps in units of 256 within a
/// quarter of the multiprocessor, shared memory in units of 128 bytes plus 1 KiB per block reserved by the
/// driver. The result equals that of cuda_occupancy.h, except for its limiting factors when barriers are the
/// limit, which are wrong there. Clusters are not modelled. Throws InvalidArgument for a launch that no
/// device supports.
Occupancy occupancy(const Multiprocessor& on, const Resources& launch);

/// The bytes of shared memory per block with which `blocks` blocks are resident; 0 if no amount allows it.
/// cuda_occupancy.h omits the driver's 1 KiB per block here, so its answer allows one block less.
std::size_t shared_for(const Multiprocessor& on, int blocks);

/// The block size with the highest occupancy, and of equals the largest, as the occupancy API chooses.
int suggested_threads(const Multiprocessor& on, Resources launch, int most = 1024);

/// How a grid fills a GPU: number of `waves` of resident blocks, of which the last is only partly full.
/// `efficiency` is the share of block slots that are used.
struct Waves {
  double waves = 0, efficiency = 0;
};
Waves waves(std::uint64_t grid, const Occupancy& occupancy, int multiprocessors);

}  // namespace kolmo::tune
