#include "kolmo/predict/model/device_member.hpp"

#include <algorithm>
#include <cmath>

#include "kolmo/ops/dense/dot_product/dot_product.hpp"
#include "kolmo/ops/dense/matmul/matmul.hpp"
#include "kolmo/ops/elementwise/binary/binary.hpp"
#include "kolmo/ops/nn/linear/linear.hpp"
#include "kolmo/ops/recurrent/gru_sequences/gru_sequences.hpp"
#include "kolmo/ops/training/adamw_step/adamw_step.hpp"
#include "kolmo/predict/model/tape.hpp"

namespace kolmo::predict {
namespace {

/// Where the parameters of operators are in MemberSizes: weight_ih and weight_hh (rows of r, z, n), their biases, weights of the state in the
/// head (a row for each of its units), and the rest. The biases of r and z are in bias_ih alone.
std::vector<std::ptrdiff_t> places_of(const MemberSizes& s) {
  const int n = s.hidden;
  std::vector<std::ptrdiff_t> place;
  const auto input_gate = [&](int row) { return (row / n + 1) % 3 * n + row % n; };  // among n, r, z
  for (int row = 0; row < 3 * n; ++row)
    for (int i = 0; i < MemberSizes::inputs; ++i) place.push_back(s.input() + i * 3 * n + input_gate(row));
  for (int row = 0; row < 3 * n; ++row)
    for (int i = 0; i < n; ++i) place.push_back(s.recurrent() + i * 3 * n + row);
  for (int row = 0; row < 3 * n; ++row) place.push_back(s.bias() + input_gate(row));
  for (int row = 0; row < 3 * n; ++row) place.push_back(row < 2 * n ? -1 : s.bias() + n + row);
  for (int j = 0; j < MemberSizes::head; ++j)
    for (int i = 0; i < n; ++i) place.push_back(s.of_state() + i * MemberSizes::head + j);
  for (std::ptrdiff_t i = s.of_plan(); i < s.count(); ++i) place.push_back(i);
  return place;
}

template <class T>
Tensor part_of(const Tensor& all, std::int64_t first, std::initializer_list<std::int64_t> shape) {
  return tensor(all.as<T>() + first, shape, all.device);
}

}  // namespace

template <class T>
Tensor DeviceMember<T>::take(std::initializer_list<std::int64_t> shape) {
  Tensor t = tensor(static_cast<T*>(nullptr), shape, stream_.device());
  buffers_.emplace_back(t.bytes(), stream_);
  t.data = buffers_.back().data();
  return t;
}

template <class T>
typename DeviceMember<T>::Parts DeviceMember<T>::parts() {
  const std::int64_t n = n_, hh = 3 * n * inputs, bias = hh + 3 * n * n, state = bias + 6 * n,
                     tail = state + head * n, count = std::int64_t(place_.size());
  Parts p{.all = take({count})};
  p.ih = part_of<T>(p.all, 0, {3 * n, inputs}), p.hh = part_of<T>(p.all, hh, {3 * n, n});
  p.bias_ih = part_of<T>(p.all, bias, {3 * n}), p.bias_hh = part_of<T>(p.all, bias + 3 * n, {3 * n});
  p.of_state = part_of<T>(p.all, state, {head, n}), p.tail = part_of<T>(p.all, tail, {count - tail});
  return p;
}

template <class T>
void DeviceMember<T>::down(std::vector<T>& to, const Tensor& from) {
  to.resize(std::size_t(from.size()));
  stream_.copy(tensor(to.data(), {from.size()}), part_of<T>(from, 0, {from.size()}));
  stream_.synchronize();
}

template <class T>
DeviceMember<T>::DeviceMember(const Windows& windows, const MemberSizes& sizes, std::span<const T> parameters,
                              int batch, const TrainingOptions& options)
    : windows_(windows),
      sizes_(sizes),
      n_(sizes.hidden),
      batch_(batch),
      closed_(T(options.closed_loop)),
      decay_(options.weight_decay),
      stream_(options.device, 1),
      place_(places_of(sizes)),
      weights_(parts()),
      gradient_(parts()),
      part_(parts()) {
  const std::int64_t n = n_, b = batch, count = std::int64_t(place_.size());
  first_ = take({count}), second_ = take({count}), norm_ = take({}), scale_ = take({1});
  x_ = take({b, window, inputs}), states_ = take({b, window, n}), zero_ = take({b, n});
  head_ = take({b, window, head}), of_head_ = take({b, window, head}), of_states_ = take({b, window, n});
  closed_x_ = take({ahead, b, 1, inputs}), closed_states_ = take({ahead, b, 1, n});
  closed_head_ = take({b, head}), closed_of_head_ = take({ahead, b, head});
  of_state_ = take({b, 1, n}), carry_ = take({b, n}), carried_ = take({b, n}), of_x_ = take({b, 1, inputs});
  last_ = take({b, n}), of_read_x_ = take({b, window, inputs});
  for (const Tensor& zero : {first_, second_, zero_}) stream_.fill(zero, 0);
  std::vector<T> values;
  for (const std::ptrdiff_t i : place_) values.push_back(i < 0 ? T(0) : parameters[std::size_t(i)]);
  up(weights_.all, values);
  down(tail_, weights_.tail);
  trace_.resize(std::size_t(batch));
}

template <class T>
std::vector<T> DeviceMember<T>::parameters() {
  std::vector<T> values, found(std::size_t(sizes_.count()));
  down(values, weights_.all);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (place_[i] >= 0) found[std::size_t(place_[i])] = values[i];
  return found;
}

template <class T>
Tensor DeviceMember<T>::block_x(int t, int start) const {
  const std::int64_t b = batch_;
  return part_of<T>(closed_x_, (t - start) * b * inputs, {b, 1, inputs});
}
template <class T>
Tensor DeviceMember<T>::before(int t, int start) const {
  const std::int64_t b = batch_, n = n_;
  return t == start ? last_ : part_of<T>(closed_states_, (t - start - 1) * b * n, {b, n});
}
template <class T>
Tensor DeviceMember<T>::after(int t, int start) const {
  const std::int64_t b = batch_, n = n_;
  return part_of<T>(closed_states_, (t - start) * b * n, {b, 1, n});
}

template <class T>
void DeviceMember<T>::load(std::span<const Windows::Window> places, int start) {
  const auto clear = [&](std::vector<T>& v, int units) {
    v.assign(std::size_t(window) * std::size_t(batch_) * std::size_t(units), T(0));
  };
  clear(in_, inputs), clear(plan_, planned), clear(a_, head);
  for (std::vector<T>* v : {&change_, &level_, &target_, &next_, &weight_}) clear(*v, 1);
  read_.resize(std::size_t(batch_) * std::size_t(start) * inputs);
  for (int b = 0; b < batch_; ++b) {
    const Windows::Window& place = places[std::size_t(b)];
    const Windows::Run& run = windows_.runs[std::size_t(place.run)];
    for (int t = 0; t < window; ++t) {
      const auto here = at(t, b), from = std::size_t(place.first) + std::size_t(t);
      if (place.first + t >= run.blocks()) continue;
      std::copy_n(run.block.data() + from * inputs, inputs, &in_[here * inputs]);
      std::copy_n(run.planned.data() + from * planned, planned, &plan_[here * planned]);
      const LossTrace<double>& trace = run.trace[from];
      target_[here] = T(trace.level),
      next_[here] = T(trace.anchor + LossTrace<double>::damping * trace.trend);
      weight_[here] = 1;
      if (t == start - 1)
        trace_[std::size_t(b)] = {T(trace.level), T(trace.fast_mean), T(trace.slow_mean), T(trace.anchor),
                                  T(trace.trend)};
    }
    for (int t = 0; t < start; ++t)
      std::copy_n(&in_[at(t, b) * inputs], inputs,
                  &read_[(std::size_t(b) * std::size_t(start) + std::size_t(t)) * inputs]);
    trace_[std::size_t(b)].leave();
  }
}

/// Predicts the change to block t, and in closed loop goes on with it.
template <class T>
void DeviceMember<T>::imagine(int t, int start) {
  const T *const of_plan = tail_.data(), *const bias = of_plan + planned * head, *const out = bias + head;
  for (int b = 0; b < batch_; ++b) {
    const auto here = at(t, b);
    T* const a = &a_[here * head];
    T d = out[head];
    for (int j = 0; j < head; ++j) {
      a[j] += bias[j];
      for (int i = 0; i < planned; ++i)
        a[j] += of_plan[i * head + j] * plan_[here * planned + std::size_t(i)];
      d += out[j] * a[j] * sigmoid_lane(a[j]);
    }
    change_[here] = d * T(0.1);
    if (t < start) continue;
    LossTrace<T>& trace = trace_[std::size_t(b)];
    T* const x = &in_[here * inputs];
    trace.write(trace.imagine(change_[here]), x, 1);
    x[7] = in_[at(start - 1, b) * inputs + 7];
    level_[here] = trace.level;
  }
}

template <class T>
void DeviceMember<T>::forward(int start, int end) {
  const std::int64_t b = batch_, n = n_;
  const Tensor x = part_of<T>(x_, 0, {b, start, inputs}), states = part_of<T>(states_, 0, {b, start, n}),
               of_head = part_of<T>(head_, 0, {b, start, head});
  up(x, read_);
  gru_forward({.x = x,
               .h = zero_,
               .weight_ih = weights_.ih,
               .weight_hh = weights_.hh,
               .bias_ih = weights_.bias_ih,
               .bias_hh = weights_.bias_hh,
               .states = states,
               .last = last_},
              stream_);
  linear({.x = states, .weight = weights_.of_state, .y = of_head}, stream_);
  down(host_, of_head);
  for (int t = 1; t <= start; ++t)
    for (int w = 0; w < batch_; ++w)
      std::copy_n(&host_[(std::size_t(w) * std::size_t(start) + std::size_t(t) - 1) * head], head,
                  &a_[at(t, w) * head]);
  for (int t = first_head; t < start; ++t) imagine(t, start);
  for (int t = start; t < end; ++t) {
    if (t > start) {
      linear({.x = before(t, start), .weight = weights_.of_state, .y = closed_head_}, stream_);
      down(host_, closed_head_);
      std::copy(host_.begin(), host_.end(), a_.begin() + std::ptrdiff_t(t) * b * head);
    }
    imagine(t, start);
    if (t + 1 == end) break;
    sent_.assign(in_.begin() + std::ptrdiff_t(t) * b * inputs,
                 in_.begin() + std::ptrdiff_t(t + 1) * b * inputs);
    up(block_x(t, start), sent_);
    gru_forward({.x = block_x(t, start),
                 .h = before(t, start),
                 .weight_ih = weights_.ih,
                 .weight_hh = weights_.hh,
                 .bias_ih = weights_.bias_ih,
                 .bias_hh = weights_.bias_hh,
                 .states = after(t, start)},
                stream_);
  }
}

/// Replaces the arguments of the head's units at block t by their gradients, and adds to those of the tail.
template <class T>
void DeviceMember<T>::head_gradient(int t, const std::vector<T>& of_d) {
  const T* const out = tail_.data() + (planned + 1) * head;
  T *const of_plan = tail_gradient_.data(), *const bias = of_plan + planned * head,
           *const of_out = bias + head;
  for (int b = 0; b < batch_; ++b) {
    const auto here = at(t, b);
    const T g = T(0.1) * of_d[std::size_t(b)];
    of_out[head] += g;
    for (int j = 0; j < head; ++j) {
      T& a = a_[here * head + std::size_t(j)];
      const T s = sigmoid_lane(a);
      of_out[j] += g * a * s;
      a = g * out[j] * (s + a * s * (1 - s));
      bias[j] += a;
      for (int i = 0; i < planned; ++i) of_plan[i * head + j] += a * plan_[here * planned + std::size_t(i)];
    }
  }
}

/// Adds a gradient of the GRU's weights, whose arguments but those of the GRU itself are given.
template <class T>
void DeviceMember<T>::gru_gradient(GruBackwardArgs a, bool first) {
  const Parts& to = first ? gradient_ : part_;
  a.weight_ih = weights_.ih, a.weight_hh = weights_.hh;
  a.bias_ih = weights_.bias_ih, a.bias_hh = weights_.bias_hh;
  if (!first) a.grad_last = carry_;
  a.grad_h = carried_, a.grad_weight_ih = to.ih, a.grad_weight_hh = to.hh;
  a.grad_bias_ih = to.bias_ih, a.grad_bias_hh = to.bias_hh;
  gru_backward(a, stream_);
  std::swap(carry_, carried_);
  if (first) return;
  const std::int64_t count = 3 * n_ * (inputs + n_ + 2);
  const Tensor sum = part_of<T>(gradient_.all, 0, {count});
  vector_add({.x = sum, .y = part_of<T>(part_.all, 0, {count}), .z = sum}, stream_);
}

template <class T>
void DeviceMember<T>::backward(int start, int end) {
  const std::int64_t b = batch_, n = n_, closed = end - 1 - start;
  const std::vector<T> none(trace_.size());
  std::vector<T> of_level = none, of_fast = none, of_slow = none, of_d = none;
  tail_gradient_.assign(tail_.size(), T(0));
  for (int t = end - 1; t >= first_head; --t) {
    const bool imagined = t >= start, inner = t + 1 < end;
    if (imagined && inner) {
      matmul({.a = part_of<T>(closed_of_head_, (t - start) * b * head, {b, head}),
              .b = weights_.of_state,
              .y = part_of<T>(of_state_, 0, {b, n})},
             stream_);
      gru_gradient({.x = block_x(t, start),
                    .h = before(t, start),
                    .states = after(t, start),
                    .grad_states = of_state_,
                    .grad_x = of_x_},
                   t + 2 == end);
      down(host_, of_x_);
    }
    for (std::size_t w = 0; w < std::size_t(batch_); ++w) {
      const std::size_t here = std::size_t(t) * std::size_t(batch_) + w;
      of_d[w] = 0;
      if (imagined) {
        const auto x = [&](std::size_t i) { return inner ? host_[w * inputs + i] : T(0); };
        const T fast = of_fast[w] + 10 * x(2), slow = of_slow[w] + 5 * x(3);
        of_level[w] += x(0) - 10 * x(2) - 5 * x(3) + LossTrace<T>::fast * fast + LossTrace<T>::slow * slow +
                       huber_slope(level_[here] - target_[here], closed_ * weight_[here] / T(batch_));
        of_fast[w] = (1 - LossTrace<T>::fast) * fast, of_slow[w] = (1 - LossTrace<T>::slow) * slow;
        of_d[w] = of_level[w] + 10 * x(1);
      }
      if (t <= start)
        of_d[w] += huber_slope(next_[here - std::size_t(batch_)] + change_[here] - target_[here],
                               weight_[here] / T(batch_ * start));
    }
    head_gradient(t, of_d);
    if (t <= start) continue;
    const auto from = a_.begin() + std::ptrdiff_t(t) * b * head;
    sent_.assign(from, from + std::ptrdiff_t(b) * head);
    up(part_of<T>(closed_of_head_, (t - start - 1) * b * head, {b, head}), sent_);
  }
  of_read_.assign(std::size_t(b * start * head), T(0));
  for (int t = first_head; t <= start; ++t)
    for (int w = 0; w < batch_; ++w)
      std::copy_n(&a_[at(t, w) * head], head,
                  &of_read_[(std::size_t(w) * std::size_t(start) + std::size_t(t) - 1) * head]);
  const Tensor of_head = part_of<T>(of_head_, 0, {b * start, head});
  up(of_head, of_read_);
  matmul({.a = of_head, .b = weights_.of_state, .y = part_of<T>(of_states_, 0, {b * start, n})}, stream_);
  gru_gradient({.x = part_of<T>(x_, 0, {b, start, inputs}),
                .h = zero_,
                .states = part_of<T>(states_, 0, {b, start, n}),
                .grad_states = part_of<T>(of_states_, 0, {b, start, n}),
                .grad_x = part_of<T>(of_read_x_, 0, {b, start, inputs})},
               false);
  matmul({.a = of_head,
          .b = part_of<T>(states_, 0, {b * start, n}),
          .y = gradient_.of_state,
          .transpose_a = true},
         stream_);
  matmul({.a = part_of<T>(closed_of_head_, 0, {closed * b, head}),
          .b = part_of<T>(closed_states_, 0, {closed * b, n}),
          .y = part_.of_state,
          .transpose_a = true},
         stream_);
  vector_add({.x = gradient_.of_state, .y = part_.of_state, .z = gradient_.of_state}, stream_);
  up(gradient_.tail, tail_gradient_);
  stream_.fill(part_of<T>(gradient_.bias_hh, 0, {2 * n}), 0);  // those of r and z stay 0
}

template <class T>
void DeviceMember<T>::update(std::span<const Windows::Window> places, int start, double rate) {
  const int end = std::min(window, start + ahead);
  load(places, start);
  forward(start, end);
  backward(start, end);
  dot_product({.x = gradient_.all, .y = gradient_.all, .dot = norm_}, stream_);
  down(host_, norm_);
  host_ = {T(clip_scale(double(host_[0])))};
  if (host_[0] < 1) {
    up(scale_, host_);
    elementwise_multiply({.x = gradient_.all, .y = scale_, .z = gradient_.all}, stream_);
  }
  adamw_step({.gradient = gradient_.all,
              .parameters = weights_.all,
              .first_moment = first_,
              .second_moment = second_,
              .rate = rate,
              .weight_decay = decay_,
              .step = ++steps_},
             stream_);
  down(tail_, weights_.tail);
}

template class DeviceMember<float>;
template class DeviceMember<double>;

}  // namespace kolmo::predict
