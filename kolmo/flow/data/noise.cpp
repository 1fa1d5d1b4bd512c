#include "kolmo/flow/data/noise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "kolmo/base/log.hpp"
#include "kolmo/base/philox.hpp"
#include "kolmo/runtime/cpu/vectors.hpp"

namespace kolmo {
namespace {

/// A point of the square [-1, 1)^2.
struct Point {
  double u, v;

  double square() const { return u * u + v * v; }
};

// The high counter word of surrogates has bit 63 clear, so surrogates and noise never share random numbers.
Point point_of(const Philox& philox, std::uint64_t key, std::int64_t row, std::uint64_t attempt) {
  const auto r = philox(std::uint64_t(row) | attempt << 48, key | std::uint64_t(1) << 63);
  return {2 * uniform53(r.w[0], r.w[1]) - 1, 2 * uniform53(r.w[2], r.w[3]) - 1};
}

bool is_accepted(double square) { return (square < 1) & (square > 0); }

/// For an accepted square, which is a normal number, so that log_scaled is log_exact and vectors can take it.
double normal_of(double u, double square) { return u * std::sqrt(-2 * log_scaled(square, 0) / square); }

}  // namespace

double element_noise(std::uint64_t seed, std::uint64_t key, std::int64_t row) {
  for (std::uint64_t attempt = 0;; ++attempt) {
    const Point p = point_of(Philox(seed), key, row, attempt);
    if (is_accepted(p.square())) return normal_of(p.u, p.square());
  }
}

void fill_noise(std::uint64_t seed, std::uint64_t key, double deviation, std::span<double> noise) {
  constexpr std::size_t most = 1024;
  std::array<std::int64_t, most> rows;   // those without an accepted point yet
  std::array<std::int64_t, most> found;  // those with the points that were accepted last
  std::array<double, most> us, squares;
  const Philox philox(seed);
  for (std::size_t first = 0; first < noise.size(); first += most) {
    std::size_t left = std::min(most, noise.size() - first);
    for (std::size_t i = 0; i < left; ++i) rows[i] = std::int64_t(first + i);
    for (std::uint64_t attempt = 0; left; ++attempt) {
      const std::size_t count = std::exchange(left, 0);
      in_vectors(std::int64_t(count), [=, row = rows.data(), u = us.data(), square = squares.data()](auto i) {
        const Point p = point_of(philox, key, row[i], attempt);
        u[i] = p.u, square[i] = p.square();
      });
      std::size_t accepted = 0;
      for (std::size_t i = 0; i < count; ++i) {  // without branches, which would often be mispredicted
        const bool is_found = is_accepted(squares[i]);
        const std::int64_t row = rows[i];
        us[accepted] = us[i], squares[accepted] = squares[i], found[accepted] = row, rows[left] = row;
        accepted += is_found, left += !is_found;
      }
      in_vectors(std::int64_t(accepted), [=, u = us.data(), square = squares.data()](auto i) {
        u[i] = deviation * normal_of(u[i], square[i]);
      });
      for (std::size_t i = 0; i < accepted; ++i) noise[std::size_t(found[i])] = us[i];
    }
  }
}

}  // namespace kolmo
