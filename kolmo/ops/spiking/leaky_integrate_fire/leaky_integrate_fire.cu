#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "kolmo/device/async.cuh"
#include "kolmo/device/spread.cuh"
#include "kolmo/ops/spiking/leaky_integrate_fire/neuron.hpp"
#include "kolmo/skeleton/steps.cuh"

namespace kolmo {
namespace {
using A = LeakyIntegrateFireArgs;

// Of a block: as many warps take steps, and as many move, as a multiprocessor has schedulers.
constexpr int leaky_neurons = 128, leaky_group = 32;
/// Groups that are read ahead: f64 has no room for more in the 99 KB of some GPUs.
template <class T>
constexpr int leaky_ahead = sizeof(T) == 4 ? 4 : 2;

template <class T>
struct LeakyGroups {
  alignas(16) T input[leaky_ahead<T> + 1][leaky_group][leaky_neurons];
  alignas(16) unsigned fires[2][leaky_neurons];  ///< a bit for each step of a group
};

/// A neuron in a group of steps. Each step waits for the one before it, so what follows from both of its ends, whether the
/// neuron leaks or not, is computed before it is known which one it is.
template <class T>
struct LeakyStepper {
  T v;
  unsigned waits;  ///< steps of the group, and after it, in which the neuron waits
  T next, held;    ///< the potential after the step if it leaks, and that at which it waits
  unsigned fires;

  /// Whether it waits at another potential than that after a spike, as only one can that has not fired yet.
  __device__ bool waits_elsewhere(const LeakyNeuron<T>& f) const { return waits > 0 && !(held == f.reset); }
  template <bool Elsewhere>
  __device__ void step(const LeakyNeuron<T>& f, unsigned k, T goal) {
    const bool active = waits <= k, above = next > f.threshold, leaks = active && !above;
    if (active && above) waits = unsigned(f.wait) + k + 1, fires |= 1u << k;
    if (Elsewhere && active) held = f.reset;
    const T other = Elsewhere ? held : f.reset, of_leak = f.next(next, goal), of_other = f.next(other, goal);
    v = leaks ? next : other;
    next = leaks ? of_leak : of_other;
  }
};

template <int W>
__device__ Pack<bool, W> first_bytes(unsigned word) {
  using Word =
      std::conditional_t<W == 4, std::uint32_t, std::conditional_t<W == 2, std::uint16_t, std::uint8_t>>;
  return std::bit_cast<Pack<bool, W>>(Word(word));
}

/// All steps of the neurons of a block. As there may be too few threads to hide the time of a read, one half of them takes the
/// steps, a neuron each, and the other brings currents to shared memory, groups of steps ahead, and writes the spikes of the
/// group before: of W neighbours at once. A thread that steps has the goals of a group in registers, and computes there those
/// of the next group as it goes.
template <class T, int W>
__global__ void __launch_bounds__(2 * leaky_neurons) leaky_steps(cuda::EarlyStart early, LeakyNeuron<T> f) {
  constexpr int width = W * int(sizeof(T)) < 16 ? W : 16 / int(sizeof(T));  // of currents copied at once
  auto& [input, fires_of] = *cuda::dynamic_shared<LeakyGroups<T>>();
  const int lane = int(threadIdx.x) % leaky_neurons;
  const bool moves = threadIdx.x >= leaky_neurons;
  const std::int64_t groups = (f.steps + leaky_group - 1) / leaky_group;
  early.wait();
  const auto steps_of = [&](std::int64_t group) {
    return int(std::min<std::int64_t>(leaky_group, f.steps - group * leaky_group));
  };
  for (std::int64_t first = std::int64_t(blockIdx.x) * leaky_neurons; first < f.neurons;
       first += std::int64_t(gridDim.x) * leaky_neurons) {
    const int there = int(std::min<std::int64_t>(leaky_neurons, f.neurons - first));
    // work(whether the group has all its steps, and the block all its neurons)
    const auto with_all = [&](std::int64_t group, const auto& work) {
      if (there == leaky_neurons && steps_of(group) == leaky_group)
        work(std::true_type());
      else
        work(std::false_type());
    };
    const auto fetch = [&](std::int64_t group) {
      constexpr int across = leaky_neurons / width, at_once = leaky_neurons / across;
      using Copied = Pack<T, width>;
      const int i = lane % across * width, k = lane / across, steps = steps_of(group);
      T* const to = &input[unsigned(group) % (leaky_ahead<T> + 1)][k][i];
      const T* from = f.current + (group * leaky_group + k) * f.neurons + first + i;
      const std::int64_t next = at_once * f.neurons;
      with_all(group, [&](auto all) {
#pragma unroll 8
        for (int j = 0; j < leaky_group; j += at_once, from += next) {
          const bool given = all || (i < there && k + j < steps);  // zeros behind the last step and neuron
          cuda::copy_async(reinterpret_cast<Copied*>(to + j * leaky_neurons),
                           reinterpret_cast<const Copied*>(given ? from : f.current), given);
        }
      });
      cuda::commit_copies();
    };
    const auto write = [&](std::int64_t group) {
      constexpr int across = leaky_neurons / W, at_once = leaky_neurons / across, each = 8;
      const int i = lane % across * W, steps = steps_of(group);
      const auto fires = load_pack<W>(&fires_of[group % 2][i]);
      with_all(group, [&](auto all) {
#pragma unroll
        for (int from = 0; from < leaky_group; from += at_once * each) {
          const int k = from + lane / across * each;
          unsigned spikes = 0;  // of `each` steps: those of a neuron in each byte
#pragma unroll
          for (int w = 0; w < W; ++w) spikes |= (fires.value[w] >> k & 0xff) << 8 * w;
          bool* to = f.spike + (group * leaky_group + k) * f.neurons + first + i;
#pragma unroll
          for (int j = 0; j < each; ++j, to += f.neurons)
            if (all || (i < there && k + j < steps)) store_pack(to, first_bytes<W>(spikes >> j & 0x01010101));
        }
      });
    };
    const auto goal = [&](std::int64_t group, unsigned k) {
      return f.goal(input[unsigned(group) % (leaky_ahead<T> + 1)][k][lane]);
    };
    if (moves) {
#pragma unroll 1
      for (int group = 0; group < leaky_ahead<T>; ++group) fetch(group);
      cuda::wait_copies<leaky_ahead<T> - 2>();
    }
    __syncthreads();
    LeakyStepper<T> neuron{};
    T goals[leaky_group];
    const auto read = [&](std::int64_t group) {
#pragma unroll
      for (unsigned k = 0; k < leaky_group; ++k) goals[k] = goal(group, k);
    };
    if (!moves) {
      if (lane < there) {
        neuron.v = f.potential[first + lane];
        neuron.waits = unsigned(std::max(f.waiting[first + lane], 0));
      }
      read(0);
      neuron.next = f.next(neuron.v, goals[0]), neuron.held = neuron.v;
    }
    for (std::int64_t group = 0; group <= groups; ++group) {
      if (moves) {
        fetch(group + leaky_ahead<T>);
        if (group > 0) write(group - 1);
        cuda::wait_copies<leaky_ahead<T> - 2>();
      } else if (group < groups) {
        const auto taken = unsigned(steps_of(group));
        neuron.fires = 0;
        if (taken == leaky_group && !__any_sync(~0u, neuron.waits_elsewhere(f))) {
#pragma unroll
          for (unsigned k = 0; k < leaky_group; ++k) {
            goals[k] = goal(group + 1, k);
            neuron.template step<false>(f, k, goals[(k + 1) % leaky_group]);
          }
          neuron.held = f.reset;
        } else {
#pragma unroll 1
          for (unsigned k = 0; k < taken; ++k)
            neuron.template step<true>(f, k, k + 1 < taken ? goal(group, k + 1) : goal(group + 1, 0));
          read(group + 1);
        }
        fires_of[group % 2][lane] = neuron.fires;
        neuron.waits = neuron.waits > taken ? neuron.waits - taken : 0;
      }
      __syncthreads();
    }
    cuda::wait_copies<0>();
    if (!moves && lane < there) {
      f.potential[first + lane] = neuron.v;
      f.waiting[first + lane] = std::int32_t(neuron.waits);
    }
  }
}

/// Few steps by packs of 16 bytes; many one neuron by one, so that there are more threads.
void launch(const A& a, Arena, Stream& s, int) {
  visit<double, float>(a.current.dtype, [&]<class T> {
    const LeakyPacks<T, pack_width<T>> packs(a);
    if (packs.steps < leaky_group && packs.fits()) return cuda::do_step(packs, s);
    const auto start = [&](auto kernel) {
      cuda::launch_spread(kernel, cuda::blocks(packs.neurons, leaky_neurons), 2 * leaky_neurons,
                          sizeof(LeakyGroups<T>), s, LeakyNeuron<T>(a));
    };
    packs.fits() ? start(leaky_steps<T, pack_width<T>>) : start(leaky_steps<T, 1>);
  });
}

}  // namespace

extern constinit const Impl<A> leaky_integrate_fire_cuda{{.launch = launch}};

}  // namespace kolmo
