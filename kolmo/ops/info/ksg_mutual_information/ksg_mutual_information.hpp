#pragma once
#include "kolmo/knn/ksg_options.hpp"
#include "kolmo/op/op.hpp"

namespace kolmo {

struct KsgMutualInformationArgs {
  In x{}, y{};
  OptIn time{};
  Out value{};
  OptOut local{};
  std::int64_t k = 4, theiler = 0, surrogates = 0, block_length = 0, min_shift = 1;
  std::uint64_t seed = 0;
  KsgAlgorithm algorithm = KsgAlgorithm::ksg1;
  SurrogateType surrogate_type = SurrogateType::permute;

  static constexpr auto fields() {
    using A = KsgMutualInformationArgs;
    return with_ksg_options<A>(std::array{
        field<&A::x>("x", "b n dx", reals, "samples of b alternatives for x, each tested against the same y"),
        field<&A::y>("y", "n dy", reals, "samples of y"),
        field<&A::time>("time", "n", DTypes::of(DType::i64),
                        "time of each row, ascending, for the Theiler window; default 0, 1, 2, ...",
                        Domain::ascending)
            .no_matter_for_speed(),
        field<&A::value>("value", "b e", DTypes::of(DType::f64),
                         "estimates in nats: observed, then surrogates"),
        field<&A::local>("local", "b n", DTypes::of(DType::f64),
                         "local values of the observed data, in nats"),
    });
  }
};

/// Mutual information I(x;y) in nats by k nearest neighbours in the maximum norm. < > is the mean over the n
/// points:
///   ksg1    psi(k) + psi(n) - < psi(n_x+1) + psi(n_y+1) >
///   ksg2    psi(k) - 1/k + psi(n) - < psi(n_x) + psi(n_y) >
/// Equal to ksg_conditional_mutual_information without a condition; its contract defines counts, limits and
/// errors.
/// Source: Kraskov, Stoegbauer, Grassberger, Phys. Rev. E 69, 066138 (2004).
extern const Op<KsgMutualInformationArgs> ksg_mutual_information;

}  // namespace kolmo
