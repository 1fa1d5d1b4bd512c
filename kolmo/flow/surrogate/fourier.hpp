#pragma once
#include <complex>
#include <memory>
#include <vector>

namespace kolmo {

/// Discrete Fourier transforms of n numbers in O(n log n), for every n >= 1:
///   forward    X[k] = sum_t x[t] exp(-2 pi i k t / n)
///   inverse    x[t] = 1/n sum_k X[k] exp(2 pi i k t / n)
/// If n has a prime factor above 5, they are computed as convolutions (Bluestein, IEEE Trans. Audio
/// Electroacoust. 18, 451, 1970).
class Fourier {
 public:
  using Value = std::complex<double>;

  explicit Fourier(std::size_t n);
  Fourier(Fourier&&) noexcept;
  ~Fourier();
  std::vector<Value> forward(const std::vector<Value>& x) const;
  std::vector<Value> inverse(const std::vector<Value>& x) const;
  std::size_t size() const { return n_; }

 private:
  struct Plan;
  std::size_t n_;
  std::unique_ptr<Plan> plan_;
};

}  // namespace kolmo
