#include "kolmo/check/ksg_oracle.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace kolmo::check {
namespace {

template <class T>
T distance(const std::vector<T>& a, const std::vector<T>& b) {
  T d = 0;
  for (std::size_t c = 0; c < a.size(); ++c) d = std::max(d, std::abs(a[c] - b[c]));
  return d;
}

long double psi(std::int64_t n) {
  long double sum = -std::numbers::egamma_v<long double>;
  for (std::int64_t i = 1; i < n; ++i) sum += 1.0L / static_cast<long double>(i);
  return sum;
}

template <class T>
struct Neighbour {
  T distance, x, y, z;
  std::size_t row;
};

}  // namespace

template <class T>
std::vector<long double> ksg_local_values(const Rows<T>& x, const Rows<T>& y, const Rows<T>& z,
                                          const KsgSettings& s) {
  const std::size_t n = x.size();
  const bool conditional = !z[0].empty(), first = s.algorithm == KsgAlgorithm::ksg1;
  const long double k = static_cast<long double>(s.k);
  std::vector<long double> local;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<Neighbour<T>> others;
    for (std::size_t j = 0; j < n; ++j) {
      const auto apart = std::int64_t(i > j ? i - j : j - i);
      if (apart <= s.theiler && (s.set.empty() || s.set[i] == s.set[j])) continue;
      const T dx = distance(x[i], x[j]), dy = distance(y[i], y[j]), dz = distance(z[i], z[j]);
      others.push_back({std::max({dx, dy, dz}), dx, dy, dz, j});
    }
    std::sort(others.begin(), others.end(), [](const auto& a, const auto& b) {
      return std::pair(a.distance, a.row) < std::pair(b.distance, b.row);
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

template std::vector<long double> ksg_local_values(const Rows<double>&, const Rows<double>&,
                                                   const Rows<double>&, const KsgSettings&);
template std::vector<long double> ksg_local_values(const Rows<float>&, const Rows<float>&, const Rows<float>&,
                                                   const KsgSettings&);

}  // namespace kolmo::check
