#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct KalmanFilterStepArgs {
  In x, covariance, z, transition, process_noise, observation, measurement_noise;
  OptIn control;
  Out x_next, covariance_next;
  OptOut innovation, gain, log_likelihood;

  static constexpr auto fields() {
    using A = KalmanFilterStepArgs;
    constexpr Domain spd = Domain::symmetric_positive_definite;
    return std::array{
        field<&A::x>("x", "... n", reals, "state"),
        field<&A::covariance>("covariance", "... n n", reals, "P, covariance of the state", spd),
        field<&A::z>("z", "... m", reals, "measurement"),
        field<&A::transition>("transition", "...? n n", reals, "F"),
        field<&A::process_noise>("process_noise", "...? n n", reals, "Q", spd),
        field<&A::observation>("observation", "...? m n", reals, "H"),
        field<&A::measurement_noise>("measurement_noise", "...? m m", reals, "R", spd),
        field<&A::control>("control", "... n", reals, "B u, added to the predicted state"),
        field<&A::x_next>("x_next", "... n", reals, "state after the measurement"),
        field<&A::covariance_next>("covariance_next", "... n n", reals, "its covariance"),
        field<&A::innovation>("innovation", "... m", reals, "y, measurement less prediction"),
        field<&A::gain>("gain", "... n m", reals, "K"),
        field<&A::log_likelihood>("log_likelihood", "...", DTypes::of(DType::f64),
                                  "of the measurement, in nats"),
    };
  }
};

/// One step of a Kalman filter: prediction, then update by a measurement of any dimension.
///   x- = F x + B u,  P- = F P F' + Q,  y = z - H x-,  S = H P- H' + R = L L',  K = P- H' S^-1
///   x = x- + K y,    P = (I - K H) P- (I - K H)' + K R K'  (Joseph's form)
///   log-likelihood = -(y' S^-1 y + ln det S + m ln 2 pi) / 2
/// F, Q, H and R are given once or for each filter of the batch. f64 or f32; computed in double and rounded
/// once; P is symmetric to the bit. In f32 variances are then greater by n + 1 units of 2^-24, relative: that
/// outweighs the rounding of the elements, so P stays positive definite. Only the upper triangles of Q, R and
/// P are read. Outputs may be inputs of the same shape. Fault: S that is not positive definite. Same bits
/// from run to run.
/// Sources: Kalman 1960; Bucy & Joseph 1968.
extern const Op<KalmanFilterStepArgs> kalman_filter_step;

}  // namespace kolmo
