#include <iterator>

#include "kolmo/ops/recurrent/gru_sequences/resident.cuh"
#include "kolmo/ops/recurrent/gru_sequences/side_by_side.cuh"
#include "kolmo/skeleton/each_team.cuh"
#include "kolmo/skeleton/item_steps.cuh"

namespace kolmo {
namespace {
using Forward = GruForwardArgs;
using Rollout = RssmRolloutArgs;
using PairOfRanks = cuda::BlockRanks<2, 256>;
using ClusterRanks = cuda::ClusterRanks<512>;
using SmallClusterRanks = cuda::ClusterRanks<256>;  // each of its threads may use twice as many registers
using GridRanks = cuda::GridRanks<256>;
using HeldInGrid = cuda::Held<1, 32>;

enum class Way { block, cluster, registers, grid, steps, side };
struct Plan {
  Way way;
  int ranks;
};
constexpr Row<Plan> plans[] = {
    {"weights in a block", {Way::block, 2}},
    {.name = "weights in a cluster of 8", .config = {Way::cluster, 8}, .hardware_only = true},
    {.name = "weights in a cluster of 16", .config = {Way::cluster, 16}, .hardware_only = true},
    {.name = "weights in registers of a cluster", .config = {Way::registers, 16}, .hardware_only = true},
    {.name = "weights in registers of 128 blocks", .config = {Way::grid, 128}, .hardware_only = true},
    {.name = "step by step", .config = {Way::steps, 1}, .naive = true},
};
/// The ways of a rollout: those of gru_forward, and plans side by side.
constexpr Row<Plan> rollout_plans[] = {
    plans[0],
    plans[1],
    plans[2],
    plans[3],
    plans[4],
    plans[5],
    {"plans side by side in a block", {Way::side, 1}},
    {.name = "plans side by side in a cluster of 8", .config = {Way::side, 8}, .hardware_only = true},
};
constexpr int side_in_block = 6, side_in_cluster = 7;
constexpr int in_block = 0, small_cluster = 1, large_cluster = 2, in_registers = 3, in_grid = 4,
              step_by_step = 5;
constexpr std::size_t block_limit = 64 * 1024;  // shared memory that every GPU has
constexpr std::size_t cluster_limit = 227 * 1024;
constexpr std::int64_t most_units = 2048;    // a unit has 3 n weights, which must fit
constexpr std::int64_t most_in_grid = 1024;  // 8 units for each block, one for each of its warps
constexpr std::int64_t many = 128;  // from this number of sequences on, matrix products have enough rows
constexpr std::int64_t few = 8;     // clusters of 16 for so many sequences run at once

/// If the registers of a cluster of 16 can hold the weights of n units, calls f.operator()<Ranks, Hold>() for
/// the way they do. Returns whether they can.
template <class T, class F>
bool visit_held(std::int64_t n, const F& f) {
  if (n <= 256) return f.template operator()<ClusterRanks, cuda::Held<1, 8>>(), true;
  if constexpr (!std::is_same_v<T, double>)
    if (n <= 512) return f.template operator()<SmallClusterRanks, cuda::Held<4, 16>>(), true;
  return false;
}

template <class T>
std::size_t shared_bytes(std::int64_t n, const Plan& p) {
  const bool block = p.way == Way::block;
  const int threads = block                ? PairOfRanks::threads
                      : p.way == Way::grid ? GridRanks::threads
                                           : ClusterRanks::threads;
  return cuda::Share(n, p.ranks, threads, p.way == Way::registers || p.way == Way::grid).template bytes<T>() *
         std::size_t(block ? p.ranks : 1);
}

/// Whether clusters of this size can run with all of the shared memory. The device is asked once.
template <class T, class Job>
bool device_has_clusters(int device, int size) {
  static const bool of_8 = cuda::clusters_fit(device, cuda::run_resident<T, ClusterRanks, Job>, 8,
                                              ClusterRanks::block, cluster_limit);
  static const bool of_16 = cuda::clusters_fit(device, cuda::run_resident<T, ClusterRanks, Job>, 16,
                                               ClusterRanks::block, cluster_limit);
  return size == 8 ? of_8 : of_16;
}
template <class T, class Job, class Ranks, class Hold>
bool device_holds(int device) {
  static const bool holds =
      cuda::clusters_fit(device, cuda::run_resident<T, Ranks, Job, Hold>, 16, Ranks::block, block_limit);
  return holds;
}
/// Whether a grid can hold n units. It cannot for double, since blocks exchange words that hold a float each.
template <class T>
bool grid_holds(std::int64_t n) {
  return !std::is_same_v<T, double> && n <= most_in_grid;
}
template <class T, class Job>
bool device_runs_grid(int device) {
  if constexpr (std::is_same_v<T, double>) {
    return false;
  } else {
    static const bool runs =
        cuda::blocks_together(device, cuda::run_resident<T, GridRanks, Job, HeldInGrid>, GridRanks::block,
                              shared_bytes<T>(most_in_grid, plans[in_grid].config)) >=
        plans[in_grid].config.ranks;
    return runs;
  }
}
template <class T, class Job>
bool resident_fits(std::int64_t n, const Plan& p, Device device) {
  if (p.way == Way::steps) return true;
  if (n > most_units) return false;
  if (p.way == Way::registers) {
    bool holds = false;
    visit_held<T>(n,
                  [&]<class Ranks, class Hold> { holds = device_holds<T, Job, Ranks, Hold>(device.index); });
    return holds;
  }
  if (p.way == Way::grid) return grid_holds<T>(n) && device_runs_grid<T, Job>(device.index);
  if (p.way == Way::block) return shared_bytes<T>(n, p) <= block_limit;
  return shared_bytes<T>(n, p) <= cluster_limit && device_has_clusters<T, Job>(device.index, p.ranks);
}
/// Chooses the way with the fewest ranks that hold the weights. Few sequences keep them in registers. So many
/// sequences that matrix products are faster are computed step by step.
template <class T>
int preferred_plan(std::int64_t n, std::int64_t sequences) {
  if (n > most_units) return step_by_step;
  if (shared_bytes<T>(n, plans[in_block].config) <= block_limit) return in_block;
  if (sequences >= many) return step_by_step;
  if (sequences <= few && visit_held<T>(n, [&]<class Ranks, class Hold> {})) return in_registers;
  if (shared_bytes<T>(n, plans[small_cluster].config) <= cluster_limit) return small_cluster;
  if (shared_bytes<T>(n, plans[large_cluster].config) <= cluster_limit) return large_cluster;
  return sequences <= few && grid_holds<T>(n) ? in_grid : step_by_step;
}

/// The words through which the blocks of a grid exchange values, for three exchanges.
Tensor take_words(Arena& arena, const Tensor& h, const Plan& p) {
  const std::int64_t count = p.way == Way::grid ? 3 * h.dim(-1) : 0;
  return tensor(arena.take<std::uint64_t>(count), {count}, h.device);
}

template <class T, class Job>
void run_resident(const Job& job, std::int64_t n, bool before, std::int64_t sequences, const Plan& p,
                  const Tensor& words, Stream& s) {
  const std::size_t shared = shared_bytes<T>(n, p);
  if (p.way == Way::block)
    cuda::launch(cuda::run_resident<T, PairOfRanks, Job>, cuda::blocks(sequences, 1, 1 << 10),
                 PairOfRanks::block, shared, cuda::native(s), job, n, before, PairOfRanks{});
  else if (p.way == Way::registers)
    visit_held<T>(n, [&]<class Ranks, class Hold> {
      cuda::launch_clusters(cuda::run_resident<T, Ranks, Job, Hold>, p.ranks,
                            cuda::blocks(sequences, 1, many), Ranks::block, shared, cuda::native(s), job, n,
                            before, Ranks{});
    });
  else if (p.way == Way::grid) {
    if constexpr (!std::is_same_v<T, double>) {
      s.fill(words, 0);
      cuda::launch_together(cuda::run_resident<T, GridRanks, Job, HeldInGrid>, unsigned(p.ranks),
                            GridRanks::block, shared, cuda::native(s), job, n, before,
                            GridRanks{words.as<std::uint64_t>()});
    }
  } else
    cuda::launch_clusters(cuda::run_resident<T, ClusterRanks, Job>, p.ranks, cuda::blocks(sequences, 1, many),
                          ClusterRanks::block, shared, cuda::native(s), job, n, before, ClusterRanks{});
}

struct CudaTeams {
  Stream& stream;
  template <class F>
  void operator()(const F& f) const {
    constexpr int threads = 128;
    cuda::launch(cuda::do_team_items<threads, F>, unsigned(cuda::teams(f)), threads, 0, cuda::native(stream),
                 f, static_cast<double*>(nullptr), f.items());
  }
};

void forward(const Forward& a, Arena arena, Stream& s, int row) {
  const Plan& p = plans[row].config;
  visit<double, float, Half, BFloat16>(a.h.dtype, [&]<class T> {
    if (p.way == Way::steps) return forward_by_steps<T>(a, arena, s, cuda::ItemSteps{s});
    const Tensor words = take_words(arena, a.h, p);
    const GateProduct u = input_product(arena, a);
    const std::int64_t n = a.h.dim(-1), batch = a.h.size() / n;
    const bool before = a.reset == GruReset::before;
    if (a.x.dim(-2)) u.run(arena, s);
    run_resident<T>(
        cuda::ForwardJob<T>{u.result<Compute<T>>(), a.h.as<T>(), a.weight_hh.as<T>(), a.bias_hh.as<T>(),
                            a.states.as<T>(), a.last.as<T>(), n, a.x.dim(-2), batch, before},
        n, before, batch, p, words, s);
  });
}
void lay_forward(Arena& arena, const Forward& a, const Site& site) {
  const Plan& p = plans[site.row].config;
  if (p.way == Way::steps) return ForwardSteps(arena, a).lay(arena, site);
  take_words(arena, a.h, p);
  input_product(arena, a).lay(arena, site);
}

using OneRank = cuda::BlockRanks<1, cuda::side_threads>;
using SideRanks = cuda::ClusterRanks<cuda::side_threads>;

/// Whether ranks have room for the units, and the rollout has nothing that they do not compute.
bool side_holds(const Rollout& a, int ranks) {
  const std::int64_t n = a.h.dim(-1);
  return a.h.dtype == DType::f32 && !a.sample && !a.weight_latent.given() && a.loss.dim(-1) > 0 &&
         n >= ranks && (!a.controls.given() || a.controls.dim(-1) <= cuda::side_controls) &&
         n <= ranks * cuda::side_units && a.head_stochastic.dim(-1) <= n &&
         cuda::SideMemory::bytes(n) <= cluster_limit;
}
/// Returns the number of groups of ranks that run at once on a device.
int side_at_once(int device, int ranks, std::int64_t n) {
  if (ranks == 1)
    return cuda::block_may_have(device, cuda::SideMemory::bytes(n)) ? cuda::multiprocessors(device) : 0;
  static const int clusters =
      cuda::clusters_at_once(device, cuda::run_side_by_side<SideRanks>, 8, cuda::side_threads, cluster_limit);
  return clusters;
}
/// Few plans without planned inputs are faster one by one.
constexpr std::int64_t few_plans = 4;

void run_side(const cuda::SideJob& job, int ranks, Stream& s) {
  const std::size_t shared = cuda::SideMemory::bytes(job.size.n);
  const unsigned groups = cuda::blocks(job.size.members * job.parts, 1, many);
  if (ranks == 1)
    cuda::launch(cuda::run_side_by_side<OneRank>, groups, cuda::side_threads, shared, cuda::native(s), job,
                 OneRank{});
  else
    cuda::launch_clusters(cuda::run_side_by_side<SideRanks>, ranks, groups, cuda::side_threads, shared,
                          cuda::native(s), job, SideRanks{});
}

void rollout(const Rollout& a, Arena arena, Stream& s, int row) {
  const Plan& p = rollout_plans[row].config;
  const cuda::ItemSteps each{s};
  visit<double, float>(a.h.dtype, [&]<class T> {
    if (p.way == Way::steps) return rollout_by_steps<T>(a, arena, s, each, CudaTeams{s});
    const Tensor words = take_words(arena, a.h, p);
    const RolloutInput w(arena, a);
    const MemberInput<T> in = w.prepare<T>(a, arena, s, each);
    const bool before = a.reset == GruReset::before;
    if (p.way == Way::side) {
      if constexpr (std::is_same_v<T, float>) {
        run_side(
            {w.size, in.u, in.slope, in.loss, a.h.as<T>(), a.weight_hh.as<T>(), a.bias_hh.as<T>(),
             a.head_hidden.as<T>(), a.head_stochastic.as<T>(), a.controls.as<T>(), a.weight_controls.as<T>(),
             a.controls.given() ? int(a.controls.dim(-1)) : 0, RolloutOutputs<T>(a), a.last.as<T>(), before,
             cuda::side_parts(w.size, side_at_once(a.h.device.index, p.ranks, w.size.n))},
            p.ranks, s);
      }
      return each(Summary<T>(w.size, a));
    }
    run_resident<T>(cuda::RolloutJob<T>{w.size, in.u, in.slope, in.loss, a.h.as<T>(), a.weight_hh.as<T>(),
                                        a.bias_hh.as<T>(), a.head_hidden.as<T>(), a.head_stochastic.as<T>(),
                                        RolloutOutputs<T>(a), a.last.as<T>(), before},
                    w.size.n, before, w.size.rows, p, words, s);
    each(Summary<T>(w.size, a));
  });
}
void lay_rollout(Arena& arena, const Rollout& a, const Site& site) {
  const Plan& p = rollout_plans[site.row].config;
  if (p.way == Way::steps) return RolloutSteps(arena, a).lay(arena, site);
  take_words(arena, a.h, p);
  RolloutInput(arena, a).lay(arena, site);
}

/// Calls f.operator()<T, Job>() for the element type of the arguments.
template <class F>
void visit_job(const Forward& a, const F& f) {
  visit<double, float, Half, BFloat16>(a.h.dtype,
                                       [&]<class T> { f.template operator()<T, cuda::ForwardJob<T>>(); });
}
template <class F>
void visit_job(const Rollout& a, const F& f) {
  visit<double, float>(a.h.dtype, [&]<class T> { f.template operator()<T, cuda::RolloutJob<T>>(); });
}
/// Whether only the way step by step computes what is asked for.
bool needs_steps(const Forward&) { return false; }
bool needs_steps(const Rollout& a) { return RolloutSteps::changes(a) || a.sample; }
template <class A>
bool fits(const A& a, int row) {
  const Plan& p = rollout_plans[row].config;
  bool fit = false;
  if constexpr (std::is_same_v<A, Rollout>)
    if (p.way == Way::side)
      return side_holds(a, p.ranks) && side_at_once(a.h.device.index, p.ranks, a.h.dim(-1)) > 0;
  if (p.way != Way::steps && needs_steps(a)) return false;
  visit_job(a, [&]<class T, class Job> { fit = resident_fits<T, Job>(a.h.dim(-1), p, a.h.device); });
  return fit;
}
template <class A>
int preferred(const A& a) {
  const std::int64_t n = a.h.dim(-1), sequences = n ? a.h.size() / n : 0;
  if constexpr (std::is_same_v<A, Rollout>) {
    const bool side = a.controls.given() || (sequences >= few_plans * a.h.dim(-2) && n > cuda::side_units);
    if (side && side_holds(a, 1)) return side_in_block;
    if (side && side_holds(a, 8)) return side_in_cluster;
  }
  if (needs_steps(a)) return step_by_step;
  int row = 0;
  visit_job(a, [&]<class T, class Job> { row = preferred_plan<T>(n, sequences); });
  return row;
}

}  // namespace

extern constinit const Impl<Forward> gru_forward_cuda{{.rows = plans,
                                                       .launch = forward,
                                                       .lay = lay_forward,
                                                       .fits = fits<Forward>,
                                                       .preferred = preferred<Forward>}};
extern constinit const Impl<Rollout> rssm_rollout_cuda{{.rows = rollout_plans,
                                                        .launch = rollout,
                                                        .lay = lay_rollout,
                                                        .fits = fits<Rollout>,
                                                        .preferred = preferred<Rollout>}};

}  // namespace kolmo
