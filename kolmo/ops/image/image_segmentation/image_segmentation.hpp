#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

enum class Connectivity : std::int32_t { four, eight };
inline constexpr std::string_view connectivity_names[] = {"four", "eight"};
constexpr std::span<const std::string_view> names_of(Connectivity) { return connectivity_names; }

struct ImageSegmentationArgs {
  In x, thresholds;
  Out labels, areas, count;
  OptOut centroids, first;
  std::int64_t regions = 1024, min_area = 1;
  Connectivity connectivity = Connectivity::four;
  bool background = true;

  static constexpr auto fields() {
    using A = ImageSegmentationArgs;
    constexpr DTypes pixels = DTypes::of(DType::u8, DType::u16, DType::f32, DType::f64),
                     i64 = DTypes::of(DType::i64), f64 = DTypes::of(DType::f64);
    return std::array{
        field<&A::x>("x", "... h w", pixels, "images"),
        field<&A::thresholds>("thresholds", "k", pixels, "of the classes, in any order"),
        field<&A::labels>("labels", "... h w", i64, "region of each pixel, from 1; 0: none"),
        field<&A::areas>("areas", "regions", i64, "pixels of each region").counted_by("count"),
        field<&A::count>("count", "", i64, "regions found"),
        field<&A::centroids>("centroids", "regions 2", f64, "mean row and column of each region")
            .counted_by("count"),
        field<&A::first>("first", "regions", i64, "place of the first pixel of each region, in all of x")
            .counted_by("count"),
        option<&A::regions>("regions", 0, std::int64_t(1) << 40, "most regions to list"),
        option<&A::connectivity>("connectivity", "neighbours of a pixel"),
        option<&A::min_area>("min_area", 0, std::int64_t(1) << 40, "smaller regions are merged"),
        option<&A::background>("background", "pixels below all thresholds belong to no region"),
    };
  }
};

/// Regions of images: the connected components of pixels of one class, where the class is the number of
/// thresholds t <= x (NaN: 0). A region lies in one of the images that x, h w, holds. With `background`, class 0
/// is in no region.
/// Merging, for min_area > 1: in each round every region below min_area joins the largest of the regions beside
/// it, of equals the one with the first pixel that comes first; all choose at once, and chains of choices become
/// one region. It ends when no region below min_area has one beside it. With `background` those that are left
/// then belong to no region.
/// Labels are 1, 2, ... in the order of the regions' first pixels. All regions are labelled and counted; the
/// first `regions` are listed. Same bits on every device.
/// Sources: Rosenfeld & Pfaltz 1966; Playne & Hawick 2018 (label equivalence in parallel). Labels without merging
/// equal those of scipy.ndimage.label up to renaming.
extern const Op<ImageSegmentationArgs> image_segmentation;

}  // namespace kolmo
