#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

/// What pixels are in the cubical complex.
enum class CubicalCells : std::int32_t { squares, vertices };
inline constexpr std::string_view cubical_cells_names[] = {"squares", "vertices"};
constexpr std::span<const std::string_view> names_of(CubicalCells) { return cubical_cells_names; }

struct PixelTdaArgs {
  In x;
  Out h0, h1, count0, count1;
  OptOut place0, place1, lifetimes;
  std::int64_t capacity = 4096;
  double min_persistence = 0;
  CubicalCells cells = CubicalCells::squares;

  static constexpr auto fields() {
    using A = PixelTdaArgs;
    constexpr DTypes i64 = DTypes::of(DType::i64), result = reals.as("Y");
    return std::array{
        field<&A::x>("x", "... h w", DTypes::of(DType::u8, DType::u16, DType::f32, DType::f64), "images"),
        field<&A::h0>("h0", "capacity 2", result, "birth and death of each component")
            .counted_by("count0")
            .may_be_infinite(),
        field<&A::h1>("h1", "capacity 2", result, "birth and death of each hole").counted_by("count1"),
        field<&A::count0>("count0", "", i64, "components"),
        field<&A::count1>("count1", "", i64, "holes"),
        field<&A::place0>("place0", "capacity 2", i64,
                          "pixels, in all of x, at which components are born and die; -1: never")
            .counted_by("count0"),
        field<&A::place1>("place1", "capacity 2", i64, "pixels at which holes are born and die")
            .counted_by("count1"),
        field<&A::lifetimes>(
            "lifetimes", "... 2 h w", result,
            "death - birth of the component born at a pixel, and of the hole that dies there; 0: none")
            .may_be_infinite(),
        option<&A::capacity>("capacity", 0, std::int64_t(1) << 40, "most components and most holes to list"),
        option<&A::min_persistence>("min_persistence", 0, unlimited,
                                    "only those with death - birth above this are counted"),
        option<&A::cells>(
            "cells", "pixels are the squares of the complex, so components join at corners, or its vertices"),
    };
  }
};

/// Persistent homology of the sublevel sets {x <= t} of images: all components (H0) and holes (H1) with the values
/// of t at which they are born and die, death - birth > min_persistence. x: images h w of u8, u16, f32 or f64, each
/// below 2^32 - 1 pixels. Other cells of the complex enter with the first square that they bound (squares), or with
/// their last vertex (vertices). Of equal pixels the one with the lower index comes first; when two components
/// meet, the one born later dies. The component of the least pixel of each image never dies: its death is inf.
/// H0 is in the order of the pixels at birth, H1 in that of the pixels at death. Births and deaths are pixels'
/// values: f64 for f64, else f32. All are counted; `capacity` of each are listed. Same bits on every device. A change
/// of x by at most e changes the diagrams by at most e in bottleneck distance. Fault: a NaN.
/// Sources: Edelsbrunner & Harer 2010; Wagner, Chen & Vucini 2012 (cubical complexes); Smirnov & Morozov 2017
/// (triplet merge trees, built in parallel); Bleile et al. 2022 (holes by duality).
/// Equal to gudhi.CubicalComplex (top_dimensional_cells or vertices) but for order.
extern const Op<PixelTdaArgs> pixel_tda;

}  // namespace kolmo
