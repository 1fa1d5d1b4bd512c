#include "kolmo/ops/image/image_segmentation/image_segmentation.hpp"

#include <cmath>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/image/image_segmentation/segments.hpp"
#include "kolmo/skeleton/item_steps_cpu.hpp"

namespace kolmo {
namespace {
using A = ImageSegmentationArgs;

void check(const A& a) {
  require(a.thresholds.size() < 1 << 16, "image_segmentation: there may be at most 65535 thresholds");
}

/// Draws pixels from 0 to 255 that depend on their neighbours, so that regions have many sizes.
template <class T>
void draw_patches(A& a, CaseRandom& random) {
  T* const x = a.x.as<T>();
  const std::int64_t w = a.x.dim(-1);
  for (std::int64_t i = 0; i < a.x.size(); ++i) {
    const std::int64_t from = random.below(4);
    x[i] = from == 0 && i > 0 ? x[i - 1] : from == 1 && i >= w ? x[i - w] : T(random.below(256));
  }
  for (std::int64_t j = 0; j < a.thresholds.size(); ++j) a.thresholds.as<T>()[j] = T(40 * (j + 1));
}
/// Draws two spirals, whose regions are as long as they can be.
void draw_spirals(A& a, CaseRandom&) {
  const std::int64_t h = a.x.dim(-2), w = a.x.dim(-1);
  for (std::int64_t i = 0; i < a.x.size(); ++i) {
    const std::int64_t row = i / w, column = i % w;
    const double y = double(row) - double(h) / 2, x = double(column) - double(w) / 2;
    a.x.as<double>()[i] = std::sin(std::hypot(x, y) - std::atan2(y, x));
  }
  a.thresholds.as<double>()[0] = 0;
}

// A centroid is an exact sum divided by an exact number.
constexpr Tolerance centroid = relative(0x1p-52);
constexpr Case<A> cases[] = {
    {.name = "one pixel", .sizes = {{"...", 1}, {"h", 1}, {"w", 1}, {"k", 1}}},
    {.name = "2 of 33 x 70 u8, 4 classes",
     .sizes = {{"...", 2}, {"h", 33}, {"w", 70}, {"k", 3}, {"regions", 5000}},
     .dtype = DType::u8,
     .tolerance = centroid,
     .optional = "centroids first",
     .draw = draw_patches<std::uint8_t>},
    {.name = "64 x 65 u16, eight neighbours, 2 classes without background, 7 listed",
     .sizes = {{"...", 1}, {"h", 64}, {"w", 65}, {"k", 1}, {"regions", 7}},
     .dtype = DType::u16,
     .tolerance = centroid,
     .optional = "centroids first",
     .setup = [](A& a) { a.connectivity = Connectivity::eight, a.background = false; },
     .draw = draw_patches<std::uint16_t>},
    {.name = "3 of 20 x 129 f32, eight neighbours, at least 9 pixels",
     .sizes = {{"...", 3}, {"h", 20}, {"w", 129}, {"k", 4}},
     .dtype = DType::f32,
     .tolerance = centroid,
     .optional = "centroids",
     .setup = [](A& a) { a.connectivity = Connectivity::eight, a.min_area = 9; },
     .draw = draw_patches<float>},
    {.name = "50 x 41 f64, 7 classes, at least 30 pixels, without background",
     .sizes = {{"...", 1}, {"h", 50}, {"w", 41}, {"k", 6}},
     .tolerance = centroid,
     .optional = "centroids first",
     .setup = [](A& a) { a.background = false, a.min_area = 30; },
     .draw = draw_patches<double>},
    {.name = "81 x 81, spirals",
     .sizes = {{"...", 1}, {"h", 81}, {"w", 81}, {"k", 1}},
     .tolerance = centroid,
     .optional = "centroids",
     .draw = draw_spirals},
    {.name = "4096 x 4096 u8, 2 classes",
     .sizes = {{"...", 1}, {"h", 4096}, {"w", 4096}, {"k", 1}, {"regions", 1 << 22}},
     .dtype = DType::u8,
     .benchmark_only = true,
     .draw = draw_patches<std::uint8_t>},
    {.name = "4096 x 4096 f32, 4 classes, at least 50 pixels",
     .sizes = {{"...", 1}, {"h", 4096}, {"w", 4096}, {"k", 3}, {"regions", 1 << 20}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .setup = [](A& a) { a.min_area = 50; },
     .draw = draw_patches<float>},
};

constinit const Definition<A> definition{
    {.name = "image_segmentation",
     .summary =
         "connected components of the pixels between thresholds; those below min_area join a neighbour",
     .source = "Rosenfeld & Pfaltz 1966; Playne & Hawick 2018",
     .determinism = Determinism::everywhere},
    // Each pixel takes a comparison with each threshold, and three sums.
    {.check = check,
     .flops = [](const A& a) { return double(a.x.size()) * (double(a.thresholds.size()) + 3); },
     .cases = cases}};

}  // namespace

constinit const Op<A> image_segmentation{definition};
extern constinit const Impl<A> image_segmentation_cpu{
    {.launch = [](const A& a, Arena arena, Stream& s,
                  int) { segment(a, Segments(arena, a), cpu::ItemSteps{s}); },
     .lay = [](Arena& arena, const A& a, const Site&) { Segments(arena, a); }}};

}  // namespace kolmo
