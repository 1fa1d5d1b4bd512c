#pragma once
#include <algorithm>
#include <cmath>

#include "kolmo/base/entropy.hpp"
#include "kolmo/base/sums.hpp"
#include "kolmo/base/tensor.hpp"
#include "kolmo/ops/nn/batch_norm/batch_norm.hpp"

namespace kolmo {

/// x as (n, c, s). If rows of s values are long, each is summed. If they are short, each of the c s columns
/// is summed over `rows_at_a_time` entries of the batch.
struct BatchShape {
  static constexpr std::int64_t rows_at_a_time = 32;
  std::int64_t n, c, s;

  explicit BatchShape(const BatchNormArgs& a)
      : n(a.x.dim(0)), c(a.x.dim(1)), s(a.x.size() ? a.x.size() / (n * c) : 0) {}
  KOLMO_HD bool columns() const { return s < 32; }
  std::int64_t pieces() const { return (n + rows_at_a_time - 1) / rows_at_a_time; }
  std::int64_t partials() const { return columns() ? pieces() * c * s : n * c; }
  std::int64_t partial_terms() const { return columns() ? std::min(n, rows_at_a_time) : s; }
  std::int64_t partials_of_channel() const { return columns() ? pieces() * s : n; }
};

/// Terms of partial sums: differences from the channel's first value, and their squares.
template <class T>
struct DeviationRows {
  static constexpr int rows_at_a_time = BatchShape::rows_at_a_time;
  const T* x;
  BatchShape shape;

  struct Row {
    const T* x;
    double origin;
    std::int64_t step, count;
    KOLMO_HD Sums<2> of(T value) const {
      const double d = exact_add(double(value), -origin);
      return {{d, exact_mul(d, d)}};
    }
    KOLMO_HD Sums<2> operator()(std::int64_t i) const { return i < count ? of(x[i * step]) : Sums<2>{}; }
  };
  KOLMO_HD Row operator()(std::int64_t partial) const {
    const auto& [n, c, s] = shape;
    if (!shape.columns()) {
      const std::int64_t channel = partial - quotient(partial, c) * c;
      return {x + partial * s, double(x[channel * s]), 1, s};
    }
    const std::int64_t piece = quotient(partial, c * s), column = partial - piece * c * s,
                       row = piece * BatchShape::rows_at_a_time;
    return {x + row * c * s + column, double(x[s == 1 ? column : quotient(column, s) * s]), c * s, n - row};
  }
};

struct StorePartials {
  Sums<2>* to;
  KOLMO_HD void operator()(std::int64_t partial, const Sums<2>& sums) const { to[partial] = sums; }
};

/// The partial sums of each channel.
struct PartialsOfChannel {
  const Sums<2>* partial;
  std::int64_t channels, each;  ///< `each`: how many of a channel lie together

  struct Row {
    const Sums<2>* first;
    std::int64_t each, step;
    KOLMO_HD Sums<2> operator()(std::int64_t i) const {
      const std::int64_t block = quotient(i, each);
      return first[block * step + i - block * each];
    }
  };
  KOLMO_HD Row operator()(std::int64_t channel) const {
    return {partial + channel * each, each, channels * each};
  }
};

/// The map of a channel's elements: (x - mean) factor + shift.
template <class C>
struct ChannelMap {
  C mean, factor, shift;
  KOLMO_HD C operator()(C x) const { return (x - mean) * factor + shift; }
};

/// Finds the map of a channel, and updates the running statistics.
template <class T>
struct PrepareChannel {
  using C = Compute<T>;
  const T *x, *scale, *shift;
  double *running_mean, *running_variance, *mean, *rstd;
  double eps, momentum;
  ChannelMap<C>* map;
  BatchShape shape;

  PrepareChannel(const BatchNormArgs& a, ChannelMap<C>* m)
      : x(a.x.as<T>()),
        scale(a.scale.as<T>()),
        shift(a.shift.as<T>()),
        running_mean(a.running_mean.as<double>()),
        running_variance(a.running_variance.as<double>()),
        mean(a.mean.as<double>()),
        rstd(a.rstd.as<double>()),
        eps(a.eps),
        momentum(a.momentum),
        map(m),
        shape(a) {}
  std::int64_t items() const { return shape.c; }
  /// Computes the map from the running statistics.
  KOLMO_HD void operator()(std::int64_t i) const { prepare(i, running_mean[i], running_variance[i]); }
  /// Computes the map from the statistics of the batch, which follow from the sums of the channel.
  KOLMO_HD void operator()(std::int64_t i, const Sums<2>& sums) const {
    const double count = double(shape.n) * double(shape.s), deviation = sums.value[0] / count,
                 average = exact_add(double(x[i * shape.s]), deviation),
                 squares = exact_add(sums.value[1], -exact_mul(sums.value[0], deviation)),
                 variance = not_below_zero(squares) / count;
    running_mean[i] = exact_add(exact_mul(1 - momentum, running_mean[i]), exact_mul(momentum, average));
    running_variance[i] = exact_add(exact_mul(1 - momentum, running_variance[i]),
                                    exact_mul(momentum, variance * (count / (count - 1))));
    prepare(i, average, variance);
  }

 private:
  KOLMO_HD void prepare(std::int64_t i, double average, double variance) const {
    const double inverse = 1 / std::sqrt(variance + eps);
    map[i] = {C(average), C(scale ? double(scale[i]) * inverse : inverse), shift ? C(shift[i]) : C(0)};
    if (mean) mean[i] = average;  // these outputs may overwrite `scale` or `shift`
    if (rstd) rstd[i] = inverse;
  }
};

template <class T>
struct BatchNormScratch {
  Sums<2>*partials, *partial_parts, *sum_parts;
  ChannelMap<Compute<T>>* map;

  BatchNormScratch(Arena& arena, const BatchNormArgs& a) {
    const BatchShape shape(a);
    const std::int64_t with = a.training;
    partials = arena.take<Sums<2>>(with * shape.partials());
    partial_parts = take_partial_sums<2>(arena, with * shape.partials(), shape.partial_terms());
    sum_parts = take_partial_sums<2>(arena, with * shape.c, shape.partials_of_channel());
    map = arena.take<ChannelMap<Compute<T>>>(shape.c);
  }
  /// Finds the statistics of each channel of the batch; `run` is the argument of sum_rows.
  template <class Run>
  void measure_channels(const BatchNormArgs& a, const Run& run) const {
    const BatchShape shape(a);
    sum_rows<2>(DeviationRows<T>{a.x.as<T>(), shape}, StorePartials{partials}, shape.partials(),
                shape.partial_terms(), partial_parts, run);
    sum_rows<2>(PartialsOfChannel{partials, shape.c, shape.columns() ? shape.s : 1}, prepare(a), shape.c,
                shape.partials_of_channel(), sum_parts, run);
  }
  PrepareChannel<T> prepare(const BatchNormArgs& a) const { return {a, map}; }
};

}  // namespace kolmo
