#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/image/pixel_tda/pixel_tda.hpp"

namespace kolmo::check {
namespace {
using A = PixelTdaArgs;

/// The pixels at birth and death of a component or hole; death is -1 if it never dies.
struct Pair {
  std::int64_t birth, death;
};

/// The whole cubical complex of an image on a grid of points, lines and squares. The dimension of a cell is
/// the parity of its row plus that of its column.
class Complex {
 public:
  Complex(const Tensor& x, std::int64_t image, bool squares)
      : h_(x.dim(-2)),
        w_(x.dim(-1)),
        rows_(squares ? 2 * h_ + 1 : 2 * h_ - 1),
        columns_(squares ? 2 * w_ + 1 : 2 * w_ - 1) {
    std::vector<std::int64_t> order(std::size_t(h_ * w_));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](auto i) { return get(x, image * h_ * w_ + i); });
    std::vector<std::int64_t> rank(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) rank[std::size_t(order[i])] = std::int64_t(i);
    // A cell enters with the first of its squares (squares) or with the last of its points (vertices).
    owner_.resize(std::size_t(rows_ * columns_));
    for (std::int64_t r = 0; r < rows_; ++r)
      for (std::int64_t c = 0; c < columns_; ++c) {
        std::int64_t own = -1;
        for (std::int64_t y = r - 1; y <= r + 1; ++y)
          for (std::int64_t z = c - 1; z <= c + 1; ++z) {
            if (y % 2 != squares || z % 2 != squares || y < 0 || z < 0 || y >= rows_ || z >= columns_)
              continue;
            if ((r % 2 == squares && y != r) || (c % 2 == squares && z != c)) continue;
            const auto p = y / 2 * w_ + z / 2;
            const bool earlier = own >= 0 && rank[std::size_t(p)] < rank[std::size_t(own)];
            if (own < 0 || earlier == squares) own = p;
          }
        owner_[std::size_t(r * columns_ + c)] = own;
      }
    cells_.resize(owner_.size());
    std::iota(cells_.begin(), cells_.end(), 0);
    std::ranges::stable_sort(cells_, {}, [&](auto c) {
      return std::pair(rank[std::size_t(owner_[std::size_t(c)])], dimension(c));
    });
  }
  /// Finds the pairs of dimension 0 and 1, by reduction of the boundary matrix modulo 2.
  std::array<std::vector<Pair>, 2> pairs() const {
    std::vector<std::int64_t> place(cells_.size());
    for (std::size_t i = 0; i < cells_.size(); ++i) place[std::size_t(cells_[i])] = std::int64_t(i);
    std::map<std::int64_t, std::vector<std::int64_t>> reduced;  // columns, by their last entry
    std::vector<char> dead(cells_.size(), 0);
    std::array<std::vector<Pair>, 2> found;
    for (const auto cell : cells_) {
      std::vector<std::int64_t> column;
      const std::int64_t r = cell / columns_, c = cell % columns_;
      if (r % 2) column = {place[std::size_t(cell - columns_)], place[std::size_t(cell + columns_)]};
      if (c % 2)
        column.push_back(place[std::size_t(cell - 1)]), column.push_back(place[std::size_t(cell + 1)]);
      std::ranges::sort(column);
      while (!column.empty() && reduced.contains(column.back())) {
        std::vector<std::int64_t> sum;
        std::ranges::set_symmetric_difference(column, reduced[column.back()], std::back_inserter(sum));
        column = std::move(sum);
      }
      if (column.empty()) continue;
      const auto low = cells_[std::size_t(column.back())];
      dead[std::size_t(low)] = dead[std::size_t(cell)] = 1;
      found[std::size_t(dimension(low))].push_back({owner_[std::size_t(low)], owner_[std::size_t(cell)]});
      reduced[column.back()] = std::move(column);
    }
    for (const auto cell : cells_)
      if (!dead[std::size_t(cell)] && dimension(cell) == 0)
        found[0].push_back({owner_[std::size_t(cell)], -1});
    return found;
  }

 private:
  std::int64_t dimension(std::int64_t cell) const { return cell / columns_ % 2 + cell % columns_ % 2; }
  std::int64_t h_, w_, rows_, columns_;
  std::vector<std::int64_t> owner_, cells_;
};

void expected(const A& a) {
  const std::int64_t area = a.x.dim(-2) * a.x.dim(-1), images = area ? a.x.size() / area : 0;
  for (std::int64_t i = 0; a.lifetimes.given() && i < a.lifetimes.size(); ++i) put(a.lifetimes, i, 0);
  for (const bool hole : {false, true}) {
    const Tensor &list = hole ? a.h1 : a.h0, &places = hole ? a.place1 : a.place0;
    std::int64_t count = 0;
    for (std::int64_t image = 0; image < images; ++image) {
      auto pairs = Complex(a.x, image, a.cells == CubicalCells::squares).pairs()[hole];
      std::ranges::sort(pairs, {}, [&](const Pair& p) { return hole ? p.death : p.birth; });
      for (auto [birth, death] : pairs) {
        birth += image * area;
        if (death >= 0) death += image * area;
        const long double from = get(a.x, birth), to = death < 0 ? HUGE_VALL : get(a.x, death);
        if (!(to - from > static_cast<long double>(a.min_persistence))) continue;
        if (a.lifetimes.given()) put(a.lifetimes, (hole ? death + area : birth) + image * area, to - from);
        if (count < a.capacity) {
          put(list, 2 * count, from), put(list, 2 * count + 1, to);
          if (places.given())
            places.as<std::int64_t>()[2 * count] = birth, places.as<std::int64_t>()[2 * count + 1] = death;
        }
        ++count;
      }
    }
    *(hole ? a.count1 : a.count0).as<std::int64_t>() = count;
  }
}

using Diagram = std::vector<std::array<double, 2>>;
struct Diagrams {
  Diagram h0, h1;
  std::int64_t count0 = -1, count1 = -1;
};
Diagrams diagrams(std::vector<double> x, std::int64_t h, Stream& s, A a = {}) {
  const std::int64_t w = h ? std::int64_t(x.size()) / h : 0;
  x.push_back(0);
  Diagrams d{Diagram(std::size_t(a.capacity)), Diagram(std::size_t(a.capacity))};
  a.x = tensor(x.data(), {h, w});
  a.h0 = tensor(d.h0.data()->data(), {a.capacity, 2}), a.h1 = tensor(d.h1.data()->data(), {a.capacity, 2});
  a.count0 = tensor(&d.count0, {}), a.count1 = tensor(&d.count1, {});
  call(pixel_tda, a, s);
  d.h0.resize(std::size_t(std::min(d.count0, a.capacity)));
  d.h1.resize(std::size_t(std::min(d.count1, a.capacity)));
  return d;
}
A with_vertices() {
  A a;
  a.cells = CubicalCells::vertices;
  return a;
}
std::vector<double> noise(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> x(n);
  for (double& v : x) v = double(random() % 4096) / 64;
  return x;
}

/// Whether every point of p that is farther than e from the diagonal has a partner of its own in q at a
/// distance of at most e.
bool matches(const Diagram& p, const Diagram& q, double e) {
  std::vector<std::ptrdiff_t> partner(q.size(), -1);
  std::vector<char> seen;
  const auto near = [&](double a, double b) { return a == b || std::fabs(a - b) <= e; };
  const auto place = [&](const auto& self, std::size_t i) -> bool {
    for (std::size_t j = 0; j < q.size(); ++j) {
      if (seen[j] || !near(p[i][0], q[j][0]) || !near(p[i][1], q[j][1])) continue;
      seen[j] = 1;
      if (partner[j] < 0 || self(self, std::size_t(partner[j]))) {
        partner[j] = std::ptrdiff_t(i);
        return true;
      }
    }
    return false;
  };
  for (std::size_t i = 0; i < p.size(); ++i) {
    seen.assign(q.size(), 0);
    if (p[i][1] - p[i][0] > 2 * e && !place(place, i)) return false;
  }
  return true;
}

std::int64_t alive(const Diagram& d, double t) {
  return std::ranges::count_if(d, [&](const auto& p) { return p[0] <= t && t < p[1]; });
}
/// Euler's number (points - lines + squares) of the sublevel set at t, whose pixels are vertices.
std::int64_t euler(const std::vector<double>& x, std::int64_t w, double t) {
  const std::int64_t n = std::int64_t(x.size());
  const auto in = [&](std::int64_t i) { return i < n && x[std::size_t(i)] <= t; };
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const bool right = i % w + 1 < w && in(i) && in(i + 1), below = in(i) && in(i + w);
    sum += in(i)-right - below + (right && below && in(i + w + 1));
  }
  return sum;
}

constexpr Fact facts[] = {
    {"a ring of 1 around 5 has a component from 1 on and a hole from 1 to 5",
     [](Stream& s) {
       const Diagrams d = diagrams({1, 1, 1, 1, 5, 1, 1, 1, 1}, 3, s);
       expect(d.h0 == Diagram{{1, HUGE_VAL}} && d.h1 == Diagram{{1, 5}}, "ring");
     }},
    {"a row 0 3 1 2 0.5 4: the younger of two dies, and there are no holes",
     [](Stream& s) {
       for (const A& a : {A{}, with_vertices()}) {
         const Diagrams d = diagrams({0, 3, 1, 2, 0.5, 4}, 1, s, a);
         expect(d.h0 == Diagram{{0, HUGE_VAL}, {1, 2}, {0.5, 3}} && d.count1 == 0, "row");
       }
     }},
    {"squares touch at corners, vertices do not; a hole is open at corners or is not",
     [](Stream& s) {
       expect(diagrams({0, 1, 1, 0}, 2, s).count0 == 1, "two squares");
       expect(diagrams({0, 1, 1, 0}, 2, s, with_vertices()).h0 == Diagram{{0, HUGE_VAL}, {0, 1}},
              "two vertices");
       const std::vector<double> cross = {9, 0, 9, 0, 7, 0, 9, 0, 9};
       expect(diagrams(cross, 3, s).h1 == Diagram{{0, 7}}, "hole in squares");
       expect(diagrams(cross, 3, s, with_vertices()).h1.empty(), "no hole between vertices");
     }},
    {"equal pixels have no pairs of length 0; min_persistence; all are counted, few are listed",
     [](Stream& s) {
       const Diagrams d = diagrams(std::vector<double>(40, 2.5), 5, s);
       expect(d.h0 == Diagram{{2.5, HUGE_VAL}} && d.count1 == 0, "constant");
       A a;
       a.capacity = 2;
       expect(diagrams({0, 9, 1, 9, 2, 9, 3}, 1, s, a).h0 == Diagram{{0, HUGE_VAL}, {1, 9}}, "listed");
       expect(diagrams({0, 9, 1, 9, 2, 9, 3}, 1, s, a).count0 == 4, "counted");
       a.min_persistence = 7;
       expect(diagrams({0, 9, 1, 9, 2, 9, 3}, 1, s, a).count0 == 2, "8 is above 7, and 7 is not");
     }},
    {"components less holes are the Euler characteristic of every sublevel set of 61 x 67 pixels",
     [](Stream& s) {
       const auto x = noise(61 * 67, 5);
       const Diagrams d = diagrams(x, 61, s, with_vertices());
       for (double t = -1; t < 66; t += 0.5)
         expect(alive(d.h0, t) - alive(d.h1, t) == euler(x, 67, t), "at t = " + std::to_string(t));
     }},
    {"stability: noise of at most 3 moves the diagrams by at most 3 in bottleneck distance",
     [](Stream& s) {
       for (unsigned seed = 0; seed < 3; ++seed) {
         auto x = noise(24 * 25, seed);
         const Diagrams before = diagrams(x, 24, s);
         const auto shift = noise(x.size(), seed + 100);
         for (std::size_t i = 0; i < x.size(); ++i) x[i] += shift[i] / 64 * 6 - 3;
         const Diagrams after = diagrams(x, 24, s);
         expect(matches(before.h0, after.h0, 3) && matches(after.h0, before.h0, 3), "H0");
         expect(matches(before.h1, after.h1, 3) && matches(after.h1, before.h1, 3), "H1");
       }
     }},
    {"infinities are values; NaN is refused; no pixels",
     [](Stream& s) {
       const Diagrams d = diagrams({-HUGE_VAL, HUGE_VAL, 0, HUGE_VAL, 1}, 1, s);
       expect(d.h0 == Diagram{{-HUGE_VAL, HUGE_VAL}, {0, HUGE_VAL}, {1, HUGE_VAL}}, "infinite pixels");
       expect_invalid([&] { diagrams({0, 1, std::nan(""), 3}, 2, s); }, "x is NaN at element 2");
       expect(diagrams({}, 0, s).count0 == 0, "empty");
     }},
};

}  // namespace

extern constinit const Oracle<A> pixel_tda_oracle{pixel_tda, expected, facts};

}  // namespace kolmo::check
