#include <algorithm>

#include "kolmo/device/async.cuh"
#include "kolmo/ops/spiking/leaky_integrate_fire/neuron.hpp"
#include "kolmo/skeleton/steps.cuh"

namespace kolmo {
namespace {
using A = LeakyIntegrateFireArgs;

// In a block, as many warps take steps as a multiprocessor has schedulers, and as many copy currents and
// spikes.
constexpr int leaky_neurons = 128, leaky_group = 16, leaky_ahead = 4;

template <class T>
struct LeakyGroups {
  T input[leaky_ahead + 1][leaky_group][leaky_neurons];
  unsigned waits[2][leaky_group + 1][leaky_neurons];  ///< before each step, and after the last
};

/// Takes all steps of the neurons of a block. One half of the threads takes the steps, a neuron each. As there may be too few
/// threads to hide the time of a read, the other half copies currents to shared memory, groups of steps ahead, and writes the
/// spikes of the group before.
template <class T>
__global__ void __launch_bounds__(2 * leaky_neurons) leaky_steps(LeakyNeuron<T> f) {
  auto& [input, waits_of] = *cuda::dynamic_shared<LeakyGroups<T>>();
  const int lane = int(threadIdx.x) % leaky_neurons;
  const bool moves = threadIdx.x >= leaky_neurons;
  const std::int64_t groups = (f.steps + leaky_group - 1) / leaky_group;
  for (std::int64_t first = std::int64_t(blockIdx.x) * leaky_neurons; first < f.neurons;
       first += std::int64_t(gridDim.x) * leaky_neurons) {
    const std::int64_t i = first + lane;
    const bool there = i < f.neurons;
    // Calls step(k) for the steps of a group.
    const auto each_step = [&](std::int64_t group, auto&& step) {
      if (const std::int64_t left = f.steps - group * leaky_group; left >= leaky_group) {
#pragma unroll
        for (int k = 0; k < leaky_group; ++k) step(k);
      } else {
#pragma unroll 1
        for (int k = 0; k < left; ++k) step(k);
      }
    };
    const auto fetch = [&](std::int64_t group) {
      T* const to = &input[unsigned(group) % (leaky_ahead + 1)][0][lane];
      const T* from = f.current + group * leaky_group * f.neurons + i;
      const std::int64_t left = f.steps - group * leaky_group;
      if (left > 0)
#pragma unroll
        // Behind the last step and neuron, zeros are copied.
        for (int k = 0; k < leaky_group; ++k, from += f.neurons)
          cuda::copy_async(to + k * leaky_neurons, from, there && k < left);
      cuda::commit_copies();
    };
    // Writes the spikes of a group. A neuron fires in a step that changes how long it waits.
    const auto write = [&](std::int64_t group) {
      const auto* const waits = &waits_of[group % 2][0][lane];
      bool* to = f.spike + group * leaky_group * f.neurons + i;
      if (there)
        each_step(group, [&](int k) {
          *to = waits[k * leaky_neurons] != waits[(k + 1) * leaky_neurons], to += f.neurons;
        });
    };
    if (moves) {
#pragma unroll 1
      for (int group = 0; group < leaky_ahead; ++group) fetch(group);
      cuda::wait_copies<leaky_ahead - 1>();
    }
    T v = there ? f.potential[i] : T(0);
    // The number of steps that the neuron waits, counted from the begin of the group.
    auto waits = unsigned(there && f.waiting[i] > 0 ? f.waiting[i] : 0);
    for (std::int64_t group = 0; group <= groups; ++group) {
      __syncthreads();
      if (moves) {
        fetch(group + leaky_ahead);
        if (group > 0) write(group - 1);
        cuda::wait_copies<leaky_ahead - 1>();
      } else if (group < groups) {
        const auto taken = unsigned(std::min<std::int64_t>(leaky_group, f.steps - group * leaky_group));
        T now[leaky_group];
#pragma unroll
        for (int k = 0; k < leaky_group; ++k) now[k] = input[unsigned(group) % (leaky_ahead + 1)][k][lane];
        __syncwarp();  // otherwise ptxas moves each read to where its value is used
        waits_of[group % 2][0][lane] = waits;
#pragma unroll
        for (unsigned k = 0; k < leaky_group; ++k) {
          const T next = f.next(v, f.goal(now[k]));
          const bool active = waits <= k && k < taken, fires = active && next > f.threshold;
          if (active) v = fires ? f.reset : next;
          waits = fires ? unsigned(f.wait) + k + 1 : waits;
          waits_of[group % 2][k + 1][lane] = waits;
        }
        waits = waits > taken ? waits - taken : 0;
      }
    }
    if (!moves && there) f.potential[i] = v, f.waiting[i] = std::int32_t(waits);
  }
}

/// Few steps are taken by a thread for each pack of 16 bytes, many by a thread for each neuron, so that there are more threads.
void launch(const A& a, Arena, Stream& s, int) {
  visit<double, float>(a.current.dtype, [&]<class T> {
    const LeakyPacks<T, pack_width<T>> packs(a);
    if (packs.steps < 2 * leaky_group && packs.fits()) return cuda::do_step(packs, s);
    cuda::launch(leaky_steps<T>, cuda::blocks(packs.neurons, leaky_neurons), 2 * leaky_neurons,
                 sizeof(LeakyGroups<T>), cuda::native(s), LeakyNeuron<T>(a));
  });
}

}  // namespace

extern constinit const Impl<A> leaky_integrate_fire_cuda{{.launch = launch}};

}  // namespace kolmo
