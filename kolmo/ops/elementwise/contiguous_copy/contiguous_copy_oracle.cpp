#include <array>
#include <numeric>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/elementwise/contiguous_copy/contiguous_copy.hpp"

namespace kolmo::check {
namespace {

/// Copies one element after the other, by its indices.
void expected(const ContiguousCopyArgs& a) {
  std::int64_t index[max_rank] = {};
  for (std::int64_t i = 0; i < a.y.size(); ++i) {
    std::int64_t at = 0;
    for (int d = 0; d < a.x.rank; ++d) at += index[d] * a.x.stride[std::size_t(d)];
    if (complexes.has(a.x.dtype))
      put_complex(a.y, i, get_complex(a.x, at));
    else
      put(a.y, i, get(a.x, at));
    for (int d = a.x.rank - 1; d >= 0 && ++index[d] == a.x.dim(d); --d) index[d] = 0;
  }
}

constexpr Fact facts[] = {
    {"a transposed view, every other element, one element for all, and backwards",
     [](Stream& s) {
       float x[] = {1, 2, 3, 4, 5, 6}, y[6] = {};
       Tensor t = tensor(x, {3, 2});
       t.stride[0] = 1, t.stride[1] = 3;
       call(contiguous_copy, {.x = t, .y = tensor(y, {3, 2})}, s);
       expect(y[0] == 1 && y[1] == 4 && y[2] == 2 && y[5] == 6, "wrong transposition");
       t = tensor(x, {3}), t.stride[0] = 2;
       call(contiguous_copy, {.x = t, .y = tensor(y, {3})}, s);
       expect(y[0] == 1 && y[1] == 3 && y[2] == 5, "wrong elements");
       t.stride[0] = 0;
       call(contiguous_copy, {.x = t, .y = tensor(y, {3})}, s);
       expect(y[0] == 1 && y[1] == 1 && y[2] == 1, "not one element");
       for (const std::int64_t n : {2, 3}) {
         t = tensor(x + n - 1, {n}), t.stride[0] = -1;
         call(contiguous_copy, {.x = t, .y = tensor(y, {n})}, s);
         expect(y[0] == float(n) && y[n - 1] == 1, "not backwards");
       }
     }},
    {"dimensions of three in every order, two of them longer than a tile or a block",
     [](Stream& s) {
       constexpr std::int64_t shape[] = {2, 150, 141};
       std::vector<float> x(2 * 150 * 141), y(x.size());
       std::iota(x.begin(), x.end(), 0.0f);
       for (const auto& order : {std::array{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
         const std::int64_t of_x[] = {150 * 141, 141, 1}, a = order[0], b = order[1], c = order[2];
         Tensor t = tensor(x.data(), {shape[a], shape[b], shape[c]});
         for (int d = 0; d < 3; ++d) t.stride[std::size_t(d)] = of_x[order[std::size_t(d)]];
         call(contiguous_copy, {.x = t, .y = tensor(y.data(), {shape[a], shape[b], shape[c]})}, s);
         const float* got = y.data();
         for (std::int64_t i = 0; i < shape[a]; ++i)
           for (std::int64_t j = 0; j < shape[b]; ++j)
             for (std::int64_t k = 0; k < shape[c]; ++k)
               expect(*got++ == float(i * of_x[a] + j * of_x[b] + k * of_x[c]),
                      "an element is in the wrong place");
       }
     }},
    {"a result beside a view is written, one that overlaps it is refused",
     [](Stream& s) {
       float x[] = {1, 2, 3, 4, 5, 6, 7, 8};
       Tensor t = tensor(x, {4});
       t.stride[0] = 2;
       expect_invalid([&] { call(contiguous_copy, {.x = t, .y = tensor(x + 4, {4})}, s); }, "y overlaps x");
       t = tensor(x + 4, {4}), t.stride[0] = -1;
       expect_invalid([&] { call(contiguous_copy, {.x = t, .y = tensor(x, {4})}, s); }, "y overlaps x");
       t = tensor(x, {4}), t.stride[0] = 0;
       call(contiguous_copy, {.x = t, .y = tensor(x + 1, {4})}, s);
       expect(x[1] == 1 && x[4] == 1 && x[5] == 6, "not four of the first");
     }},
};

}  // namespace

extern constinit const Oracle<ContiguousCopyArgs> contiguous_copy_oracle{contiguous_copy, expected, facts};

}  // namespace kolmo::check
