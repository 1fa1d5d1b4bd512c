#pragma once
#include <algorithm>
#include <array>

#include "kolmo/knn/ksg.hpp"
#include "kolmo/op/field.hpp"

namespace kolmo {

/// The fields of a KSG operator: its own, followed by the options common to all of them.
template <class A, std::size_t N>
constexpr auto with_ksg_options(const std::array<FieldInfo, N>& own) {
  const FieldInfo shared[] = {
      option<&A::k>("k", 1, 64, "number of nearest neighbours"),
      option<&A::theiler>("theiler", 0, 1'000'000'000,
                          "rows whose times differ by at most this are no neighbours"),
      option<&A::surrogates>("surrogates", 0, 1'000'000,
                             "surrogates of x (of the source) to estimate beside the observed data"),
      option<&A::block_length>("block_length", 0, 1'000'000'000,
                               "rows of a block, and of a trial for trials; 0: sqrt(n)")
          .no_matter_for_speed(),
      option<&A::min_shift>("min_shift", 1, 1'000'000'000, "shortest shift of circular surrogates")
          .no_matter_for_speed(),
      option<&A::seed>("seed", "seed of the surrogates"),
      option<&A::algorithm>("algorithm", "estimator"),
      option<&A::surrogate_type>("surrogate_type", "how surrogates are made"),
  };
  std::array<FieldInfo, N + std::size(shared)> all{};
  std::copy(std::begin(shared), std::end(shared), std::copy(own.begin(), own.end(), all.begin()));
  return all;
}

/// Copies these options from one operator's arguments to another's.
template <class To, class From>
void copy_ksg_options(To& to, const From& from) {
  to.k = from.k, to.theiler = from.theiler, to.surrogates = from.surrogates;
  to.block_length = from.block_length, to.min_shift = from.min_shift, to.seed = from.seed;
  to.algorithm = from.algorithm, to.surrogate_type = from.surrogate_type;
}
template <class A>
SurrogateOptions surrogate_options(const A& a) {
  SurrogateOptions o{a.surrogate_type, a.block_length, a.min_shift, a.seed};
  if constexpr (requires { a.first; }) o.first = a.first;
  return o;
}

/// Throws unless n rows can be cut into the blocks that the surrogates need.
template <class A>
void require_blocks(std::string_view op, const A& a, std::int64_t n) {
  const bool blocks = a.surrogate_type == SurrogateType::block || a.surrogate_type == SurrogateType::trials;
  if (blocks && a.surrogates && a.block_length >= n)
    fail<InvalidArgument>(std::string(op) + ": block_length = " + std::to_string(a.block_length) + " of " +
                          std::to_string(n) + " rows leaves no other order of the blocks");
  if (a.surrogate_type == SurrogateType::trials && a.block_length == 0)
    fail<InvalidArgument>(std::string(op) + ": surrogates of trials need block_length, the rows of a trial");
}

/// Floating-point operations of the distances to the k neighbours of n points of `columns` columns, for b
/// alternatives and their surrogates. The cost of the search depends on the data and is not counted.
template <class A>
double ksg_flops(const A& a, std::int64_t b, std::int64_t n, std::int64_t columns) {
  return double(b) * double(1 + a.surrogates) * double(n) * double(a.k) * (2 * double(columns) + 3);
}

}  // namespace kolmo
