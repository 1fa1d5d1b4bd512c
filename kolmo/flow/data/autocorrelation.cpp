#include "kolmo/flow/data/autocorrelation.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <kissfft/kissfft.hh>
#include <vector>

#include "kolmo/flow/data/lane_sums.hpp"

namespace kolmo {
namespace {

using Spectrum = std::vector<std::complex<double>>;

constexpr std::size_t few_lags = 8, most_products = 128, together = 4;
constexpr std::size_t lags_below = 5;

std::size_t correlation_length(Autocovariances& covariance, std::size_t n) {
  const double noise = 2 * std::sqrt(std::log10(double(n)) / double(n)) * covariance.at(0);
  std::size_t below = 0, lag = 0;
  while (below < lags_below && lag < n / 2) below = std::abs(covariance.at(++lag)) < noise ? below + 1 : 0;
  return lag - below;
}

double block_length(Autocovariances& covariance, std::size_t n, std::size_t length) {
  const double root = std::ceil(std::sqrt(double(n)));
  const double reach = std::min(2 * std::max(1.0, double(length)), root + double(lags_below));
  double spectrum = covariance.at(0), slope = 0;  // g(0) and G of the sources
  for (std::size_t lag = 1; double(lag) <= reach && lag < n; ++lag) {
    const double weight = std::min(1.0, 2 * (1 - double(lag) / reach)), r = covariance.at(lag);
    spectrum += 2 * weight * r, slope += 2 * weight * double(lag) * r;
  }
  if (std::abs(spectrum) <= 1e-12 * covariance.at(0)) return 1;  // 0, but for rounding
  const double cubed = 2 * slope * slope / (4 / 3. * spectrum * spectrum) * double(n);
  const double most = std::ceil(std::min(3 * std::sqrt(double(n)), double(n) / 3));
  return std::clamp(std::ceil(std::cbrt(cubed)), 1.0, most);
}

}  // namespace

std::size_t Column::pairs(std::size_t lag) const {
  std::size_t all = 0;
  for (const Stretch& s : sets) all += s.size() - std::min(s.size(), lag);
  return all;
}

std::vector<double> Column::gathered() const {
  std::vector<double> all;
  all.reserve(rows);
  for (const Stretch& s : sets) all.insert(all.end(), &values[s.begin], &values[s.begin] + s.size());
  return all;
}

Column column_of(const Series& series, std::size_t variable) {
  const auto v = std::int32_t(variable);
  Column c{series.values[variable], stretches(series, {&v, 1})};
  for (const Stretch& s : c.sets) c.rows += s.size();
  return c;
}

Autocovariances::Autocovariances(const Column& column) : rows_(column.rows) {
  const Scaling z = scaling_of(column.values);
  for (const Stretch& s : column.sets) longest_ = std::max(longest_, s.size());
  const std::size_t gap = std::min(longest_ + together, most_products);
  standard_.resize(column.rows + column.sets.size() * gap);
  std::size_t at = 0;
  for (const Stretch& s : column.sets) {
    at += gap;
    in_vectors(std::int64_t(s.size()), [z, to = &standard_[at], from = &column.values[s.begin]](auto i) {
      to[i] = (from[i] - z.mean) / z.deviation;
    });
    sets_.push_back({at, at + s.size()});
    at += s.size();
  }
}

void Autocovariances::extend() {
  const std::size_t known = found_.size();
  if (known >= longest_)
    found_.resize(2 * known + 1, 0);  // no rows of one set are that far apart
  else if (known < most_products)
    add_products(std::clamp(4 * known, few_lags, most_products));
  else
    add_transforms(std::min(16 * known, std::bit_ceil(longest_)));
}

void Autocovariances::add_products(std::size_t lags) {
  const std::size_t gap = sets_[0].begin, n = standard_.size() - gap;
  while (found_.size() < lags) {
    std::array<double, together> sums{};
    if (const std::size_t lag = found_.size(); lag + together <= gap)
      sums = lane_sums<together>(
          n, [lag, from = standard_.data() + gap]<class V>(std::size_t i, std::array<V, together>& terms) {
            V now;
            read(from + i, now);
#pragma GCC unroll 4
            for (std::size_t k = 0; k < together; ++k) {
              read(from + i - lag - k, terms[k]);
              terms[k] *= now;
            }
          });
    for (const double sum : sums) found_.push_back(sum / double(rows_));
  }
}

/// The values are cut into pieces of `lags`, each multiplied by itself and by the piece before it. As transforms of twice that
/// length, A with zeros behind it and the piece before, B, moved behind A, the sums of products at the lags 0 ... lags - 1 are the
/// inverse transform of A(k) conj(A(k) + (-1)^k B(k)).
void Autocovariances::add_transforms(std::size_t lags) {
  const kissfft<double> half(lags, false);  // transform_real() takes twice as many real numbers
  std::vector<double> piece(2 * lags);
  Spectrum a(lags), b(lags), sums(2 * lags), products(2 * lags);
  for (const Stretch& s : sets_) {
    if (s.size() <= found_.size()) continue;  // it has no pairs at the lags that are asked for
    std::fill(b.begin(), b.end(), 0);
    for (std::size_t first = s.begin; first < s.end; first += lags, a.swap(b)) {
      const auto count = std::ptrdiff_t(std::min(lags, s.end - first));
      const auto from = standard_.begin() + std::ptrdiff_t(first);
      std::fill(std::copy(from, from + count, piece.begin()), piece.begin() + std::ptrdiff_t(lags), 0);
      half.transform_real(piece.data(), a.data());
      // Of the real numbers in a[0], the first belongs to k = 0 and the second to k = lags.
      products[0] += a[0].real() * (a[0].real() + b[0].real());
      products[lags] += a[0].imag() * (a[0].imag() + b[0].imag());
      for (std::size_t k = 1; k < lags; ++k)
        products[k] += a[k] * std::conj(k % 2 ? a[k] - b[k] : a[k] + b[k]);
    }
  }
  for (std::size_t k = 1; k < lags; ++k) products[2 * lags - k] = std::conj(products[k]);
  kissfft<double>(2 * lags, true).transform(products.data(), sums.data());
  for (std::size_t lag = found_.size(); lag < lags; ++lag)
    found_.push_back(sums[lag].real() / double(2 * lags) / double(rows_));
}

Autocorrelation autocorrelation(const Column& column) {
  const std::size_t n = column.size();
  if (n < 4) return {};
  Autocovariances covariance(column);
  if (!(covariance.at(0) > 0)) return {};
  const std::size_t length = correlation_length(covariance, n);
  Autocorrelation a{std::int64_t(length), std::int64_t(block_length(covariance, n, length)), 1};
  for (std::size_t lag = 1; lag <= length; ++lag) {
    const double r = covariance.at(lag) / covariance.at(0);
    a.inflation += 2 * r * r;
  }
  return a;
}

}  // namespace kolmo
