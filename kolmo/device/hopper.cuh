#pragma once
// Instructions of compute capability 9.0 (sm_90a): copies by the copy engine, and products by warpgroups of
// 128 threads. Addresses are 32-bit addresses of shared memory (shared_address). The file is empty for other
// architectures. Source: PTX ISA 9.0, sections on mbarrier, cp.async.bulk.tensor and wgmma.
#include <cstdint>

#include "kolmo/base/half.hpp"
#include "kolmo/device/barrier.cuh"
#include "kolmo/runtime/cuda/tensor_copies.hpp"

namespace kolmo::cuda {
namespace {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// Arrives at the barrier that has this address in the shared memory of another block of the cluster.
__device__ inline void arrive_at(std::uint32_t barrier, int block) {
  asm volatile(
      "{\n.reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}" ::"r"(barrier),
      "r"(block)
      : "memory");
}

/// Loads a tensor map into the cache before its first use.
__device__ inline void prefetch(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// Starts copying a box of matrix `entry` whose first element is at (column, row). The bits of `blocks` name
/// the blocks of the cluster that receive the box, each at the address `to` of its shared memory; the barrier
/// of each counts the bytes.
template <int Blocks>
__device__ void copy_box(std::uint32_t to, const TensorMap& map, std::uint32_t barrier, int column, int row,
                         int entry) {
  if constexpr (Blocks == 1)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, "
        "%5}], [%2];" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(column), "r"(row), "r"(entry)
        : "memory");
  else
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(column), "r"(row), "r"(entry), "h"(std::uint16_t((1 << Blocks) - 1))
        : "memory");
}

/// Starts copying the pixels that one element of a convolution's kernel meets, with 64 of their channels from
/// `channel` on. The element is at (down, right) in the kernel. The kernel's top left element passes over
/// consecutive places, in the order of rows and then images, beginning at (row, column) of `image`.
__device__ inline void copy_pixels(std::uint32_t to, const TensorMap& map, std::uint32_t barrier, int channel,
                                   int column, int row, int image, int right, int down) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3, "
      "%4, %5, %6}], [%2], {%7, %8};" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(channel), "r"(column), "r"(row), "r"(image), "h"(std::uint16_t(right)),
      "h"(std::uint16_t(down))
      : "memory");
}

/// Sets the number of registers that each thread of this warpgroup has from now on.
template <int Count>
__device__ void give_up_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
}
template <int Count>
__device__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
}

/// Two or three warpgroups of a block take turns, by the named barriers 1 to 3. Each waits before its turn
/// and ends it afterwards. Before the first turn the last warpgroup must call end() once.
template <int Groups>
struct Turns {
  int group;
  __device__ void wait() const {
    if (group == 0) asm volatile("bar.sync 1, 256;" ::: "memory");
    if (group == 1) asm volatile("bar.sync 2, 256;" ::: "memory");
    if (group == 2) asm volatile("bar.sync 3, 256;" ::: "memory");
  }
  __device__ void end() const {
    if (group == Groups - 1) asm volatile("bar.arrive 1, 256;" ::: "memory");
    if (group == 0) asm volatile("bar.arrive 2, 256;" ::: "memory");
    if (group == 1 && Groups > 2) asm volatile("bar.arrive 3, 256;" ::: "memory");
  }
  /// Ends a turn, except that of the last warpgroup in the last round, which nobody waits for.
  __device__ void end(bool last_round) const {
    if (!last_round || group < Groups - 1) end();
  }
};

/// The descriptor of a factor in shared memory, as copy_box left it. Along: the index that is summed over is
/// contiguous. If it is not, pieces of 64 elements of the other index are 64 x 128 bytes apart.
template <bool Along>
__device__ std::uint64_t factor(std::uint32_t address) {
  constexpr std::uint64_t swizzle_128 = 1ull << 62, eight_rows = 1024 >> 4, piece = Along ? 1 : 64 * 128 >> 4;
  return swizzle_128 | eight_rows << 32 | piece << 16 | (address & 0x3ffff) >> 4;
}
/// What is added to a descriptor to reach the next 16 summed indices.
template <bool Along>
inline constexpr std::uint64_t next_factor = (Along ? 32 : 16 * 128) >> 4;

__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Returns once at most the last `Pending` groups of products are unfinished.
template <int Pending>
__device__ void wait_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

// Lists of operands for inline assembly: %0 to %127 by tens, and the arrays' elements by eights.
// clang-format off
#define KOLMO_TEN(t) "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,%" #t "8,%" #t "9,"
#define KOLMO_32 KOLMO_TEN() KOLMO_TEN(1) KOLMO_TEN(2) "%30,%31"
#define KOLMO_64 KOLMO_TEN() KOLMO_TEN(1) KOLMO_TEN(2) KOLMO_TEN(3) KOLMO_TEN(4) KOLMO_TEN(5) "%60,%61,%62,%63"
#define KOLMO_128 \
  KOLMO_TEN() KOLMO_TEN(1) KOLMO_TEN(2) KOLMO_TEN(3) KOLMO_TEN(4) KOLMO_TEN(5) KOLMO_TEN(6) KOLMO_TEN(7) \
  KOLMO_TEN(8) KOLMO_TEN(9) KOLMO_TEN(10) KOLMO_TEN(11) "%120,%121,%122,%123,%124,%125,%126,%127"
#define KOLMO_SUMS_8(i) \
  "+f"(sum[i]), "+f"(sum[(i) + 1]), "+f"(sum[(i) + 2]), "+f"(sum[(i) + 3]), "+f"(sum[(i) + 4]), \
  "+f"(sum[(i) + 5]), "+f"(sum[(i) + 6]), "+f"(sum[(i) + 7])
#define KOLMO_SUMS_32(i) \
  KOLMO_SUMS_8(i), KOLMO_SUMS_8((i) + 8), KOLMO_SUMS_8((i) + 16), KOLMO_SUMS_8((i) + 24)
#define KOLMO_SUMS_64(i) KOLMO_SUMS_32(i), KOLMO_SUMS_32((i) + 32)
#define KOLMO_WGMMA(columns, type, registers, a, b, add, along_a, along_b) \
  "{\n.reg .pred add;\nsetp.ne.b32 add, " add ", 0;\n" \
  "wgmma.mma_async.sync.aligned.m64n" columns "k16.f32." type "." type " {" registers "}, " a ", " b \
  ", add, 1, 1, " along_a ", " along_b ";\n}"
// clang-format on

/// Starts sum = a b, or sum = a b + sum if `add`, with factors of 64 x 16 and 16 x Columns elements. Each
/// thread holds Columns / 2 of the 64 x Columns sums: sum[i] is that of row thread / 4 + 8 (i / 2 % 2) of its
/// warp's 16 rows, and column 8 (i / 4) + 2 (thread % 4) + i % 2.
template <class T, int Columns, bool AlongA, bool AlongB>
__device__ void multiply(float (&sum)[Columns / 2], std::uint64_t a, std::uint64_t b, bool add) {
  static_assert(Columns == 64 || Columns == 128 || Columns == 256);
  constexpr bool half = std::is_same_v<T, Half>;
  if constexpr (Columns == 64 && half)
    asm volatile(KOLMO_WGMMA("64", "f16", KOLMO_32, "%32", "%33", "%34", "%35", "%36")
                 : KOLMO_SUMS_32(0)
                 : "l"(a), "l"(b), "r"(int(add)), "n"(!AlongA), "n"(!AlongB));
  else if constexpr (Columns == 64)
    asm volatile(KOLMO_WGMMA("64", "bf16", KOLMO_32, "%32", "%33", "%34", "%35", "%36")
                 : KOLMO_SUMS_32(0)
                 : "l"(a), "l"(b), "r"(int(add)), "n"(!AlongA), "n"(!AlongB));
  else if constexpr (Columns == 128 && half)
    asm volatile(KOLMO_WGMMA("128", "f16", KOLMO_64, "%64", "%65", "%66", "%67", "%68")
                 : KOLMO_SUMS_64(0)
                 : "l"(a), "l"(b), "r"(int(add)), "n"(!AlongA), "n"(!AlongB));
  else if constexpr (Columns == 128)
    asm volatile(KOLMO_WGMMA("128", "bf16", KOLMO_64, "%64", "%65", "%66", "%67", "%68")
                 : KOLMO_SUMS_64(0)
                 : "l"(a), "l"(b), "r"(int(add)), "n"(!AlongA), "n"(!AlongB));
  else if constexpr (half)
    asm volatile(KOLMO_WGMMA("256", "f16", KOLMO_128, "%128", "%129", "%130", "%131", "%132")
                 : KOLMO_SUMS_64(0), KOLMO_SUMS_64(64)
                 : "l"(a), "l"(b), "r"(int(add)), "n"(!AlongA), "n"(!AlongB));
  else
    asm volatile(KOLMO_WGMMA("256", "bf16", KOLMO_128, "%128", "%129", "%130", "%131", "%132")
                 : KOLMO_SUMS_64(0), KOLMO_SUMS_64(64)
                 : "l"(a), "l"(b), "r"(int(add)), "n"(!AlongA), "n"(!AlongB));
}

/// Starts sum = a b + sum with the left factor in registers. Its 64 rows are divided among the four warps; a
/// thread holds rows thread / 4 and thread / 4 + 8 of its warp's 16: first the columns 2 (thread % 4) and the
/// next of each row, then the columns 8 further.
template <class T, int Columns, bool AlongB>
__device__ void multiply(float (&sum)[Columns / 2], const std::uint32_t (&a)[4], std::uint64_t b) {
  static_assert(Columns == 64 || Columns == 128);
  constexpr bool half = std::is_same_v<T, Half>;
#define KOLMO_WGMMA_HELD(columns, type, registers, a, b, along_b)                                      \
  "wgmma.mma_async.sync.aligned.m64n" columns "k16.f32." type "." type " {" registers "}, {" a "}, " b \
  ", 1, 1, 1, " along_b ";\n"
#define KOLMO_HELD "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(!AlongB)
  if constexpr (Columns == 64 && half)
    asm volatile(KOLMO_WGMMA_HELD("64", "f16", KOLMO_32, "%32, %33, %34, %35", "%36", "%37")
                 : KOLMO_SUMS_32(0)
                 : KOLMO_HELD);
  else if constexpr (Columns == 64)
    asm volatile(KOLMO_WGMMA_HELD("64", "bf16", KOLMO_32, "%32, %33, %34, %35", "%36", "%37")
                 : KOLMO_SUMS_32(0)
                 : KOLMO_HELD);
  else if constexpr (half)
    asm volatile(KOLMO_WGMMA_HELD("128", "f16", KOLMO_64, "%64, %65, %66, %67", "%68", "%69")
                 : KOLMO_SUMS_64(0)
                 : KOLMO_HELD);
  else
    asm volatile(KOLMO_WGMMA_HELD("128", "bf16", KOLMO_64, "%64, %65, %66, %67", "%68", "%69")
                 : KOLMO_SUMS_64(0)
                 : KOLMO_HELD);
#undef KOLMO_HELD
#undef KOLMO_WGMMA_HELD
}
/// Keeps the compiler from moving uses of these registers from one side of the call to the other.
template <int N>
__device__ void fence_registers(float (&v)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(v[i])::"memory");
}
template <int N>
__device__ void fence_registers(std::uint32_t (&v)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+r"(v[i])::"memory");
}
#undef KOLMO_TEN
#undef KOLMO_32
#undef KOLMO_64
#undef KOLMO_128
#undef KOLMO_SUMS_8
#undef KOLMO_SUMS_32
#undef KOLMO_SUMS_64
#undef KOLMO_WGMMA

#endif

}  // namespace
}  // namespace kolmo::cuda
