#include "kolmo/ops/info/mutual_information/mutual_information.hpp"

#include "kolmo/base/entropy.hpp"
#include "kolmo/op/define.hpp"
#include "kolmo/runtime/cpu/sum_items.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {
using A = MutualInformationArgs;

TableShape shape_of(const A& a) { return {a.joint.rank, a.joint.extent.data()}; }

void cpu(const A& a, Arena scratch, Stream& s, int) {
  const TableShape shape = shape_of(a);
  visit<double, float, std::int64_t, std::int32_t>(a.joint.dtype, [&]<class T> {
    const MutualInformationOfTable done{a.information.as<double>(), a.miller_madow, s.status()};
    sum_tables<true>(a.joint.as<T>(), shape, done, TableScratch(scratch, shape), SumItems{s.threads()});
  });
}

/// One bin of no count is no distribution.
void above_zero(A& a) {
  for (std::int64_t i = 0; i < a.joint.size(); ++i) ++a.joint.as<double>()[i];
}
/// Counts of which no logarithm is looked up, among small ones.
void some_large(A& a) {
  for (std::int64_t i = 0; i < a.joint.size(); i += 3) a.joint.as<std::int64_t>()[i] *= 1000;
}
void miller_madow(A& a) { a.miller_madow = true; }

// Two passes of 32 roundings (base/sums.hpp) of 2^-53, times at most 2 ln N < 18: below 2e-13.
constexpr Case<A> cases[] = {
    {.name = "1 x 1", .sizes = {{"...", 3}, {"bx", 1}, {"by", 1}}, .tolerance = 2e-13, .setup = above_zero},
    {.name = "5 x 3 i64",
     .sizes = {{"...", 70}, {"bx", 5}, {"by", 3}},
     .dtype = DType::i64,
     .tolerance = 2e-13},
    {.name = "16 x 16 i32 Miller-Madow",
     .sizes = {{"...", 9}, {"bx", 16}, {"by", 16}},
     .dtype = DType::i32,
     .tolerance = 2e-13,
     .setup = miller_madow},
    {.name = "70 x 8 i64",
     .sizes = {{"...", 3}, {"bx", 70}, {"by", 8}},
     .dtype = DType::i64,
     .tolerance = 2e-13},
    {.name = "4 x 16 i64, large counts",
     .sizes = {{"...", 150}, {"bx", 4}, {"by", 16}},
     .dtype = DType::i64,
     .tolerance = 2e-13,
     .setup = some_large},
    {.name = "32 x 32 f64", .sizes = {{"...", 3}, {"bx", 32}, {"by", 32}}, .tolerance = 2e-13},
    {.name = "17 x 40 f32",
     .sizes = {{"...", 5}, {"bx", 17}, {"by", 40}},
     .dtype = DType::f32,
     .tolerance = 2e-13},
    {.name = "3 x 2100 f64", .sizes = {{"...", 2}, {"bx", 3}, {"by", 2100}}, .tolerance = 2e-13},
    {.name = "2100 x 3 f64", .sizes = {{"...", 1}, {"bx", 2100}, {"by", 3}}, .tolerance = 2e-13},
    {.name = "9000 tables of 2 x 3 f32",
     .sizes = {{"...", 9000}, {"bx", 2}, {"by", 3}},
     .dtype = DType::f32,
     .tolerance = 2e-13},
    {.name = "10^5 tables of 16 x 16 i64",
     .sizes = {{"...", 100000}, {"bx", 16}, {"by", 16}},
     .dtype = DType::i64,
     .benchmark_only = true},
    {.name = "one table of 4096 x 4096 i64",
     .sizes = {{"...", 1}, {"bx", 4096}, {"by", 4096}},
     .dtype = DType::i64,
     .benchmark_only = true},
};

constinit const Definition<MutualInformationArgs> definition{
    {.name = "mutual_information",
     .summary = "I(X;Y) = sum_xy p_xy ln(p_xy / (p_x p_y)) from joint counts, in nats",
     .source = "Cover & Thomas, section 2.3; Miller 1955",
     .determinism = Determinism::everywhere,
     .faults = weight_faults},
    // A logarithm (24 operations), a product and three sums for each bin; a sum over columns.
    {.check =
         [](const A& a) {
           require(a.joint.dim(-1) > 0 && a.joint.dim(-2) > 0, "mutual_information: joint has no bins");
         },
     .flops = [](const A& a) { return 29.0 * double(a.joint.size()); },
     .cases = cases}};

}  // namespace

constinit const Op<MutualInformationArgs> mutual_information{definition};
extern constinit const Impl<A> mutual_information_cpu{
    {.launch = cpu, .lay = [](Arena& arena, const A& a, const Site&) { TableScratch(arena, shape_of(a)); }}};

}  // namespace kolmo
