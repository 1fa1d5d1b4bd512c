// Persistent homology of a noisy image of three rings: three components and three holes outlive the noise.
#include <cmath>
#include <random>

#include "examples/plot.hpp"
#include "kolmo/ops/image/pixel_tda/pixel_tda.hpp"

int main(int argc, char** argv) {
  using example::Numbers;
  constexpr std::int64_t size = 128, capacity = 8192;
  constexpr double rings[][3] = {{36, 38, 20}, {92, 44, 21}, {56, 98, 16}};  // column, row, radius
  std::mt19937 random(1);
  std::uniform_real_distribution<double> noise(0, 0.25);
  Numbers image(size * size);
  for (std::int64_t i = 0; i < size * size; ++i) {
    double nearest = 24;
    for (const auto& [column, row, radius] : rings)
      nearest =
          std::min(nearest, std::abs(std::hypot(double(i % size) - column, double(i / size) - row) - radius));
    image[std::size_t(i)] = nearest / 10 + noise(random);  // low on a ring
  }
  Numbers components(2 * capacity), holes(2 * capacity);
  std::int64_t count[2] = {};
  kolmo::Stream stream;
  kolmo::pixel_tda({.x = kolmo::tensor(image.data(), {size, size}),
                    .h0 = kolmo::tensor(components.data(), {capacity, 2}),
                    .h1 = kolmo::tensor(holes.data(), {capacity, 2}),
                    .count0 = kolmo::tensor(&count[0], {}),
                    .count1 = kolmo::tensor(&count[1], {}),
                    .capacity = capacity,
                    .min_persistence = 0.05},
                   stream);

  constexpr double top = 3, lasting = 0.5;
  example::Plot plot("Persistence of an image of three noisy rings", "birth", "death", {0, top}, {0, top});
  plot.line({0, top}, {0, top}, "", "#999", true);
  int last[2] = {};
  for (int d = 0; d < 2; ++d) {
    const Numbers& pairs = d ? holes : components;
    Numbers birth, death;
    for (std::int64_t i = 0; i < count[d]; ++i) {
      birth.push_back(pairs[std::size_t(2 * i)]),
          death.push_back(std::min(pairs[std::size_t(2 * i + 1)], top));
      last[d] += death.back() - birth.back() > lasting;
    }
    plot.points(birth, death, d ? "holes" : "components (at the top: never dies)", d ? "#c0392b" : "#2471a3",
                3);
  }
  plot.save(argc > 1 ? argv[1] : nullptr);
  std::printf("%d of %d components and %d of %d holes last longer than %g\n", last[0], int(count[0]), last[1],
              int(count[1]), lasting);
  return last[0] == 3 && last[1] == 3 ? 0 : 1;
}
