#pragma once
#include "kolmo/knn/ksg_options.hpp"
#include "kolmo/op/op.hpp"

namespace kolmo {

struct KsgConditionalMutualInformationArgs {
  In x{}, y{};
  OptIn z{}, time{}, segments{}, streams{}, min_shifts{};
  Out value{};
  OptOut local{};
  std::int64_t k = 4, theiler = 0, surrogates = 0, block_length = 0, min_shift = 1, first = 0;
  std::uint64_t seed = 0;
  KsgAlgorithm algorithm = KsgAlgorithm::ksg1;
  SurrogateType surrogate_type = SurrogateType::permute;

  static constexpr auto fields() {
    using A = KsgConditionalMutualInformationArgs;
    return with_ksg_options<A>(std::array{
        field<&A::x>("x", "b n dx", reals,
                     "samples of b alternatives for x, each tested against the same y and z"),
        field<&A::y>("y", "n dy", reals, "samples of y"),
        field<&A::z>("z", "n dz", reals, "samples of the condition; without it the result is I(x;y)"),
        field<&A::time>("time", "n", DTypes::of(DType::i64),
                        "time of each row, ascending, for the Theiler window; default 0, 1, 2, ...",
                        Domain::ascending)
            .no_matter_for_speed(),
        field<&A::segments>(
            "segments", "t1", DTypes::of(DType::i64),
            "offsets of t = t1 - 1 independent problems, from 0 to n, not decreasing; default one problem")
            .offsets_to("n"),
        field<&A::streams>(
            "streams", "t b", DTypes::of(DType::i64),
            "random stream of each problem and alternative; default counts them; equal streams shuffle "
            "alike",
            Domain::count)
            .no_matter_for_speed(),
        field<&A::min_shifts>("min_shifts", "t b", DTypes::of(DType::i64),
                              "min_shift of each problem and alternative; default the option; below 1 is 1",
                              Domain::count)
            .no_matter_for_speed(),
        field<&A::value>("value", "t b e", DTypes::of(DType::f64),
                         "estimates in nats: of the observed data, then of surrogates; or from `first` on"),
        field<&A::local>("local", "b n", DTypes::of(DType::f64),
                         "local values of the observed data, in nats"),
        option<&A::first>("first", 0, 1'000'000'000,
                          "number of the first estimate: 0 is the observed data, s surrogate s")
            .no_matter_for_speed(),
    });
  }
};

/// Conditional mutual information I(x;y|z) in nats by k nearest neighbours in the maximum norm, of the data
/// and of surrogates in which only the rows of x are rearranged. < > is the mean over the n points:
///   ksg1              psi(k) + < psi(n_z+1) - psi(n_xz+1) - psi(n_yz+1) >
///   ksg2              psi(k) - 2/k + < psi(n_z) - psi(n_xz) + 1/n_xz - psi(n_yz) + 1/n_yz >
///   ksg1 without z    psi(k) + psi(n) - < psi(n_x+1) + psi(n_y+1) >
///   ksg2 without z    psi(k) - 1/k + psi(n) - < psi(n_x) + psi(n_y) >
/// ksg1 counts points strictly nearer than the k-th neighbour. ksg2 counts points within the rectangle that
/// the k neighbours span. Of equally near neighbours those of lower rows are taken.
///
/// Surrogate s depends on its stream and on s alone: estimates first ... first + surrogates are those of a whole call.
///
/// Each problem needs more than k + 2 theiler rows. x, y and z have at most 16 columns each. Computed in f64,
/// or in f32 with errors of 1e-5 to 4e-3 (ties). Counts are exact and summed as integers: same bits on every
/// device and for every number of threads.
///
/// Values that are not finite, segments that do not ascend from 0 to n, and problems with too few rows are
/// reported when the stream is synchronised (Stream::synchronize); the estimates of such a problem are NaN.
/// Sources: Kraskov et al. (2004); Frenzel, Pompe, PRL 99, 204101 (2007); Wibral et al. (2014) for ksg2.
extern const Op<KsgConditionalMutualInformationArgs> ksg_conditional_mutual_information;

}  // namespace kolmo
