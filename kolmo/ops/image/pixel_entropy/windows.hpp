#pragma once
#include <algorithm>
#include <cmath>

#include "kolmo/base/arena.hpp"
#include "kolmo/base/log.hpp"
#include "kolmo/base/status.hpp"
#include "kolmo/ops/image/pixel_entropy/pixel_entropy.hpp"

namespace kolmo {

/// Computes the grey levels of floating-point pixels.
template <class T>
struct GreyLevels {
  const T* x;
  std::uint16_t* level;
  std::int64_t n;
  double low, scale, highest;
  Status status;

  GreyLevels(const PixelEntropyArgs& a, std::uint16_t* to, Status s)
      : x(a.x.as<T>()),
        level(to),
        n(a.x.size()),
        low(a.low),
        scale(double(a.levels) / (a.high - a.low)),
        highest(double(a.levels - 1)),
        status(s) {}
  std::int64_t items() const { return n; }
  KOLMO_HD void operator()(std::int64_t i) const {
    const double v = double(x[i]), at = exact_mul(exact_add(v, -low), scale);
    if (v != v) status.report(0, i);
    level[i] = std::uint16_t(!(at > 0) ? 0 : at < highest ? at : highest);
  }
};

/// Fills the table term[c] = c log2 c in units of 2^-40. Sums of these integers are exact, so they do not
/// depend on their order.
struct EntropyTerms {
  std::int64_t *term, n;
  std::int64_t items() const { return n; }
  KOLMO_HD void operator()(std::int64_t c) const {
    constexpr double unit = 0x1p40 * 1.4426950408889634074;
    const double nats = c > 0 ? exact_mul(double(c), log_exact(double(c))) : 0;
    term[c] = std::int64_t(exact_add(exact_mul(nats, unit), 0.5));
  }
};

struct ClearCounts {
  std::uint16_t* count;
  std::int64_t n;
  std::int64_t items() const { return n; }
  KOLMO_HD void operator()(std::int64_t i) const { count[i] = 0; }
};

/// An item is a strip of a column. Its window slides down, and a histogram follows it, which is empty before
/// and after the item.
template <class Level>
struct SlidingWindow {
  const Level* level;
  const std::int64_t* term;
  double* entropy;
  std::int64_t images, h, w, rows, strips;
  int radius;
  bool disk;

  SlidingWindow(const PixelEntropyArgs& a, const Level* levels, const std::int64_t* terms)
      : level(levels),
        term(terms),
        entropy(a.entropy.as<double>()),
        h(a.x.dim(-2)),
        w(a.x.dim(-1)),
        rows(32 + 4 * a.radius),
        strips((h + rows - 1) / rows),
        radius(int(a.radius)),
        disk(a.window == WindowShape::disk) {
    images = h * w > 0 ? a.x.size() / (h * w) : 0;
  }
  KOLMO_HD std::int64_t items() const { return images * strips * w; }

  KOLMO_HD void operator()(std::int64_t item, std::uint16_t* count) const {
    const std::int64_t column = item % w, strip = item / w % strips, image = item / w / strips;
    const std::int64_t first = strip * rows, end = first + rows < h ? first + rows : h;
    Window v{level + image * h * w, term, count};
    each_column(column, [&](std::int64_t c, int high) {
      for (std::int64_t r = first < high ? 0 : first - high; r < h && r <= first + high; ++r)
        v.add(r * w + c);
    });
    for (std::int64_t row = first;; ++row) {
      entropy[(image * h + row) * w + column] = double(term[v.n] - v.sum) * 0x1p-40 / double(v.n);
      const bool last = row + 1 == end;
      each_column(column, [&](std::int64_t c, int high) {
        if (last) {
          for (std::int64_t r = row < high ? 0 : row - high; r < h && r <= row + high; ++r)
            v.clear(r * w + c);
        } else {
          if (row + 1 + high < h) v.add((row + 1 + high) * w + c);
          if (row >= high) v.remove((row - high) * w + c);
        }
      });
      if (last) return;
    }
  }

 private:
  struct Window {
    const Level* level;
    const std::int64_t* term;
    std::uint16_t* count;
    std::int64_t n = 0, sum = 0;
    KOLMO_HD void add(std::int64_t at) {
      const std::uint16_t c = count[level[at]]++;
      sum += term[c + 1] - term[c], ++n;
    }
    KOLMO_HD void remove(std::int64_t at) {
      const std::uint16_t c = --count[level[at]];
      sum -= term[c + 1] - term[c], --n;
    }
    KOLMO_HD void clear(std::int64_t at) { count[level[at]] = 0; }
  };
  /// Calls f(c, high) for the columns c of the window that lie in the image; `high` is half the height of the
  /// window there.
  template <class F>
  KOLMO_HD void each_column(std::int64_t column, const F& f) const {
    for (int d = -radius; d <= radius; ++d) {
      const std::int64_t c = column + d;
      if (c >= 0 && c < w) f(c, disk ? int(std::sqrt(float(radius * radius - d * d))) : radius);
    }
  }
};

/// The workspace. Each of `workers` threads has a histogram.
struct EntropySpace {
  std::int64_t levels, terms, counts;
  std::int64_t* term;
  std::uint16_t *count, *level;

  EntropySpace(Arena& arena, const PixelEntropyArgs& a, std::int64_t workers)
      : levels(levels_of(a)),
        terms((2 * a.radius + 1) * (2 * a.radius + 1) + 1),
        counts(workers * levels),
        term(arena.take<std::int64_t>(terms)),
        count(arena.take<std::uint16_t>(counts)),
        level(inexact(a) ? arena.take<std::uint16_t>(a.x.size()) : nullptr) {}
  static std::int64_t levels_of(const PixelEntropyArgs& a) {
    return a.x.dtype == DType::u8 ? 1 << 8 : a.x.dtype == DType::u16 ? 1 << 16 : a.levels;
  }
  static bool inexact(const PixelEntropyArgs& a) {
    return a.x.dtype == DType::f32 || a.x.dtype == DType::f64;
  }
};

/// Computes the operator. step(f) calls f(i) for all items of f; slide(window, count) does the items of a
/// window, which need histograms.
template <class Step, class Slide>
void entropy_of_windows(const PixelEntropyArgs& a, const EntropySpace& space, Status status, const Step& step,
                        const Slide& slide) {
  step(EntropyTerms{space.term, space.terms});
  step(ClearCounts{space.count, space.counts});
  if (a.x.dtype == DType::u8) return slide(SlidingWindow(a, a.x.as<std::uint8_t>(), space.term));
  if (a.x.dtype == DType::u16) return slide(SlidingWindow(a, a.x.as<std::uint16_t>(), space.term));
  visit<double, float>(a.x.dtype, [&]<class T> { step(GreyLevels<T>(a, space.level, status)); });
  slide(SlidingWindow<std::uint16_t>(a, space.level, space.term));
}

}  // namespace kolmo
