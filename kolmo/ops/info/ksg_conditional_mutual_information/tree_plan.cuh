#pragma once
// One estimate at a time by trees. Those of y and z serve all estimates.
#include "kolmo/knn/ksg_extents.cuh"
#include "kolmo/ops/info/ksg_conditional_mutual_information/plan.cuh"
#include "kolmo/ops/info/ksg_conditional_mutual_information/trees.cuh"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {

template <class T, class S>
struct TreePlan {
  using Space = cuda::Space<T, S>;
  cuda::KsgPlan<T> p;
  std::uint64_t* key[2];
  std::uint32_t *row[2], *x_ranks, *y_ranks, *z_ranks, *mapped;
  Space joint, first, second, condition;
  cuda::Frame *x_frames, *y_frames, *z_frames;
  T *x_radius, *y_radius, *z_radius;
  std::int64_t* term;
  cudaStream_t stream;

  TreePlan(const KsgConditionalMutualInformationArgs& a, Arena& arena)
      : p(plan_of<T>(a, arena)),
        joint{},
        first{},
        second{},
        condition{},
        x_frames{},
        y_frames{},
        z_frames{},
        stream{} {
    for (int i = 0; i < 2; ++i)
      key[i] = arena.take<std::uint64_t>(p.n), row[i] = arena.take<std::uint32_t>(p.n);
    x_ranks = arena.take<std::uint32_t>(p.n * p.dx), y_ranks = arena.take<std::uint32_t>(p.n * p.dy);
    z_ranks = arena.take<std::uint32_t>(p.n * p.dz), mapped = arena.take<std::uint32_t>(p.n);
    if (Space::imaged)
      x_frames = arena.take<cuda::Frame>(p.dx), y_frames = arena.take<cuda::Frame>(p.dy),
      z_frames = arena.take<cuda::Frame>(p.dz);
    x_radius = y_radius = z_radius = arena.take<T>(p.n);
    if (!p.first_kind) y_radius = arena.take<T>(p.n), z_radius = arena.take<T>(p.n);
    term = a.local.given() ? arena.take<std::int64_t>(p.n) : nullptr;
    for (Space* s : {&first, &joint}) s->mapped = mapped, s->x_columns = p.dx, add_x(*s, p.source_x);
    for (Space* s : {&joint, &second}) s->add(p.source_y, p.dy, y_ranks, y_frames, p.n);
    for (Space* s : {&joint, &first, &second, &condition}) s->add(p.source_z, p.dz, z_ranks, z_frames, p.n);
    for (Space* s : {&joint, &first, &second, &condition}) {
      if (s->columns == 1) s->ascending = arena.take<T>(p.n);
      if (s->columns == 1 && Space::imaged) s->ascending_image = arena.take<S>(p.n);
      if (s->columns > 1) s->tree.layout(p.n, s->columns, arena);
    }
  }
  void add_x(Space& s, const T* x) const { s.add(x, p.dx, x_ranks, x_frames, p.n); }

  cuda::RowSort<std::uint64_t> sort() const { return {{key[0], key[1]}, {row[0], row[1]}, p.group, p.n, 1}; }
  unsigned over_rows() const { return cuda::blocks(p.n, threads); }

  /// Ranks some columns. If they are one, the marginal without z is searched in its order.
  void rank(const T* rows, int columns, KsgFault fault, std::uint32_t* ranks, cuda::Frame* frames,
            const Space& marginal) const {
    for (int c = 0; c < columns; ++c) {
      cuda::launch(cuda::tree_column<T>, over_rows(), threads, 0, stream, p, sort(), rows, c, columns, fault);
      sort_rows(sort(), stream);
      cuda::launch(cuda::tree_ranks<T, S>, over_rows(), threads, 0, stream, p, sort(), ranks + c * p.n,
                   frames + c, marginal.ascending, marginal.ascending_image);
    }
  }
  void build(const Space& s) const {
    cuda::select<cuda::most_tree_columns - 1>(s.columns - 2,
                                              [&]<int I> { cuda::build_space<I + 2>(s, sort(), stream); });
  }
  void count(const cuda::TreeEstimate<T>& e, const Space& s, cuda::Marginal m) const {
    const unsigned warps = cuda::blocks(joint.tree.leaves, cuda::tree_block / 32, 1u << 31);
    if (s.columns == 1)
      cuda::launch(cuda::column_count<T, S>, warps, cuda::tree_block, 0, stream, e, s, joint.tree.row, m);
    cuda::select<cuda::most_tree_columns - 2>(s.columns - 2, [&]<int I> {
      cuda::launch(cuda::tree_count<I + 2, T, S>, warps, cuda::tree_block, 0, stream, e, s, m);
    });
  }
  void find_radii(const cuda::TreeEstimate<T>& e) const {
    const unsigned warps = cuda::blocks(joint.tree.leaves, cuda::tree_block / 32, 1u << 31);
    cuda::select<cuda::most_tree_columns - 1>(joint.columns - 2, [&]<int I> {
      const auto nearest =
          p.k <= 4 ? cuda::tree_nearest<4, I + 2, T, S> : cuda::tree_nearest<16, I + 2, T, S>;
      cuda::launch(nearest, warps, cuda::tree_block, 0, stream, e, joint);
      if (!p.first_kind)
        cuda::launch(cuda::tree_extents<I + 2, T, S>, warps, cuda::tree_block, 0, stream, e, joint);
    });
  }

  void estimate(std::int64_t b, std::int64_t s) const {
    cuda::TreeEstimate<T> e{p, b * p.e + s, x_radius, y_radius, z_radius, s == 0 ? term : nullptr};
    cuda::launch(cuda::tree_map<T>, cuda::blocks(p.n, threads, 1024), threads, 0, stream, p, b, s, mapped);
    build(joint);
    if (first.columns > 1) build(first);
    find_radii(e);
    if (e.term) cuda::launch(cuda::tree_start<T>, over_rows(), threads, 0, stream, e);
    if (p.dz) count(e, condition, cuda::Marginal::condition);
    count(e, first, cuda::Marginal::first);
    count(e, second, cuda::Marginal::second);
    if (e.term) cuda::launch(cuda::tree_local<T>, over_rows(), threads, 0, stream, e);
  }

  void run(Stream& on) {
    stream = cuda::native(on), p.status = on.status();
    rank(p.source_y, p.dy, KsgFault::y, y_ranks, y_frames, second);
    rank(p.source_z, p.dz, KsgFault::z, z_ranks, z_frames, condition);
    if (second.columns > 1) build(second);
    if (condition.columns > 1) build(condition);
    for (std::int64_t b = 0; b < p.b; ++b) {
      const T* const x = p.source_x + b * p.n * p.dx;
      for (Space* s : {&first, &joint})
        for (int c = 0; c < p.dx; ++c) s->base[c] = x + c;
      rank(x, p.dx, KsgFault::x, x_ranks, x_frames, first);
      for (std::int64_t s = 0; s < p.e; ++s) estimate(b, s);
    }
  }
};

}  // namespace

template <class T, class S>
void on_cuda::lay_trees(const KsgConditionalMutualInformationArgs& a, Arena& arena) {
  TreePlan<T, S>(a, arena);
}
template <class T, class S>
void on_cuda::launch_trees(const KsgConditionalMutualInformationArgs& a, Arena arena, Stream& s) {
  TreePlan<T, S>(a, arena).run(s);
}

}  // namespace kolmo
