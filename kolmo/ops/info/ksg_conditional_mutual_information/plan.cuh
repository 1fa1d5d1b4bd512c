#pragma once
// The part of the plan that all variants for GPUs have in common.
#include "kolmo/base/arena.hpp"
#include "kolmo/knn/ksg.cuh"
#include "kolmo/ops/info/ksg_conditional_mutual_information/ksg_conditional_mutual_information.hpp"

namespace kolmo {
namespace {

constexpr int threads = 256;  // of a block, where a thread has a row

inline int columns_of(const Tensor& t) { return t.given() ? int(t.extent[std::size_t(t.rank - 1)]) : 0; }

/// Lays out what every variant needs. An arena without memory only counts its bytes.
template <class T>
cuda::KsgPlan<T> plan_of(const KsgConditionalMutualInformationArgs& a, Arena& arena) {
  const auto n = std::size_t(a.y.extent[0]);
  cuda::KsgPlan<T> p{};
  p.n = a.y.extent[0], p.b = a.x.extent[0], p.e = 1 + a.surrogates;
  p.t = int(a.segments.given() ? a.segments.extent[0] - 1 : 1);
  p.dx = columns_of(a.x), p.dy = columns_of(a.y), p.dz = columns_of(a.z), p.k = int(a.k),
  p.theiler = a.theiler;
  p.first_kind = a.algorithm == KsgAlgorithm::ksg1;
  p.time = a.time.as<std::int64_t>();
  p.streams = a.streams.as<std::int64_t>(), p.surrogate_options = surrogate_options(a);
  p.min_shifts = a.min_shifts.as<std::int64_t>();
  p.source_x = a.x.as<T>(), p.source_y = a.y.as<T>(), p.source_z = a.z.as<T>();
  p.value = a.value.as<double>(), p.local = a.local.as<double>();
  p.sort.n = p.n;
  if (a.segments.given()) {
    p.segments = p.offsets = arena.take<std::int64_t>(std::size_t(p.t) + 1);
    p.sort.group = p.group = arena.take<std::int32_t>(n);
  }
  p.terms = arena.take<PsiTerm>(n + 1);
  p.sums = arena.take<PsiSum>(std::size_t(p.t) * std::size_t(p.b * p.e));
  p.constants = arena.take<double>(std::size_t(p.t));
  return p;
}

}  // namespace
}  // namespace kolmo
