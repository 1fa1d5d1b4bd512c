#include "kolmo/ops/info/ksg_transfer_entropy/ksg_transfer_entropy.hpp"

#include <algorithm>
#include <string>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/info/ksg_transfer_entropy/transfer_entropy_rows.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {

using Args = KsgTransferEntropyArgs;

void check(const Args& a) {
  const TransferEntropyEmbedding e = embedding_of(a);
  if (rows_per_trial(a) < 1)
    fail<InvalidArgument>("n = " + std::to_string(a.target.extent[1]) +
                          " samples, but the embedding reaches " + std::to_string(e.reach()) + " steps back");
  require(e.z_columns() <= 16, "history and given series together make at most 16 columns");
  const std::int64_t rows = rows_per_trial(a) * a.target.extent[0];
  require_rows("ksg_transfer_entropy", rows, a.k, a.theiler);
  require_blocks("ksg_transfer_entropy", a, rows);
}

void sizes(const Args& a, Dims& dims) {
  dims.set("rows", rows_per_trial(a));
  dims.set("e", 1 + a.surrogates);
}

double flops(const Args& a) {
  const TransferEntropyEmbedding e = embedding_of(a);
  return ksg_flops(a, a.source.extent[0], rows_per_trial(a) * a.target.extent[0],
                   e.x_columns() + 1 + e.z_columns());
}

void cpu(const Args& a, Arena scratch, Stream& s, int) {
  run_transfer_entropy(a, scratch, s, [&](const auto& rows) {
    constexpr std::int64_t part = 4096;
    parallel_for(s.threads(), (rows.all_rows + part - 1) / part, [&](std::int64_t item, int) {
      for (std::int64_t r = item * part; r < std::min(rows.all_rows, (item + 1) * part); ++r) rows(r);
    });
  });
}

// The arithmetic and the tolerances are those of ksg_conditional_mutual_information.
constexpr double rounding = 1e-13;
constexpr Case<Args> cases[] = {
    {.name = "n=60",
     .sizes = {{"b", 1}, {"trials", 1}, {"n", 60}},
     .tolerance = rounding,
     .optional = "local"},
    {.name = "n=60 b=2 2,2 lag=3 surrogates=3",
     .sizes = {{"b", 2}, {"trials", 1}, {"n", 60}},
     .tolerance = rounding,
     .setup = [](Args& a) { a.history = a.source_history = 2, a.tau = 2, a.lag = 3, a.surrogates = 3; }},
    {.name = "trials=3 n=25 given=1 theiler=2",
     .sizes = {{"b", 1}, {"trials", 3}, {"n", 25}, {"g", 1}},
     .tolerance = rounding,
     .optional = "given local",
     .setup = [](Args& a) { a.theiler = 2, a.source_tau = 2, a.source_history = 2; }},
    {.name = "n=60 ksg2 f32",
     .sizes = {{"b", 1}, {"trials", 1}, {"n", 60}},
     .dtype = DType::f32,
     .tolerance = rounding,
     .setup = [](Args& a) { a.algorithm = KsgAlgorithm::ksg2; }},
    {.name = "n=60 surrogates=2 circular",
     .sizes = {{"b", 1}, {"trials", 1}, {"n", 60}},
     .tolerance = rounding,
     .setup = [](Args& a) { a.surrogates = 2, a.seed = 3, a.surrogate_type = SurrogateType::circular; }},
    {.name = "n=13 surrogates=3, five trials",
     .sizes = {{"b", 1}, {"trials", 5}, {"n", 13}},
     .tolerance = rounding,
     .setup =
         [](Args& a) { a.surrogates = 3, a.block_length = 12, a.surrogate_type = SurrogateType::trials; }},
    {.name = "n=60 surrogates=2 blocks of 7",
     .sizes = {{"b", 1}, {"trials", 1}, {"n", 60}},
     .tolerance = rounding,
     .setup = [](Args& a) { a.surrogates = 2, a.block_length = 7, a.surrogate_type = SurrogateType::block; }},
    {.name = "b=19 n=1000 surrogates=200",
     .sizes = {{"b", 19}, {"trials", 1}, {"n", 1000}},
     .benchmark_only = true,
     .setup = [](Args& a) { a.surrogates = 200; }},
    {.name = "n=100000", .sizes = {{"b", 1}, {"trials", 1}, {"n", 100000}}, .benchmark_only = true},
};

constexpr std::string_view faults[] = {"source is not finite", "target is not finite", "given is not finite"};

constinit const Definition<Args> definition{
    {.name = "ksg_transfer_entropy",
     .summary = "transfer entropy I(source past; target next | target past) by k nearest neighbours",
     .source = "Schreiber, PRL 85, 461 (2000); Wibral et al. (2014)",
     .determinism = Determinism::everywhere,
     .faults = faults},
    {.check = check, .sizes = sizes, .flops = flops, .cases = cases}};

}  // namespace

constinit const Op<Args> ksg_transfer_entropy{definition};
extern constinit const Impl<Args> ksg_transfer_entropy_cpu{{.launch = cpu, .lay = lay_transfer_entropy}};

}  // namespace kolmo
