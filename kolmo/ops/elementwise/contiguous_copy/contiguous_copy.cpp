#include "kolmo/ops/elementwise/contiguous_copy/contiguous_copy.hpp"

#include <utility>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/elementwise/contiguous_copy/copy_items.hpp"
#include "kolmo/skeleton/each_item_cpu.hpp"

namespace kolmo {
namespace {
using A = ContiguousCopyArgs;

/// x transposed, as a view of the same memory.
void transposed(A& a) {
  if (a.x.rank < 1) return;
  const std::int64_t n = a.x.dim(0), columns = n % 7 == 0 ? 7 : n % 5 == 0 ? 5 : 1;
  a.x.rank = 2;
  a.x.extent[0] = columns, a.x.extent[1] = n / columns;
  a.x.stride[0] = 1, a.x.stride[1] = columns;
}

constexpr Case<A> cases[] = {
    {.name = "as it is, f64", .sizes = {{"...", 100}}},
    {.name = "transposed f32", .sizes = {{"...", 7 * 301}}, .dtype = DType::f32, .setup = transposed},
    {.name = "transposed f16", .sizes = {{"...", 35}}, .dtype = DType::f16, .setup = transposed},
    {.name = "bf16", .sizes = {{"...", 33}}, .dtype = DType::bf16},
    {.name = "transposed c128", .sizes = {{"...", 5 * 31}}, .dtype = DType::c128, .setup = transposed},
    {.name = "c64", .sizes = {{"...", 31}}, .dtype = DType::c64},
    {.name = "transposed i64", .sizes = {{"...", 70}}, .dtype = DType::i64, .setup = transposed},
    {.name = "i32", .sizes = {{"...", 1025}}, .dtype = DType::i32},
    {.name = "i16", .sizes = {{"...", 17}}, .dtype = DType::i16},
    {.name = "transposed i8", .sizes = {{"...", 49}}, .dtype = DType::i8, .setup = transposed},
    {.name = "u64", .sizes = {{"...", 9}}, .dtype = DType::u64},
    {.name = "u32", .sizes = {{"...", 9}}, .dtype = DType::u32},
    {.name = "u16", .sizes = {{"...", 9}}, .dtype = DType::u16},
    {.name = "u8", .sizes = {{"...", 1000}}, .dtype = DType::u8},
    {.name = "bool", .sizes = {{"...", 10}}, .dtype = DType::boolean},
    {.name = "transposed 2^24 f32",
     .sizes = {{"...", 7 << 21}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .setup = transposed},
};

constinit const Definition<A> definition{{.name = "contiguous_copy",
                                          .summary = "y = x, in row-major order without gaps",
                                          .source = "elementary",
                                          .determinism = Determinism::everywhere},
                                         {.flops = [](const A&) { return 0.0; }, .cases = cases}};

}  // namespace

constinit const Op<A> contiguous_copy{definition};
extern constinit const Impl<A> contiguous_copy_cpu = cpu::each_item<CopyItems, 1 << 14>();

}  // namespace kolmo
