// Draws random tensors of a domain.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <vector>

#include "kolmo/base/philox.hpp"
#include "kolmo/check/problem.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"

namespace kolmo::check {
namespace {

/// Computes element i of a real tensor from u and v, which are uniform in [0, 1).
long double element(Domain domain, bool integer, double u, double v, std::int64_t below) {
  // No bfloat16 lies between these bounds and 0 or 1, so rounding stays inside (0, 1).
  const double inside = 1.0 / 256 + u * (254.0 / 256);
  const double normal = std::sqrt(-2 * std::log1p(-u)) * std::cos(2 * std::numbers::pi * v);
  switch (domain) {
    case Domain::index:
      return std::floor(u * double(below));
    case Domain::mask:
      return u < 0.5 ? 0 : 1;
    case Domain::positive:
      return integer ? 1 + std::floor(8 * u) : std::exp(normal);
    case Domain::count:
      return std::floor(8 * u);
    case Domain::real:
    case Domain::sorted:
    case Domain::symmetric_positive_definite:
      return integer ? std::floor(8 * u) : normal;
    default:
      return integer ? std::floor(8 * u) : inside;
  }
}

/// Sorts rows in ascending order.
void sort_rows(const Tensor& t) {
  const std::int64_t row = t.rank > 0 ? t.dim(-1) : 1;
  std::vector<long double> values(std::size_t(row), 0);
  for (std::int64_t begin = 0; begin < t.size(); begin += row) {
    for (std::int64_t i = 0; i < row; ++i) values[std::size_t(i)] = get(t, begin + i);
    std::ranges::sort(values);
    for (std::int64_t i = 0; i < row; ++i) put(t, begin + i, values[std::size_t(i)]);
  }
}

/// Scales rows to sum 1.
void normalize_rows(const Tensor& t) {
  const std::int64_t row = t.rank > 0 ? t.dim(-1) : 1;
  for (std::int64_t begin = 0; begin < t.size(); begin += row) {
    long double sum = 0;
    for (std::int64_t i = begin; i < begin + row; ++i) sum += get(t, i);
    for (std::int64_t i = begin; i < begin + row; ++i) put(t, i, get(t, i) / sum);
  }
}

/// Fills a tensor with 0, 1, 2, ... or with equal steps from 0 to `last`.
void count_up(const Tensor& t, Domain domain, std::int64_t last) {
  const std::int64_t n = t.size(), steps = std::max<std::int64_t>(n - 1, 1);
  for (std::int64_t i = 0; i < n; ++i)
    put(t, i, static_cast<long double>(domain == Domain::ascending ? i : i * last / steps));
}

using Matrix = std::vector<std::complex<long double>>;

/// Computes B B^H / n + 1 from a square matrix B. Its smallest eigenvalue is at least 1.
Matrix positive_definite(const Matrix& b, std::int64_t n) {
  Matrix a(b.size());
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      std::complex<long double> sum = 0;
      for (std::int64_t k = 0; k < n; ++k)
        sum += b[std::size_t(i * n + k)] * std::conj(b[std::size_t(j * n + k)]);
      sum /= static_cast<long double>(n);
      a[std::size_t(i * n + j)] = i == j ? sum.real() + 1 : sum;
      a[std::size_t(j * n + i)] = std::conj(a[std::size_t(i * n + j)]);
    }
  return a;
}

/// Replaces every matrix of the last two dimensions by one that is symmetric (Hermitian) and positive
/// definite.
void make_positive_definite(const Tensor& t) {
  if (t.rank < 2 || t.dim(-1) != t.dim(-2) || !inexact(t.dtype))
    fail<InvalidArgument>("a symmetric positive definite matrix is square, floating or complex; here is " +
                          shape_string(t));
  const std::int64_t n = t.dim(-1);
  Matrix b(std::size_t(n * n));
  for (std::int64_t begin = 0; begin < t.size(); begin += n * n) {
    const bool is_complex = complexes.has(t.dtype);
    for (std::int64_t i = 0; i < n * n; ++i)
      b[std::size_t(i)] = is_complex ? get_complex(t, begin + i) : get(t, begin + i);
    const Matrix a = positive_definite(b, n);
    for (std::int64_t i = 0; i < n * n; ++i) {
      if (is_complex)
        put_complex(t, begin + i, a[std::size_t(i)]);
      else
        put(t, begin + i, a[std::size_t(i)].real());
    }
  }
}

}  // namespace

void draw(const Tensor& t, Domain domain, std::uint64_t seed, std::uint64_t stream, std::int64_t below) {
  const bool integer = !inexact(t.dtype);
  if ((domain == Domain::index || domain == Domain::ascending || domain == Domain::offsets) && !integer)
    fail<InvalidArgument>("indices are integers; here is " + shape_string(t));
  if (domain == Domain::index && below < 1 && t.size())
    fail<InvalidArgument>("there is no index below " + std::to_string(below));
  if (complexes.has(t.dtype) && domain != Domain::real && domain != Domain::symmetric_positive_definite)
    fail<InvalidArgument>("complex numbers are of no such domain");
  const int bits = 8 * int(size_of(t.dtype)) - 1;  // bits of the largest value of a signed type
  if (integer && bits < 62) below = std::min(below, std::int64_t{1} << bits);
  if (domain == Domain::ascending || domain == Domain::offsets) return count_up(t, domain, below);
  const Philox philox(seed);
  const Tensor reals = parts(t);
  const std::int64_t n = reals.size(), drawn = std::min(n, draw_period);
  parallel_ranges(hardware_threads(), drawn, [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) {
      const Philox::Words words = philox(std::uint64_t(i), stream);
      put(reals, i,
          element(domain, integer, uniform53(words.w[0], words.w[1]), uniform53(words.w[2], words.w[3]),
                  below));
    }
  });
  auto* const data = static_cast<std::byte*>(reals.data);
  const std::size_t size = size_of(reals.dtype);
  for (std::int64_t i = drawn; i < n; i += drawn)
    std::memcpy(data + std::size_t(i) * size, data, std::size_t(std::min(drawn, n - i)) * size);
  if (domain == Domain::sorted) sort_rows(t);
  if (domain == Domain::probability && !integer) normalize_rows(t);
  if (domain == Domain::symmetric_positive_definite) make_positive_definite(t);
}

}  // namespace kolmo::check
