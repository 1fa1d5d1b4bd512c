#include "kolmo/ops/recurrent/recurrent_cells/recurrent_cells.hpp"

#include <array>
#include <string>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/recurrent/recurrent_cells/cells.hpp"
#include "kolmo/ops/recurrent/rows.hpp"

namespace kolmo {
namespace {

void check_rows(const char* op, const Tensor& weights, const Tensor& h, std::int64_t gates) {
  if (weights.dim(0) != gates * h.dim(-1))
    fail<InvalidArgument>(std::string(op) + ": weight_ih has " + std::to_string(weights.dim(0)) +
                          " rows, but " + std::to_string(h.dim(-1)) + " units need " +
                          std::to_string(gates * h.dim(-1)));
}
/// Operations: products and sums of the gates, and 30 for each of the functions of a unit.
template <class Args>
double flops(const Args& a, double functions) {
  const double k = double(a.x.dim(-1)), n = double(a.h.dim(-1)), rows = double(a.weight_ih.dim(0));
  return double(as_rows(a.h).dim(0)) * (2 * rows * (k + n) + 30 * functions * n);
}

// A gate's argument is a sum of K = k + n products of normal numbers, with partial sums near sqrt K. K
// roundings of these add up like a random walk (Higham & Mary 2019), to less than 4 K + 16 units. A state
// takes at most 16 times that: an argument below 40 and a state below 7 are multiplied by a logistic
// function, whose slope is at most 1/4. 16-bit results are rounded once more, and so is r h.
constexpr double bound(double terms) { return 16 * (4 * terms + 16); }
constexpr Tolerance f16 = {1e-3, 0x1p-10}, bf16 = {8e-3, 0x1p-7};
template <class Args, std::int64_t gates>
constexpr Case<Args> cell_cases[] = {
    {.name = "one unit",
     .sizes = {{"...", 3}, {"n", 1}, {"k", 1}, {"g", gates}},
     .tolerance = absolute(bound(2) * 0x1p-53)},
    {.name = "n=17 k=5",
     .sizes = {{"...", 2}, {"n", 17}, {"k", 5}, {"g", 17 * gates}},
     .tolerance = absolute(bound(22) * 0x1p-53),
     .optional = "bias_ih bias_hh"},
    {.name = "n=33 k=65 f32",
     .sizes = {{"...", 5}, {"n", 33}, {"k", 65}, {"g", 33 * gates}},
     .dtype = DType::f32,
     .tolerance = absolute(bound(98) * 0x1p-24),
     .optional = "bias_hh"},
    {.name = "70 states, n=36 k=68 f32",
     .sizes = {{"...", 70}, {"n", 36}, {"k", 68}, {"g", 36 * gates}},
     .dtype = DType::f32,
     .tolerance = absolute(bound(104) * 0x1p-24),
     .optional = "bias_ih bias_hh"},
    {.name = "n=68 k=4 f32",
     .sizes = {{"...", 2}, {"n", 68}, {"k", 4}, {"g", 68 * gates}},
     .dtype = DType::f32,
     .tolerance = absolute(bound(72) * 0x1p-24),
     .optional = "bias_ih"},
    {.name = "n=8 k=16 f16",
     .sizes = {{"...", 3}, {"n", 8}, {"k", 16}, {"g", 8 * gates}},
     .dtype = DType::f16,
     .tolerance = f16,
     .optional = "bias_ih"},
    {.name = "n=8 k=16 bf16",
     .sizes = {{"...", 3}, {"n", 8}, {"k", 16}, {"g", 8 * gates}},
     .dtype = DType::bf16,
     .tolerance = bf16,
     .optional = "bias_ih"},
    {.name = "one state of 1024, f32",
     .sizes = {{"...", 1}, {"n", 1024}, {"k", 1024}, {"g", 1024 * gates}},
     .dtype = DType::f32,
     .optional = "bias_ih bias_hh",
     .benchmark_only = true},
    {.name = "256 states of 1024, f32",
     .sizes = {{"...", 256}, {"n", 1024}, {"k", 1024}, {"g", 1024 * gates}},
     .dtype = DType::f32,
     .optional = "bias_ih bias_hh",
     .benchmark_only = true},
};
constexpr auto gru_cases = [] {
  constexpr auto& shared = cell_cases<GruCellArgs, 3>;
  std::array<Case<GruCellArgs>, std::size(shared) + 3> all{};
  for (std::size_t i = 0; i < std::size(shared); ++i) all[i] = shared[i];
  constexpr const char* names[] = {"reset before", "reset before, f32", "reset before, f16"};
  constexpr std::size_t like[] = {1, 2, 5};
  for (std::size_t i = 0; i < 3; ++i) {
    Case<GruCellArgs>& c = all[std::size(shared) + i];
    c = shared[like[i]], c.name = names[i];
    c.setup = [](GruCellArgs& a) { a.reset = GruReset::before; };
  }
  all.back().tolerance = {4e-3, 0x1p-10};
  return all;
}();

constinit const Definition<LstmCellArgs> lstm_definition{
    {.name = "lstm_cell",
     .summary = "c' = f c + i g, h' = o tanh(c') with gates of W_ih x + b_ih + W_hh h + b_hh",
     .source = "Hochreiter & Schmidhuber 1997; Gers et al. 2000",
     .matrix_products = true,
     .in_place = true},
    {.check = [](const LstmCellArgs& a) { check_rows("lstm_cell", a.weight_ih, a.h, 4); },
     .flops = [](const LstmCellArgs& a) { return flops(a, 5); },
     .cases = cell_cases<LstmCellArgs, 4>}};
constinit const Definition<GruCellArgs> gru_definition{
    {.name = "gru_cell",
     .summary = "h' = (1 - z) n + z h with gates of W_ih x + b_ih and W_hh h + b_hh; reset after or before",
     .source = "Cho et al. 2014",
     .matrix_products = true,
     .in_place = true},
    {.check = [](const GruCellArgs& a) { check_rows("gru_cell", a.weight_ih, a.h, 3); },
     .flops = [](const GruCellArgs& a) { return flops(a, 3); },
     .cases = gru_cases}};

}  // namespace

constinit const Op<LstmCellArgs> lstm_cell{lstm_definition};
constinit const Op<GruCellArgs> gru_cell{gru_definition};
extern constinit const Impl<LstmCellArgs> lstm_cell_cpu{
    {.launch =
         [](const LstmCellArgs& a, Arena arena, Stream& s, int) {
           visit<double, float, Half, BFloat16>(a.h.dtype,
                                                [&]<class T> { lstm_step<T>(a, arena, s, CellSteps{{s}}); });
         },
     .lay = [](Arena& arena, const LstmCellArgs& a,
               const Site& site) { LstmProducts(arena, a).lay(arena, site); }}};
extern constinit const Impl<GruCellArgs> gru_cell_cpu{
    {.launch =
         [](const GruCellArgs& a, Arena arena, Stream& s, int) {
           visit<double, float, Half, BFloat16>(a.h.dtype,
                                                [&]<class T> { gru_step<T>(a, arena, s, CellSteps{{s}}); });
         },
     .lay = [](Arena& arena, const GruCellArgs& a,
               const Site& site) { GruProducts(arena, a).lay(arena, site); }}};

}  // namespace kolmo
