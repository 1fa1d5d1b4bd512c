#pragma once
#include <cmath>

#include "kolmo/op/op.hpp"

namespace kolmo {

struct AdamwStepArgs {
  In gradient;
  InOut parameters, first_moment, second_moment;
  double rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0.01;
  std::int64_t step = 1;

  static constexpr auto fields() {
    using A = AdamwStepArgs;
    return std::array{
        field<&A::gradient>("gradient", "...", reals, "g, gradient of the loss by each parameter"),
        field<&A::parameters>("parameters", "...", reals, "w, before and after the step"),
        field<&A::first_moment>("first_moment", "...", reals, "m, average of gradients; 0 before step 1"),
        field<&A::second_moment>("second_moment", "...", reals,
                                 "v, average of squared gradients; 0 before step 1", Domain::positive),
        option<&A::rate>("rate", 0, unlimited, "learning rate of this step").no_matter_for_speed(),
        option<&A::beta1>("beta1", 0, 1, "decay of first_moment; below 1").no_matter_for_speed(),
        option<&A::beta2>("beta2", 0, 1, "decay of second_moment; below 1").no_matter_for_speed(),
        option<&A::epsilon>("epsilon", 0, unlimited, "added to the root of second_moment")
            .no_matter_for_speed(),
        option<&A::weight_decay>("weight_decay", 0, unlimited, "share of w that a rate of 1 would take away")
            .no_matter_for_speed(),
        option<&A::step>("step", 1, 1'000'000'000'000, "number t of this step, from 1").no_matter_for_speed(),
    };
  }
};

/// A step of AdamW over flat buffers, which are updated in place:
///   w <- w (1 - rate weight_decay)
///   m <- m + (1 - beta1) (g - m),   v <- beta2 v + (1 - beta2) g^2
///   w <- w - rate / (1 - beta1^t) m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
/// This is torch.optim.AdamW. All are of one shape and one dtype of f64, f32, in which all is computed; the factors that depend
/// on the options alone are computed in double and rounded once. Same bits on every device. An infinite or NaN gradient makes
/// its parameter NaN.
/// Source: Loshchilov & Hutter, ICLR 2019.
extern const Op<AdamwStepArgs> adamw_step;

/// Updates a parameter and its moments.
template <class T>
struct AdamwParameter {
  const T* gradient;
  T *parameters, *first, *second;
  std::int64_t count;
  T kept, first_share, second_kept, second_share, rate, root, epsilon;

  explicit AdamwParameter(const AdamwStepArgs& a)
      : gradient(a.gradient.as<T>()),
        parameters(a.parameters.as<T>()),
        first(a.first_moment.as<T>()),
        second(a.second_moment.as<T>()),
        count(a.parameters.size()),
        kept(T(1 - a.rate * a.weight_decay)),
        first_share(T(1 - a.beta1)),
        second_kept(T(a.beta2)),
        second_share(T(1 - a.beta2)),
        rate(T(a.rate / (1 - std::pow(a.beta1, double(a.step))))),
        root(T(std::sqrt(1 - std::pow(a.beta2, double(a.step))))),
        epsilon(T(a.epsilon)) {}
  std::int64_t items() const { return count; }
  KOLMO_HD void operator()(std::int64_t i) const {
    const T g = gradient[i];
    const T m = exact_add(first[i], exact_mul(first_share, exact_add(g, -first[i])));
    const T v = exact_add(exact_mul(second_kept, second[i]), exact_mul(second_share, exact_mul(g, g)));
    const T by = exact_add(std::sqrt(v) / root, epsilon);
    first[i] = m, second[i] = v;
    parameters[i] = exact_add(exact_mul(parameters[i], kept), -exact_mul(rate, m / by));
  }
};

}  // namespace kolmo
