#pragma once
#include "kolmo/base/activation.hpp"
#include "kolmo/op/op.hpp"

namespace kolmo {

struct BatchNormArgs {
  In x;
  OptIn scale, shift;
  InOut running_mean, running_variance;
  Out y;
  OptOut mean, rstd;
  double eps = 1e-5, momentum = 0.1;
  bool training = false;
  Activation activation = Activation::none;

  static constexpr auto fields() {
    using A = BatchNormArgs;
    constexpr DTypes f64 = DTypes::of(DType::f64);
    return std::array{
        field<&A::x>("x", "n c ...", floats, "a batch of n, with c channels"),
        field<&A::scale>("scale", "c", floats, "factor of each channel, 1 if left out"),
        field<&A::shift>("shift", "c", floats, "summand of each channel, 0 if left out"),
        field<&A::running_mean>("running_mean", "c", f64, "running mean of each channel"),
        field<&A::running_variance>("running_variance", "c", f64, "running variance of each channel",
                                    Domain::positive),
        field<&A::y>("y", "n c ...", floats, "activation((x - mean) rstd scale + shift)"),
        field<&A::mean>("mean", "c", f64, "mean of each channel that was used"),
        field<&A::rstd>("rstd", "c", f64, "1 / sqrt(variance + eps) of each channel that was used"),
        option<&A::eps>("eps", 0, unlimited, "added to the variance, in units of x squared"),
        option<&A::momentum>("momentum", 0, 1, "weight of this batch in the running statistics"),
        option<&A::training>("training", "use the statistics of the batch, and update the running ones"),
        option<&A::activation>("activation", "applied to the result"),
    };
  }
};

/// Batch normalisation of each channel c over the batch and all trailing dimensions, m values in all:
///   y = activation((x - mean) rstd scale + shift),  rstd = 1 / sqrt(variance + eps)
/// training: mean = sum x / m and variance = sum (x - mean)^2 / m of the batch, m >= 2, and
///   running_mean     <- (1 - momentum) running_mean + momentum mean
///   running_variance <- (1 - momentum) running_variance + momentum variance m / (m - 1)
/// else mean and variance are the running ones, which stay as they are.
/// x, scale, shift, y: one dtype of f64, f32, f16, bf16. Statistics are sums in double of differences from the
/// channel's first value, so a large mean causes no cancellation; they have the same bits on every device.
/// The rest is f64 for f64, else f32. y may be x. The alias fused_batchnorm_relu has activation = relu.
/// Source: Ioffe & Szegedy, arXiv:1502.03167.
extern const Op<BatchNormArgs> batch_norm;
extern const Alias<BatchNormArgs> fused_batchnorm_relu;

}  // namespace kolmo
