#include "kolmo/ops/reduce/reduce_sum/reduce_sum.hpp"

#include "kolmo/op/define.hpp"
#include "kolmo/ops/reduce/reduce_sum/reduce_sum_terms.hpp"
#include "kolmo/skeleton/row_sum_cpu.hpp"

namespace kolmo {
namespace {
using A = ReduceSumArgs;

// Results may err by half an ulp of the dtype. f64 adds 25 roundings (base/sums.hpp) of 2^-53 times sum
// |x_i|, which is about 0.8 k.
constexpr Case<A> cases[] = {
    {.name = "k=1", .sizes = {{"...", 5}, {"k", 1}}},
    {.name = "k=7 f64", .sizes = {{"...", 100}, {"k", 7}}, .tolerance = 0x1p-46},
    {.name = "k=6 f64", .sizes = {{"...", 65}, {"k", 6}}, .tolerance = 0x1p-46},
    {.name = "k=16 f32", .sizes = {{"...", 300}, {"k", 16}}, .dtype = DType::f32, .tolerance = 0x1p-24},
    {.name = "k=24 f16", .sizes = {{"...", 7}, {"k", 24}}, .dtype = DType::f16, .tolerance = 0x1p-11},
    {.name = "k=32 bf16", .sizes = {{"...", 130}, {"k", 32}}, .dtype = DType::bf16, .tolerance = 0x1p-8},
    {.name = "k=33 f32", .sizes = {{"...", 65}, {"k", 33}}, .dtype = DType::f32, .tolerance = 0x1p-24},
    {.name = "k=100 f64", .sizes = {{"...", 3}, {"k", 100}}, .tolerance = 0x1p-42},
    {.name = "k=1024 f32", .sizes = {{"...", 9}, {"k", 1024}}, .dtype = DType::f32, .tolerance = 0x1p-24},
    {.name = "k=2100 f64", .sizes = {{"...", 5}, {"k", 2100}}, .tolerance = 0x1p-37},
    {.name = "k=9001 f32", .sizes = {{"...", 2}, {"k", 9001}}, .dtype = DType::f32, .tolerance = 0x1p-24},
    {.name = "k=6000 f16", .sizes = {{"...", 3}, {"k", 6000}}, .dtype = DType::f16, .tolerance = 0x1p-11},
    {.name = "k=8000 f32", .sizes = {{"...", 3}, {"k", 8000}}, .dtype = DType::f32, .tolerance = 0x1p-24},
    {.name = "k=16000 f16", .sizes = {{"...", 2}, {"k", 16000}}, .dtype = DType::f16, .tolerance = 0x1p-11},
    {.name = "k=515 bf16", .sizes = {{"...", 6}, {"k", 515}}, .dtype = DType::bf16, .tolerance = 0x1p-8},
    {.name = "one row of 2^24 f32",
     .sizes = {{"...", 1}, {"k", 1 << 24}},
     .dtype = DType::f32,
     .benchmark_only = true},
    {.name = "one row of 2^24 f64", .sizes = {{"...", 1}, {"k", 1 << 24}}, .benchmark_only = true},
    {.name = "4096 rows of 4096 f32",
     .sizes = {{"...", 4096}, {"k", 4096}},
     .dtype = DType::f32,
     .benchmark_only = true},
    {.name = "2^20 rows of 16 f32",
     .sizes = {{"...", 1 << 20}, {"k", 16}},
     .dtype = DType::f32,
     .benchmark_only = true},
    {.name = "4096 rows of 4096 f16",
     .sizes = {{"...", 4096}, {"k", 4096}},
     .dtype = DType::f16,
     .benchmark_only = true},
};

constinit const Definition<ReduceSumArgs> definition{
    {.name = "reduce_sum",
     .summary = "sum = sum_i x_i along the last axis",
     .source = "Higham 1993, pairwise summation",
     .determinism = Determinism::everywhere},
    {.flops = [](const A& a) { return double(a.x.size()); }, .cases = cases}};

}  // namespace

constinit const Op<ReduceSumArgs> reduce_sum{definition};
extern constinit const Impl<ReduceSumArgs> reduce_sum_cpu = cpu::row_sum<SumOfRow>();

}  // namespace kolmo
