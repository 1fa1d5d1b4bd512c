#include "kolmo/device/async.cuh"
#include "kolmo/ops/spiking/leaky_integrate_fire/neuron.hpp"
#include "kolmo/skeleton/steps.cuh"

namespace kolmo {
namespace {
using A = LeakyIntegrateFireArgs;

constexpr int leaky_block = 64, leaky_group = 16, leaky_groups = 5;

/// All steps of a neuron by a thread. The currents of the next groups of steps are on their way to shared memory, as there
/// may be too few threads to hide the time of a read.
template <class T>
__global__ void __launch_bounds__(leaky_block) leaky_steps(cuda::EarlyStart early, LeakyNeuron<T> f) {
  __shared__ T ring[leaky_groups][leaky_group][leaky_block];
  early.wait();
  for (std::int64_t i = cuda::thread_index(); i < f.neurons; i += cuda::thread_count()) {
    const T* from = f.current + i;
    bool* to = f.spike + i;
    std::int64_t fetched = 0;
    int slot = 0, filled = 0;
    const auto fetch = [&] {
      T* const line = &ring[filled][0][threadIdx.x];
      const auto copy = [&](int k) {
        cuda::copy_async(line + k * leaky_block, from, true);
        from += f.neurons;
      };
      if (fetched + leaky_group <= f.steps) {
#pragma unroll
        for (int k = 0; k < leaky_group; ++k) copy(k);
      } else {
#pragma unroll 1
        for (int k = 0; fetched + k < f.steps; ++k) copy(k);
      }
      cuda::commit_copies();
      fetched += leaky_group, filled = (filled + 1) % leaky_groups;
    };
    T v = f.potential[i];
    // Steps of the present group, and after it, in which the neuron waits.
    auto waits = unsigned(f.waiting[i] > 0 ? f.waiting[i] : 0);
#pragma unroll 1
    for (int g = 1; g < leaky_groups; ++g) fetch();
    for (std::int64_t t = 0; t < f.steps; t += leaky_group) {
      fetch();
      cuda::wait_copies<leaky_groups - 1>();
      const T* const line = &ring[slot][0][threadIdx.x];
      const auto step = [&](int k) {
        const T next = f.next(v, line[k * leaky_block]);
        const bool active = waits <= unsigned(k), fires = active && next > f.threshold;
        if (active) v = fires ? f.reset : next;
        if (fires) waits = unsigned(f.wait) + unsigned(k + 1);
        *to = fires, to += f.neurons;
      };
      const int taken = t + leaky_group <= f.steps ? leaky_group : int(f.steps - t);
      if (taken == leaky_group) {
#pragma unroll
        for (int k = 0; k < leaky_group; ++k) step(k);
      } else {
#pragma unroll 1
        for (int k = 0; k < taken; ++k) step(k);
      }
      waits = waits > unsigned(taken) ? waits - unsigned(taken) : 0;
      slot = (slot + 1) % leaky_groups;
    }
    f.potential[i] = v, f.waiting[i] = std::int32_t(waits);
  }
}

/// Few steps by packs of 16 bytes; many one neuron by one, so that there are more threads.
void launch(const A& a, Arena, Stream& s, int) {
  visit<double, float>(a.current.dtype, [&]<class T> {
    const LeakyPacks<T, pack_width<T>> packs(a);
    if (packs.steps < 2 * leaky_group && packs.fits()) return cuda::do_step(packs, s);
    cuda::launch_early(leaky_steps<T>, cuda::blocks(packs.neurons, leaky_block), leaky_block, 0,
                       cuda::native(s), LeakyNeuron<T>(a));
  });
}

}  // namespace

extern constinit const Impl<A> leaky_integrate_fire_cuda{{.launch = launch}};

}  // namespace kolmo
