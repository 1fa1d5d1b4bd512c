#include "kolmo/flow/surrogate/fourier.hpp"

#include <algorithm>
#include <bit>
#include <kissfft/kissfft.hh>

#include "kolmo/flow/data/portable_math.hpp"

namespace kolmo {
namespace {

bool has_small_factors(std::size_t n) {
  for (const std::size_t p : {2, 3, 5})
    while (n % p == 0) n /= p;
  return n == 1;
}

/// exp(2 pi i t).
Fourier::Value unit(double t) { return {portable::sin_turns(t + 0.25), portable::sin_turns(t)}; }

}  // namespace

/// The plan holds transforms of a length with small factors. For other lengths it holds the chirp exp(pi i
/// t^2 / n) and the transform of the chirp continued over the padded length.
struct Fourier::Plan {
  std::size_t n;
  kissfft<double> there, back;
  std::vector<Fourier::Value> chirp, kernel;

  Plan(std::size_t wanted, std::size_t length) : n(length), there(n, false), back(n, true) {
    if (n == wanted) return;
    for (std::size_t t = 0; t < wanted; ++t)
      chirp.push_back(unit(double(t * t % (2 * wanted)) / double(2 * wanted)));
    kernel.assign(n, 0);
    for (std::size_t t = 0; t < wanted; ++t) kernel[t] = kernel[(n - t) % n] = chirp[t];
    kernel = run(there, kernel);
  }

  static std::vector<Fourier::Value> run(const kissfft<double>& transform,
                                         const std::vector<Fourier::Value>& x) {
    std::vector<Fourier::Value> y(x.size());
    transform.transform(x.data(), y.data());
    return y;
  }
};

Fourier::Fourier(std::size_t n)
    : n_(n), plan_(std::make_unique<Plan>(n, has_small_factors(n) ? n : std::bit_ceil(2 * n - 1))) {}
Fourier::Fourier(Fourier&&) noexcept = default;
Fourier::~Fourier() = default;

std::vector<Fourier::Value> Fourier::forward(const std::vector<Fourier::Value>& x) const {
  if (plan_->n == n_) return Plan::run(plan_->there, x);
  std::vector<Fourier::Value> padded(plan_->n);
  for (std::size_t t = 0; t < n_; ++t) padded[t] = x[t] * std::conj(plan_->chirp[t]);
  padded = Plan::run(plan_->there, padded);
  for (std::size_t k = 0; k < plan_->n; ++k) padded[k] *= plan_->kernel[k];
  padded = Plan::run(plan_->back, padded);
  padded.resize(n_);
  for (std::size_t k = 0; k < n_; ++k) padded[k] *= std::conj(plan_->chirp[k]) / double(plan_->n);
  return padded;
}

std::vector<Fourier::Value> Fourier::inverse(const std::vector<Fourier::Value>& x) const {
  std::vector<Fourier::Value> y(x);
  for (Fourier::Value& v : y) v = std::conj(v);
  y = forward(y);
  for (Fourier::Value& v : y) v = std::conj(v) / double(n_);
  return y;
}

}  // namespace kolmo
