#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct TimeDelayedEmbeddingArgs {
  In x;
  Out embedded;
  std::int64_t dimension = 2, tau = 1;

  static constexpr auto fields() {
    using A = TimeDelayedEmbeddingArgs;
    return std::array{
        field<&A::x>("x", "... n", floats, "series, evenly sampled"),
        field<&A::embedded>("embedded", "... rows dimension", floats, "delay vectors, newest sample first"),
        option<&A::dimension>("dimension", 1, 65536, "m, samples in a row"),
        option<&A::tau>("tau", 1, 1'000'000'000, "samples between neighbours in a row"),
    };
  }
};

/// Row r holds [x_t, x_{t-tau}, ..., x_{t-(m-1) tau}] with t = (m-1) tau + r, for each of the rows = n -
/// (m-1) tau times whose samples all exist; m is `dimension`. A series too short for one row is refused with
/// InvalidArgument. Values are copied: NaN and infinities are allowed, and every device gives the same bits.
/// Source: Takens, Detecting strange attractors in turbulence, 1981.
extern const Op<TimeDelayedEmbeddingArgs> time_delayed_embedding;

}  // namespace kolmo
