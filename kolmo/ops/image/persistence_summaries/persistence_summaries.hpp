#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct BettiCurveArgs {
  In pairs, thresholds;
  OptIn count;
  Out betti;

  static constexpr auto fields() {
    using A = BettiCurveArgs;
    return std::array{
        field<&A::pairs>("pairs", "... n 2", reals, "births and deaths"),
        field<&A::thresholds>("thresholds", "k", reals, "values of t"),
        field<&A::count>("count", "...", DTypes::of(DType::i64),
                         "only this many pairs are read; not given: all", Domain::count),
        field<&A::betti>("betti", "... k", DTypes::of(DType::i64), "pairs alive at each t"),
    };
  }
};

/// betti_j = number of pairs with birth <= t_j < death: the Betti numbers of a filtration from its persistence
/// diagram, such as h0 or h1 of pixel_tda with their count. t in any order; one dtype of f64, f32 for both inputs.
/// A count beyond n is n.
/// Source: Edelsbrunner & Harer 2010.
extern const Op<BettiCurveArgs> betti_curve;

/// The weight of a pair of persistence l.
enum class PairWeight : std::int32_t { one, persistence };
inline constexpr std::string_view pair_weight_names[] = {"one", "persistence"};
constexpr std::span<const std::string_view> names_of(PairWeight) { return pair_weight_names; }

struct PersistenceImageArgs {
  In pairs;
  OptIn count;
  Out image;
  std::int64_t height = 20, width = 20;
  double birth_low = 0, birth_high = 1, persistence_high = 1, sigma = 0.1;
  PairWeight weight = PairWeight::persistence;

  static constexpr auto fields() {
    using A = PersistenceImageArgs;
    return std::array{
        field<&A::pairs>("pairs", "... n 2", reals, "births and deaths"),
        field<&A::count>("count", "...", DTypes::of(DType::i64),
                         "only this many pairs are read; not given: all", Domain::count),
        field<&A::image>("image", "... height width", reals, "density at the centre of each cell"),
        option<&A::height>("height", 1, 1 << 20, "cells of persistence, from 0 on"),
        option<&A::width>("width", 1, 1 << 20, "cells of birth"),
        option<&A::birth_low>("birth_low", "at which the first cell begins"),
        option<&A::birth_high>("birth_high", "at which the last cell ends"),
        option<&A::persistence_high>("persistence_high", 0, unlimited,
                                     "at which the last cell ends; above 0"),
        option<&A::sigma>("sigma", 0, unlimited, "standard deviation of the Gaussians; above 0"),
        option<&A::weight>("weight", "of a pair"),
    };
  }
};

/// image_ij = sum over pairs (b, d) of w(d - b) exp(-((b - x_j)^2 + (d - b - y_i)^2) / (2 sigma^2)) /
/// (2 pi sigma^2), with x_j and y_i the centres of equal cells over [birth_low, birth_high] and [0,
/// persistence_high], and w = 1 or d - b. Pairs that never die, or were born at -inf, are left out. f64 or f32,
/// computed in double; same bits on every device. A count beyond n is n.
/// Source: Adams et al. 2017.
extern const Op<PersistenceImageArgs> persistence_image;

}  // namespace kolmo
