#pragma once
#include "kolmo/base/ksg.hpp"
#include "kolmo/op/op.hpp"

namespace kolmo {

struct KsgConditionalMutualInformationArgs {
  In x{}, y{};
  OptIn z{}, set{}, segments{}, streams{};
  Out value{};
  OptOut local{};
  std::int64_t k = 4, theiler = 0, surrogates = 0, block_length = 0, seed = 0;
  KsgAlgorithm algorithm = KsgAlgorithm::ksg1;
  SurrogateType surrogate_type = SurrogateType::permute;

  static constexpr auto fields() {
    using A = KsgConditionalMutualInformationArgs;
    return std::tuple{
        Field{"x", &A::x, "b n dx", reals,
              "samples of b alternatives for x, each tested against the same y and z"},
        Field{"y", &A::y, "n dy", reals, "samples of y"},
        Field{"z", &A::z, "n dz", reals, "samples of the condition; without it the result is I(x;y)"},
        Field{"set", &A::set, "n", DTypes::of(DType::i32),
              "observation set (trial) of each row; default one set"},
        Field{"segments", &A::segments, "t1", DTypes::of(DType::i64),
              "offsets of t = t1 - 1 independent problems, from 0 to n, not decreasing; default one problem"},
        Field{"streams", &A::streams, "t b", DTypes::of(DType::i64),
              "random stream of each problem and alternative; default counts them; equal streams shuffle "
              "alike"},
        Field{"value", &A::value, "t b e", DTypes::of(DType::f64),
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

/// Conditional mutual information I(x;y|z) in nats by k nearest neighbours in the maximum norm, of the data
/// and of surrogates in which only the rows of x are rearranged.
///   ksg1: psi(k) + < psi(n_z+1) - psi(n_xz+1) - psi(n_yz+1) >, counts strictly nearer than the k-th
///   neighbour ksg2: psi(k) - 2/k + < psi(n_z) - psi(n_xz) + 1/n_xz - psi(n_yz) + 1/n_yz >, counts within the
///   rectangle
///         the k neighbours span (of equally near ones, the lower rows)
/// Without z: ksg1 psi(k) + psi(n) - < psi(n_x+1) + psi(n_y+1) >, ksg2 psi(k) - 1/k + psi(n) - < psi(n_x) +
/// psi(n_y) >. Each problem needs more than k + 2 theiler rows; at most 16 columns each; f64, or f32 at 1e-5
/// to 4e-3 of error (ties). Counts are exact and summed as integers: same bits on every device and number of
/// threads. Sources: Kraskov et al. 2004; Frenzel, Pompe, PRL 99, 204101 (2007); Wibral et al. (2014) for
/// ksg2.
extern const Op<KsgConditionalMutualInformationArgs> ksg_conditional_mutual_information;

}  // namespace kolmo
