#include "kolmo/ops/info/joint_counts/joint_counts.hpp"

#include "kolmo/op/define.hpp"
#include "kolmo/ops/info/joint_counts/joint_counts_terms.hpp"
#include "kolmo/runtime/cpu/sum_items.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {

template <class Of>
void cpu(const typename Of::A& a, Arena scratch, Stream& s, int) {
  Of::visit_type(a, [&]<class T> {
    const TableShape shape = table_shape(a);
    sum_tables<Of::with_columns>(a.joint.template as<T>(), shape, Of::done(a, s.status()),
                                 TableScratch(scratch, shape), SumItems{s.threads()});
  });
}
template <class Of>
constexpr Impl<typename Of::A> impl{{.launch = cpu<Of>, .lay = lay_tables<typename Of::A>}};

/// Makes all counts positive. A single bin with the count 0 would be no distribution.
template <class A>
void above_zero(A& a) {
  for (std::int64_t i = 0; i < a.joint.size(); ++i) ++a.joint.template as<double>()[i];
}
/// Mixes large counts, whose logarithms are computed, with small ones, whose logarithms are looked up.
template <class A>
void some_large(A& a) {
  for (std::int64_t i = 0; i < a.joint.size(); i += 3) a.joint.template as<std::int64_t>()[i] *= 1000;
}
template <class A>
void miller_madow(A& a) {
  a.miller_madow = true;
}

// Two passes err by 32 roundings each (base/sums.hpp) of 2^-53, times at most 2 ln N < 18: below 2e-13.
template <class A>
constexpr Case<A> cases[] = {
    {.name = "1 x 1",
     .sizes = {{"...", 3}, {"bx", 1}, {"by", 1}},
     .tolerance = 2e-13,
     .setup = above_zero<A>},
    {.name = "5 x 3 i64",
     .sizes = {{"...", 70}, {"bx", 5}, {"by", 3}},
     .dtype = DType::i64,
     .tolerance = 2e-13},
    {.name = "16 x 16 i32 Miller-Madow",
     .sizes = {{"...", 9}, {"bx", 16}, {"by", 16}},
     .dtype = DType::i32,
     .tolerance = 2e-13,
     .setup = miller_madow<A>},
    {.name = "70 x 8 i64",
     .sizes = {{"...", 3}, {"bx", 70}, {"by", 8}},
     .dtype = DType::i64,
     .tolerance = 2e-13},
    {.name = "4 x 16 i64, large counts",
     .sizes = {{"...", 150}, {"bx", 4}, {"by", 16}},
     .dtype = DType::i64,
     .tolerance = 2e-13,
     .setup = some_large<A>},
    {.name = "32 x 32 f64", .sizes = {{"...", 3}, {"bx", 32}, {"by", 32}}, .tolerance = 2e-13},
    {.name = "17 x 40 f32",
     .sizes = {{"...", 5}, {"bx", 17}, {"by", 40}},
     .dtype = DType::f32,
     .tolerance = 2e-13},
    {.name = "3 x 2100 f64", .sizes = {{"...", 2}, {"bx", 3}, {"by", 2100}}, .tolerance = 2e-13},
    {.name = "2100 x 3 f64", .sizes = {{"...", 1}, {"bx", 2100}, {"by", 3}}, .tolerance = 2e-13},
    {.name = "35 x 1030 i32",
     .sizes = {{"...", 33}, {"bx", 35}, {"by", 1030}},
     .dtype = DType::i32,
     .tolerance = 2e-13},
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

bool has_bins(const Tensor& joint) { return joint.dim(-1) > 0 && joint.dim(-2) > 0; }

// Each bin takes a logarithm (24 operations), a product and three sums.
constinit const Definition<ConditionalEntropyArgs> of_entropy{
    {.name = "conditional_entropy",
     .summary = "H(Y|X) = - sum_xy p_xy ln(p_xy / p_x) from joint counts, in nats",
     .source = "Cover & Thomas, section 2.2; Miller 1955",
     .determinism = Determinism::everywhere,
     .faults = weight_faults},
    {.check =
         [](const ConditionalEntropyArgs& a) {
           require(has_bins(a.joint), "conditional_entropy: joint has no bins");
         },
     .flops = [](const ConditionalEntropyArgs& a) { return 28.0 * double(a.joint.size()); },
     .cases = cases<ConditionalEntropyArgs>}};
// Each bin takes one sum more, that over columns.
constinit const Definition<MutualInformationArgs> of_information{
    {.name = "mutual_information",
     .summary = "I(X;Y) = sum_xy p_xy ln(p_xy / (p_x p_y)) from joint counts, in nats",
     .source = "Cover & Thomas, section 2.3; Miller 1955",
     .determinism = Determinism::everywhere,
     .faults = weight_faults},
    {.check =
         [](const MutualInformationArgs& a) {
           require(has_bins(a.joint), "mutual_information: joint has no bins");
         },
     .flops = [](const MutualInformationArgs& a) { return 29.0 * double(a.joint.size()); },
     .cases = cases<MutualInformationArgs>}};

}  // namespace

constinit const Op<ConditionalEntropyArgs> conditional_entropy{of_entropy};
extern constinit const Impl<ConditionalEntropyArgs> conditional_entropy_cpu = impl<ConditionalEntropy>;
constinit const Op<MutualInformationArgs> mutual_information{of_information};
extern constinit const Impl<MutualInformationArgs> mutual_information_cpu = impl<MutualInformation>;

}  // namespace kolmo
