#pragma once
#include <tuple>

#include "kolmo/check/oracle.hpp"

namespace kolmo::check {

// What the oracles of several operators share. Nothing here is shared with the operators themselves.

/// Word `index` of the sequence of 32-bit or 64-bit words of a seed: Philox4x32-10 as written in its paper
/// (Salmon et al. 2011). The high half of a 64-bit word comes first.
std::uint32_t philox32(std::uint64_t seed, std::uint64_t index);
std::uint64_t philox64(std::uint64_t seed, std::uint64_t index);

/// Reads the element of t that NumPy's broadcasting pairs with element i (row-major) of `out`.
long double get_broadcast(const Tensor& t, const Tensor& out, std::int64_t i);

/// The expected results of an elementwise operator: Out_i = F(In_i, ...), with inputs broadcast.
template <auto F, auto Out, auto... In, class Args>
void per_element(const Args& a) {
  const Tensor& out = a.*Out;
  for (std::int64_t i = 0; i < out.size(); ++i) put(out, i, F(get_broadcast(a.*In, out, i)...));
}

/// The expected results of sums over rows: Out_r = sum over i of F(In_ri, ...), by Kahan's compensated sum.
template <auto F, auto Out, auto... In, class Args>
void per_row(const Args& a) {
  const Tensor& out = a.*Out;
  const std::int64_t k = std::get<0>(std::tie(a.*In...)).dim(-1);
  for (std::int64_t row = 0; row < out.size(); ++row) {
    long double sum = 0, lost = 0;
    for (std::int64_t i = row * k; i < (row + 1) * k; ++i) {
      const long double term = F(get(a.*In, i)...) - lost, next = sum + term;
      lost = next - sum - term, sum = next;
    }
    put(out, row, sum);
  }
}

}  // namespace kolmo::check
