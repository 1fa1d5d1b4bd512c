#pragma once
#include "kolmo/base/ksg.hpp"
#include "kolmo/op/op.hpp"

namespace kolmo {

struct KsgMutualInformationArgs {
  In x{}, y{};
  OptIn set{};
  Out value{};
  OptOut local{};
  std::int64_t k = 4, theiler = 0, surrogates = 0, block_length = 0, seed = 0;
  KsgAlgorithm algorithm = KsgAlgorithm::ksg1;
  SurrogateType surrogate_type = SurrogateType::permute;

  static constexpr auto fields() {
    using A = KsgMutualInformationArgs;
    return std::tuple{
        Field{"x", &A::x, "b n dx", reals, "samples of b alternatives for x, each tested against the same y"},
        Field{"y", &A::y, "n dy", reals, "samples of y"},
        Field{"set", &A::set, "n", DTypes::of(DType::i32),
              "observation set (trial) of each row; default one set"},
        Field{"value", &A::value, "b e", DTypes::of(DType::f64),
              "estimates in nats: observed, then surrogates"},
        Field{"local", &A::local, "b n", DTypes::of(DType::f64),
              "local values of the observed data, in nats"},
        Option{"k", &A::k, 1, 64, "number of nearest neighbours"},
        Option{"theiler", &A::theiler, 0, 1e9, "rows this near in time in the same set are no neighbours"},
        Option{"surrogates", &A::surrogates, 0, 1e6, "surrogates of x to estimate beside the observed data"},
        Option{"block_length", &A::block_length, 0, 1e9, "rows in a block of block surrogates; 0: sqrt(n)"},
        Option{"seed", &A::seed, 0, 9e15, "seed of the surrogates"},
        Choice{"algorithm", &A::algorithm, ksg_algorithm_names, "estimator"},
        Choice{"surrogate_type", &A::surrogate_type, surrogate_type_names, "how surrogates are made"},
    };
  }
};

/// Mutual information I(x;y) in nats by k nearest neighbours in the maximum norm:
///   ksg1: psi(k) + psi(n) - < psi(n_x+1) + psi(n_y+1) >, ksg2: psi(k) - 1/k + psi(n) - < psi(n_x) + psi(n_y)
///   >.
/// The same as ksg_conditional_mutual_information without a condition; see there for conventions.
/// Source: Kraskov, Stoegbauer, Grassberger, Phys. Rev. E 69, 066138 (2004).
extern const Op<KsgMutualInformationArgs> ksg_mutual_information;

struct KsgConditionalMutualInformationArgs;
/// The same problem without a condition.
KsgConditionalMutualInformationArgs unconditional(const KsgMutualInformationArgs& args);

}  // namespace kolmo
