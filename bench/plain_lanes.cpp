// The baseline for surrogates on the CPU: transfer entropy (1, 1), KSG1, k = 4, with only two optimisations.
// All surrogates share one list of neighbours in (y, z) for each point, and eight of them are the lanes of a
// vector of doubles. Every count is by distance. Points whose list is too short are left unfinished, so the
// program gives a time but no estimate. Kolmo's targets were stated relative to the time of such a program.
//   bench_plain_lanes SERIES.npy SURROGATES     source and target in two columns; prints JSON
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kolmo/io/table.hpp"

namespace {

constexpr int lanes = 8, k = 4;
using Vec = double [[gnu::vector_size(8 * lanes)]];
using Count = std::int64_t [[gnu::vector_size(8 * lanes)]];

Vec magnitude(Vec v) { return (Vec)((Count)v & std::numeric_limits<std::int64_t>::max()); }
Vec smaller(Vec a, Vec b) { return a < b ? a : b; }
Vec larger(Vec a, Vec b) { return a < b ? b : a; }
double most(Vec v) {
  double m = v[0];
  for (int l = 1; l < lanes; ++l) m = std::max(m, v[l]);
  return m;
}

/// Points sorted by z.
struct Points {
  std::vector<double> x, y, z;
  std::size_t size() const { return x.size(); }
};

Points embed(const std::vector<double>& source, const std::vector<double>& target) {
  const std::size_t n = source.size() - 1;
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return target[a] < target[b]; });
  Points p;
  for (const std::size_t t : order)
    p.x.push_back(source[t]), p.z.push_back(target[t]), p.y.push_back(target[t + 1]);
  return p;
}

/// The `length` nearest points of each point in (y, z), one list after another.
struct Lists {
  std::size_t length;
  std::vector<double> distance;
  std::vector<std::uint32_t> point;
};

Lists neighbours(const Points& p, std::size_t length) {
  using Neighbour = std::pair<double, std::uint32_t>;
  Lists lists{length, {}, {}};
  std::vector<Neighbour> found;
  for (std::size_t i = 0; i < p.size(); ++i) {
    found.clear();
    for (std::size_t j = 0; j < p.size(); ++j)
      if (j != i)
        found.push_back({std::max(std::abs(p.y[j] - p.y[i]), std::abs(p.z[j] - p.z[i])), std::uint32_t(j)});
    const auto last = found.begin() + std::ptrdiff_t(length);
    std::nth_element(found.begin(), last - 1, found.end());
    std::sort(found.begin(), last);
    for (auto n = found.begin(); n != last; ++n)
      lists.distance.push_back(n->first), lists.point.push_back(n->second);
  }
  return lists;
}

/// Computes the digamma terms of one point, in each lane.
Vec terms_of(const Points& p, const std::vector<Vec>& x, const std::vector<double>& psi, const Lists& lists,
             std::size_t i) {
  const std::size_t length = lists.length;
  const double* distance = &lists.distance[i * length];
  const std::uint32_t* point = &lists.point[i * length];
  Vec best[k];
  for (Vec& b : best) b = Vec{} + std::numeric_limits<double>::max();
  for (std::size_t e = 0; e < length; ++e) {
    if (e % 8 == 0 && !(distance[e] < most(best[k - 1]))) break;
    Vec far = larger(magnitude(x[point[e]] - x[i]), Vec{} + distance[e]);
    for (int b = 0; b + 1 < k; ++b) {
      const Vec kept = smaller(best[b], far);
      far = larger(best[b], far), best[b] = kept;
    }
    best[k - 1] = smaller(best[k - 1], far);
  }
  const Vec radius = best[k - 1];
  const double reach = most(radius);
  Count n_yz{}, n_z{}, n_xz{};  // a comparison that holds gives -1
  for (std::size_t e = 0; e < length && distance[e] < reach; ++e) n_yz -= Vec{} + distance[e] < radius;
  const auto count = [&](std::size_t j, double far) {
    const Count in = Vec{} + far < radius;
    n_z -= in, n_xz -= in & (magnitude(x[j] - x[i]) < radius);
  };
  for (std::size_t j = i; j-- > 0 && p.z[i] - p.z[j] < reach;) count(j, p.z[i] - p.z[j]);
  for (std::size_t j = i + 1; j < p.size() && p.z[j] - p.z[i] < reach; ++j) count(j, p.z[j] - p.z[i]);
  Vec sum{};
  for (int l = 0; l < lanes; ++l)
    sum[l] = psi[std::size_t(n_z[l]) + 1] - psi[std::size_t(n_xz[l]) + 1] - psi[std::size_t(n_yz[l]) + 1];
  return sum;
}

int run(const std::string& file, int surrogates) {
  const kolmo::Table table = kolmo::read_table(file);
  if (table.columns.size() < 2 || table.rows() < 100 || table.rows() > 100'000)
    throw std::runtime_error(file + ": needs two columns and 100 to 100,000 rows");
  const Points p = embed(table.columns.at(0), table.columns.at(1));
  const std::size_t n = p.size();
  const auto length = std::min(n - 1, std::size_t(25.6 * std::cbrt(double(n))));
  const Lists lists = neighbours(p, length);
  std::vector<double> psi(n + 2, -std::numbers::egamma);
  for (std::size_t i = 1; i <= n; ++i) psi[i + 1] = psi[i] + 1 / double(i);
  std::vector<Vec> x(n);
  std::vector<std::uint32_t> shuffled(n);
  std::iota(shuffled.begin(), shuffled.end(), 0);
  std::mt19937 random(1);
  double mean = 0;
  const int groups = (surrogates + lanes - 1) / lanes;
  const auto begin = std::chrono::steady_clock::now();
  for (int g = 0; g < groups; ++g) {
    for (int l = 0; l < lanes; ++l) {
      std::shuffle(shuffled.begin(), shuffled.end(), random);
      for (std::size_t i = 0; i < n; ++i) x[i][l] = p.x[shuffled[i]];
    }
    Vec sum{};
    for (std::size_t i = 0; i < n; ++i) sum += terms_of(p, x, psi, lists, i);
    for (int l = 0; l < lanes; ++l) mean += psi[k] + sum[l] / double(n);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::cout.precision(9);
  std::cout << "{\"seconds\": " << seconds * surrogates / (groups * lanes)
            << ", \"mean\": " << mean / (groups * lanes) << "}\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 3) return run(argv[1], std::stoi(argv[2]));
  std::cerr << "usage: bench_plain_lanes SERIES.npy SURROGATES\n";
  return 2;
} catch (const std::exception& error) {
  std::cerr << "bench_plain_lanes: " << error.what() << '\n';
  return 1;
}
