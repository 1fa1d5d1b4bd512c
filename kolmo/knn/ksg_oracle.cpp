#include "kolmo/knn/ksg_oracle.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kolmo/check/oracle.hpp"
#include "kolmo/knn/ksg_options.hpp"

namespace kolmo::check {
namespace {

template <class T>
T distance(const std::vector<T>& a, const std::vector<T>& b) {
  T d = 0;
  for (std::size_t c = 0; c < a.size(); ++c) d = std::max(d, std::abs(a[c] - b[c]));
  return d;
}

/// Returns psi(m) for every m up to `most`; element 0 is not used.
std::vector<long double> digammas(std::size_t most) {
  std::vector<long double> psi{0, -std::numbers::egamma_v<long double>};
  while (psi.size() <= most) psi.push_back(psi.back() + 1.0L / static_cast<long double>(psi.size() - 1));
  return psi;
}

template <class T>
struct Neighbour {
  T distance, x, y, z;
  std::size_t row;
};

/// Computes the local values, whose mean is the estimate.
template <class T>
std::vector<long double> local_values(const Rows<T>& x, const Rows<T>& y, const Rows<T>& z,
                                      const KsgSettings& s) {
  const std::size_t n = x.size();
  const bool conditional = !z[0].empty(), first = s.algorithm == KsgAlgorithm::ksg1;
  const long double k = static_cast<long double>(s.k);
  const std::vector<long double> digamma = digammas(n + 1);
  const auto psi = [&](std::int64_t m) { return digamma.at(std::size_t(m)); };
  std::vector<long double> local;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<Neighbour<T>> others;
    others.reserve(n);
    for (std::size_t j = 0; j < n; ++j) {
      const auto time = [&](std::size_t r) { return s.time.empty() ? std::int64_t(r) : s.time[r]; };
      if (std::abs(time(i) - time(j)) <= s.theiler) continue;
      const T dx = distance(x[i], x[j]), dy = distance(y[i], y[j]), dz = distance(z[i], z[j]);
      others.push_back({std::max({dx, dy, dz}), dx, dy, dz, j});
    }
    std::partial_sort(others.begin(), others.begin() + s.k, others.end(), [](const auto& a, const auto& b) {
      return a.distance < b.distance || (a.distance == b.distance && a.row < b.row);
    });
    const T eps = others[std::size_t(s.k - 1)].distance;
    T rx = 0, ry = 0, rz = 0;
    for (std::size_t m = 0; m < std::size_t(s.k); ++m)
      rx = std::max(rx, others[m].x), ry = std::max(ry, others[m].y), rz = std::max(rz, others[m].z);
    const auto in_x = [&](const auto& o) { return first ? o.x < eps : o.x <= rx; };
    const auto in_y = [&](const auto& o) { return first ? o.y < eps : o.y <= ry; };
    const auto in_z = [&](const auto& o) { return !conditional || (first ? o.z < eps : o.z <= rz); };
    std::int64_t n_xz = 0, n_yz = 0, n_z = 0;
    for (const auto& o : others) n_xz += in_x(o) && in_z(o), n_yz += in_y(o) && in_z(o), n_z += in_z(o);

    long double value;
    if (first)
      value = psi(s.k) - psi(n_xz + 1) - psi(n_yz + 1) + psi(conditional ? n_z + 1 : std::int64_t(n));
    else if (conditional)
      value = psi(s.k) - 2 / k + psi(n_z) - psi(n_xz) + 1.0L / static_cast<long double>(n_xz) - psi(n_yz) +
              1.0L / static_cast<long double>(n_yz);
    else
      value = psi(s.k) - 1 / k + psi(std::int64_t(n)) - psi(n_xz) - psi(n_yz);
    local.push_back(value);
  }
  return local;
}

}  // namespace

template <class T>
Rows<T> rows_of(const Tensor& t, std::int64_t b, std::int64_t begin, std::int64_t end) {
  Rows<T> all(static_cast<std::size_t>(end - begin));
  if (!t.given()) return all;
  const std::int64_t d = t.dim(-1), n = t.dim(-2);
  for (std::int64_t i = begin; i < end; ++i)
    for (std::int64_t c = 0; c < d; ++c)
      all[std::size_t(i - begin)].push_back(T(get(t, (b * n + i) * d + c)));
  return all;
}

template <class T>
KsgEstimates ksg_estimates(const Rows<T>& x, const Rows<T>& y, const Rows<T>& z, const KsgSettings& s,
                           std::int64_t stream) {
  const auto n = std::int64_t(x.size());
  KsgEstimates estimates;
  for (std::int64_t number = 0; number <= s.surrogates; ++number) {
    const SurrogateMap map(surrogate_options(s), n, std::uint64_t(stream), std::uint64_t(number));
    Rows<T> shuffled;
    for (std::uint32_t r = 0; r < std::uint32_t(n); ++r) shuffled.push_back(x[map(r)]);
    const std::vector<long double> local = local_values(shuffled, y, z, s);
    long double sum = 0;
    for (const long double v : local) sum += v;
    estimates.values.push_back(sum / static_cast<long double>(n));
    if (number == 0) estimates.local = local;
  }
  return estimates;
}

template Rows<double> rows_of(const Tensor&, std::int64_t, std::int64_t, std::int64_t);
template Rows<float> rows_of(const Tensor&, std::int64_t, std::int64_t, std::int64_t);
template KsgEstimates ksg_estimates(const Rows<double>&, const Rows<double>&, const Rows<double>&,
                                    const KsgSettings&, std::int64_t);
template KsgEstimates ksg_estimates(const Rows<float>&, const Rows<float>&, const Rows<float>&,
                                    const KsgSettings&, std::int64_t);

}  // namespace kolmo::check
