#pragma once
// The operator shares this with kolmo/predict: where a member's parameters are, what it keeps of the losses, and its own loss.
#include <cmath>
#include <cstddef>

#include "kolmo/base/hd.hpp"

namespace kolmo {

/// The sizes of a member of the ensemble, and where its parameters are in one array.
///   gates n, r, z, m of a unit: bias + (input' x for n, r, z) + (recurrent' h for r, z, m)
///   c = tanh(n + sigmoid(r) m);  h' = c + sigmoid(z) (h - c)          the GRU of torch.nn.GRU, whose biases of r and z are summed
///   a = head_bias + head' (h', planned);  d = (out' a sigmoid(a) + out_bias) / 10
struct MemberSizes {
  static constexpr int inputs = 8;   ///< of a block that was seen or imagined
  static constexpr int planned = 3;  ///< what is known of the next block
  static constexpr int head = 32;
  static constexpr int first_head = 5;  ///< blocks that a member reads before it predicts, in training

  int hidden = 48;

  KOLMO_HD std::ptrdiff_t input() const { return 0; }                        // inputs x 3 hidden: n, r, z
  KOLMO_HD std::ptrdiff_t recurrent() const { return inputs * 3 * hidden; }  // hidden x 3 hidden: r, z, m
  KOLMO_HD std::ptrdiff_t bias() const {
    return recurrent() + std::ptrdiff_t(3) * hidden * hidden;
  }                                                                               // 4 hidden
  KOLMO_HD std::ptrdiff_t of_state() const { return bias() + 4 * hidden; }        // hidden x head
  KOLMO_HD std::ptrdiff_t of_plan() const { return of_state() + hidden * head; }  // planned x head
  KOLMO_HD std::ptrdiff_t head_bias() const { return of_plan() + planned * head; }
  KOLMO_HD std::ptrdiff_t out() const { return head_bias() + head; }
  KOLMO_HD std::ptrdiff_t out_bias() const { return out() + head; }
  KOLMO_HD std::ptrdiff_t count() const { return out_bias() + 1; }
};

/// The state that the world model keeps of the logarithms of losses: the last one, two exponential averages, and a damped linear
/// trend (Holt), from which a prediction starts. In a rollout predictions take the place of measured losses.
template <class T>
struct LossTrace {
  static constexpr T fast = T(0.3), slow = T(0.07), damping = T(0.93);
  T level, fast_mean, slow_mean;
  T anchor, trend;  ///< where the trend is, and its change from block to block

  static LossTrace from(T first) { return {first, first, first, first, 0}; }
  /// Takes the next measured one.
  void observe(T next) {
    move_to(next);
    const T before = anchor;
    anchor = T(0.45) * next + T(0.55) * (anchor + damping * trend);
    trend = T(0.15) * (anchor - before) + T(0.85) * damping * trend;
  }
  /// Goes on from the trend, in a rollout.
  KOLMO_HD void leave() { level = anchor; }
  /// Takes a prediction: the trend goes on, and `d` is added. Returns the change.
  KOLMO_HD T imagine(T d) {
    trend *= damping;
    move_to(level + trend + d);
    return trend + d;
  }
  /// Writes the four inputs that follow from the losses, `stride` elements apart.
  KOLMO_HD void write(T change, T* x, std::ptrdiff_t stride) const {
    x[0] = level, x[stride] = 10 * change;
    x[2 * stride] = 10 * (fast_mean - level), x[3 * stride] = 5 * (slow_mean - level);
  }

 private:
  KOLMO_HD void move_to(T next) {
    level = next;
    fast_mean += fast * (next - fast_mean), slow_mean += slow * (next - slow_mean);
  }
};

/// Errors above 0.05 weigh by their size, those below by their square: the Huber loss of an error, and its derivative.
inline constexpr double huber_turn = 0.05;
template <class T>
KOLMO_HD T huber_loss(T error, T weight) {
  constexpr T turn = T(huber_turn);
  const T size = std::abs(error);
  return weight * (size < turn ? error * error / (2 * turn) : size - turn / 2);
}
template <class T>
KOLMO_HD T huber_slope(T error, T weight) {
  const T slope = error / T(huber_turn);
  return weight * (slope < T(-1) ? T(-1) : slope > T(1) ? T(1) : slope);
}

/// The factor that clips a gradient at norm `most`, given the sum of its squares.
KOLMO_HD inline double clip_scale(double squares, double most = 1) {
  const double scale = most / (std::sqrt(squares) + 1e-6);
  return scale < 1 ? scale : 1;
}

}  // namespace kolmo
