#pragma once
#include <limits>

#include "kolmo/base/exp.hpp"
#include "kolmo/base/row_terms.hpp"
#include "kolmo/ops/image/persistence_summaries/persistence_summaries.hpp"
#include "kolmo/skeleton/row_sum.hpp"

namespace kolmo {

/// The diagrams of a batch, each with its number of pairs.
template <class T>
struct PairLists {
  const T* pairs;
  const std::int64_t* count;
  std::int64_t n;

  struct List {
    const T* pairs;
    std::int64_t count;
  };
  KOLMO_HD List operator()(std::int64_t b) const { return {pairs + 2 * n * b, count ? count[b] : n}; }
};

struct BettiCurve {
  using A = BettiCurveArgs;
  static constexpr int sums = 1;
  using DTypes = ElementTypes<double, float>;
  static const Tensor& element(const A& a) { return a.pairs; }
  static std::int64_t rows(const A& a) { return a.betti.size(); }
  static std::int64_t length(const A& a) { return a.pairs.dim(-2); }

  template <class T>
  struct Terms {
    PairLists<T> lists;
    const T* thresholds;
    std::int64_t k;
    struct Row {
      typename PairLists<T>::List list;
      T t;
      KOLMO_HD Sums<1> operator()(std::int64_t i) const {
        if (i >= list.count) return {{0}};
        return {{double(list.pairs[2 * i] <= t && t < list.pairs[2 * i + 1])}};
      }
    };
    KOLMO_HD Row operator()(std::int64_t row) const { return {lists(row / k), thresholds[row % k]}; }
  };
  struct Done {
    std::int64_t* betti;
    KOLMO_HD void operator()(std::int64_t row, const Sums<1>& s) const {
      betti[row] = std::int64_t(s.value[0]);
    }
  };
  template <class T>
  static Terms<T> terms(const A& a) {
    return {{a.pairs.as<T>(), a.count.as<std::int64_t>(), length(a)}, a.thresholds.as<T>(), a.betti.dim(-1)};
  }
  template <class T>
  static Done done(const A& a) {
    return {a.betti.as<std::int64_t>()};
  }
};

struct PersistenceImage {
  using A = PersistenceImageArgs;
  static constexpr int sums = 1;
  using DTypes = ElementTypes<double, float>;
  static const Tensor& element(const A& a) { return a.pairs; }
  static std::int64_t rows(const A& a) { return a.image.size(); }
  static std::int64_t length(const A& a) { return a.pairs.dim(-2); }

  template <class T>
  struct Terms {
    PairLists<T> lists;
    std::int64_t height, width;
    double low, cell_width, cell_height, shrink, factor;
    bool weighted;
    struct Row {
      typename PairLists<T>::List list;
      double x, y, shrink, factor;
      bool weighted;
      KOLMO_HD Sums<1> operator()(std::int64_t i) const {
        if (i >= list.count) return {{0}};
        const double birth = double(list.pairs[2 * i]),
                     life = exact_add(double(list.pairs[2 * i + 1]), -birth);
        if (life == std::numeric_limits<double>::infinity()) return {{0}};
        const double dx = exact_add(birth, -x), dy = exact_add(life, -y);
        const double square = exact_add(exact_mul(dx, dx), exact_mul(dy, dy));
        const double density = exact_mul(factor, exp_exact(-exact_mul(square, shrink)));
        return {{weighted ? exact_mul(life, density) : density}};
      }
    };
    KOLMO_HD Row operator()(std::int64_t row) const {
      const std::int64_t j = row % width, i = row / width % height;
      return {lists(row / width / height),
              exact_add(low, exact_mul(double(j) + 0.5, cell_width)),
              exact_mul(double(i) + 0.5, cell_height),
              shrink,
              factor,
              weighted};
    }
  };
  template <class T>
  static Terms<T> terms(const A& a) {
    return {{a.pairs.as<T>(), a.count.as<std::int64_t>(), length(a)},
            a.height,
            a.width,
            a.birth_low,
            (a.birth_high - a.birth_low) / double(a.width),
            a.persistence_high / double(a.height),
            1 / (2 * a.sigma * a.sigma),
            1 / (6.2831853071795864769 * a.sigma * a.sigma),
            a.weight == PairWeight::persistence};
  }
  template <class T>
  static RoundedSum<T> done(const A& a) {
    return {a.image.as<T>()};
  }
};

}  // namespace kolmo
