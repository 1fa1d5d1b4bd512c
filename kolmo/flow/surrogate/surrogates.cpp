#include "kolmo/flow/surrogate/surrogates.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "kolmo/base/philox.hpp"
#include "kolmo/flow/data/portable_math.hpp"

namespace kolmo {
namespace {

constexpr int most_rounds = 100;  // of IAAFT, which nearly always converges in fewer

std::vector<double> real(const std::vector<Fourier::Value>& x) {
  std::vector<double> values;
  values.reserve(x.size());
  for (const Fourier::Value& v : x) values.push_back(v.real());
  return values;
}

std::vector<std::size_t> order_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return values[a] < values[b] || (values[a] == values[b] && a < b);
  });
  return order;
}

}  // namespace

SpectralSurrogates::SpectralSurrogates(const Series& series, std::vector<std::int32_t> variables,
                                       SurrogateMethod method, std::uint64_t seed)
    : variables_(std::move(variables)), method_(method), seed_(seed) {
  empty_.standardize = series.standardize, empty_.noise = series.noise;
  empty_.values.resize(series.values.size());
  for (const std::int32_t v : variables_)
    empty_.values[std::size_t(v)].assign(std::size_t(series.rows()), std::nan(""));
  for (const auto& [t, end] : stretches(series, variables_)) {
    Set s{t, Fourier(end - t), {}};
    for (const std::int32_t v : variables_) {
      const double* from = series.values[std::size_t(v)].data();
      Part p{{from + t, from + end}, {from + t, from + end}, {}, {}};
      std::sort(p.sorted.begin(), p.sorted.end());
      p.spectrum = s.fourier.forward({p.values.begin(), p.values.end()});
      for (const Fourier::Value& x : p.spectrum) p.amplitudes.push_back(std::abs(x));
      s.parts.push_back(std::move(p));
    }
    sets_.push_back(std::move(s));
  }
}

Series SpectralSurrogates::make(std::int64_t stream, std::int64_t number) const {
  Series made = empty_;
  for (const Set& s : sets_)
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      // The random numbers of a set begin at the counter of its first row, so that sets share none.
      const auto counter = std::uint64_t(number) << 32 | s.first;
      const std::vector<double> values = method_ == SurrogateMethod::phase
                                             ? phase_randomized(s, s.parts[i], counter, stream)
                                             : iaaft(s, s.parts[i], counter, stream);
      std::copy(values.begin(), values.end(),
                made.values[std::size_t(variables_[i])].begin() + std::ptrdiff_t(s.first));
    }
  return made;
}

std::vector<double> SpectralSurrogates::phase_randomized(const Set& set, const Part& part,
                                                         std::uint64_t counter, std::int64_t stream) const {
  std::vector<Fourier::Value> x = part.spectrum;
  const std::size_t n = x.size();
  // The mean and, for even n, the fastest oscillation stay as they are.
  for (std::size_t k = 1; 2 * k < n; ++k) {
    const Philox::Words w = Philox(seed_)(counter + k, std::uint64_t(stream));
    const double turn = uniform53(w.w[0], w.w[1]);
    x[k] *= Fourier::Value(portable::sin_turns(turn + 0.25), portable::sin_turns(turn));
    x[n - k] = std::conj(x[k]);
  }
  return real(set.fourier.inverse(x));
}

std::vector<double> SpectralSurrogates::iaaft(const Set& set, const Part& part, std::uint64_t counter,
                                              std::int64_t stream) const {
  const std::size_t n = part.values.size();
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Philox::Words w = Philox(seed_)(counter + i, std::uint64_t(stream));
    values[i] = uniform53(w.w[0], w.w[1]);
  }
  std::vector<std::size_t> order = order_of(values), before;
  for (int round = 0;; ++round) {
    for (std::size_t rank = 0; rank < n; ++rank) values[order[rank]] = part.sorted[rank];
    if (order == before || round == most_rounds) return values;
    std::vector<Fourier::Value> x = set.fourier.forward({values.begin(), values.end()});
    for (std::size_t k = 0; k < n; ++k) {
      const double size = std::abs(x[k]);
      x[k] = size > 0 ? x[k] * (part.amplitudes[k] / size) : Fourier::Value(part.amplitudes[k]);
    }
    before = std::exchange(order, order_of(real(set.fourier.inverse(x))));
  }
}

}  // namespace kolmo
