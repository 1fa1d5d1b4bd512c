#include "kolmo/device/row_tile.cuh"
#include "kolmo/op/impl.hpp"
#include "kolmo/ops/random/top_k_sampling/sampling_row.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {
using A = TopKSamplingArgs;

/// A block of threads computes a row; its teams are its warps.
struct BlockGroup {
  static constexpr int threads = 512, lanes = 32, teams = threads / lanes, digit_bits = 11;
  int thread, lane, team;
  using Memory = SamplingMemory<threads, teams, digit_bits>;
  Memory& memory;
  const std::uint64_t* weights;
  __device__ void sync() const { __syncthreads(); }
  template <class C>
  __device__ C largest(C value) const {
    return cuda::combine<threads>(value, cuda::Larger());
  }
  /// Adds in two halves, since shared memory adds 32 bits by one instruction, but 64 bits by a loop.
  __device__ void add(std::uint64_t* sum, std::uint64_t value) const {
    auto* const half = reinterpret_cast<unsigned*>(sum);
    const auto low = static_cast<unsigned>(value);
    const unsigned carry = low && atomicAdd(half, low) > ~low;
    if (const unsigned high = static_cast<unsigned>(value >> 32) + carry) atomicAdd(half + 1, high);
  }
  __device__ std::uint64_t before(std::uint64_t value) const {
    std::uint64_t sum = value;
#pragma unroll
    for (int step = 1; step < lanes; step *= 2) {
      const auto other = __shfl_up_sync(~0u, static_cast<unsigned long long>(sum), step);
      if (lane >= step) sum += other;
    }
    return sum - value;
  }
  __device__ std::uint64_t team_sum(std::uint64_t value) const {
    return cuda::warp_sum(static_cast<unsigned long long>(value));
  }
  /// Walks over packs at multiples of their size, and over single elements before and behind them.
  template <int packs, class T, class F>
  __device__ void walk(const T* row, int begin, int end, int first, int step, const F& f) const {
    // Packs of 8 elements, each with much work, would take too many registers.
    constexpr int width = packs == 1 && pack_width < T >> 4 ? 4 : pack_width<T>;
    const auto past = int(reinterpret_cast<std::uintptr_t>(row + begin) / sizeof(T) % width);
    const int n = end - begin, skipped = past ? width - past : 0, head = skipped < n ? skipped : n;
    const int packed = (n - head) / width * width, tail = n - head - packed;
#pragma unroll 1
    for (int e = first; e < head + tail; e += step) {
      const int i = begin + (e < head ? e : e + packed);
      f(i, row[i]);
    }
    const int from = begin + head, to = from + packed;
#pragma unroll 1
    for (int i = from + first * width; i < to; i += packs * step * width) {
      Pack<T, width> pack[packs];
#pragma unroll
      for (int p = 0; p < packs; ++p) {
        const int at = i + p * step * width;
        pack[p] = load_pack<width>(row + (at < to ? at : i));
      }
#pragma unroll
      for (int p = 0; p < packs; ++p)
        if (const int at = i + p * step * width; at < to)
#pragma unroll
          for (int w = 0; w < width; ++w) f(at + w, pack[p].value[w]);
    }
  }
};

/// A list of words that includes all that may be drawn. It has at most one word for each thread of a block.
template <class T>
struct FewWords {
  using Keys = SamplingKey<T>;
  using Key = typename Keys::Key;
  static constexpr int most = BlockGroup::threads;
  Key key[most];
  int number[most];
  int count;

  /// Makes the list. A row with no more words than threads is listed as a whole. Of a longer row, words are
  /// listed whose keys are at least the top_k-th of the threads' largest ones, so that the top_k largest are
  /// among them. Returns false if these are too many. All threads must call it.
  __device__ bool find(const BlockGroup& g, const T* row, int v, std::int64_t top_k, Key largest) {
    // Only so many bits of the bound are found: it may be somewhat lower than necessary.
    constexpr int known_bits = Keys::bits < 22 ? Keys::bits : 22;
    Key bound = 0;
    if (v > most) {
      if (top_k == 0 || top_k > most / 2) return false;
      for (int bit = Keys::bits - 1; bit >= Keys::bits - known_bits; --bit) {
        const Key higher = bound | Key(1) << bit;
        if (__syncthreads_count(largest >= higher) >= top_k) bound = higher;
      }
    }
    if (g.thread == 0) count = 0;
    __syncthreads();
    g.walk<4>(row, 0, v, g.thread, g.threads, [&](int i, T x) {
      const Key k = Keys::of(x);
      if (k < bound) return;
      if (const int place = atomicAdd(&count, 1); place < most) key[place] = k, number[place] = i;
    });
    __syncthreads();
    return count <= most;
  }
  /// Draws from the list. Thread t computes the rank and the weight of word t, by comparing it with all
  /// others.
  __device__ void draw(const A& a, const BlockGroup& g, const SamplingRow<T, BlockGroup>& words,
                       const Philox& philox, std::int64_t first, std::int64_t* index,
                       double* probability) const {
    const int own = g.thread, words_count = count;
    std::uint64_t *const weights = g.memory.weights, *const starts = g.memory.sums,
                         *const order = g.memory.ties;
    const bool some = own < words_count;
    const Key my_key = some ? key[own] : 0;
    const int my_number = some ? number[own] : 0;
    const auto each = [&](const auto& f) {
      if (some)
        for (int other = 0; other < words_count; ++other) f(other);
    };
    const auto precedes = [&](int other) {
      return key[other] > my_key || (key[other] == my_key && number[other] < my_number);
    };

    int rank = 0;
    if (a.top_k > 0) each([&](int other) { rank += precedes(other); });
    const bool in_top_k = some && (a.top_k == 0 || rank < a.top_k);
    std::uint64_t weight = in_top_k ? words.weight(Keys::value(my_key)) : 0;
    weights[own] = weight;
    __syncthreads();
    if (a.top_p != 1) {
      std::uint64_t above = 0, total = 0;
      each([&](int other) { total += weights[other], above += precedes(other) ? weights[other] : 0; });
      if (above >= sampling_share(a.top_p, total)) weight = 0;
      __syncthreads();
      weights[own] = weight;
      __syncthreads();
    }
    std::uint64_t start = 0;
    int place = 0;
    each([&](int other) {
      if (number[other] < my_number) start += weights[other], ++place;
    });
    if (some) starts[place] = start, order[place] = std::uint64_t(own);
    __syncthreads();
    const auto last = int(order[words_count - 1]);
    const std::uint64_t total = starts[words_count - 1] + weights[last];
    for (std::int64_t j = g.thread; j < a.n; j += g.threads) {
      const std::uint64_t at = sampled(philox, std::uint64_t(first + j), total);
      // Finds the last word that begins at or below `at`. Its weight is not 0.
      int low = 0, high = words_count - 1;
      while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (starts[middle] <= at)
          low = middle;
        else
          high = middle - 1;
      }
      const auto drawn = int(order[low]);
      index[j] = number[drawn];
      if (probability) probability[j] = double(weights[drawn]) / double(total);
    }
  }
};

template <class T>
__global__ void __launch_bounds__(BlockGroup::threads, 2)
    sample_rows(A a, std::int64_t rows, int v, const std::uint64_t* weights, Status status) {
  __shared__ BlockGroup::Memory shared;
  __shared__ FewWords<T> few;
  const int thread = int(threadIdx.x);
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const BlockGroup group{thread, thread % 32, thread / 32, shared, weights ? weights + row * v : nullptr};
    sample_row<T>(a, group, row, v, status,
                  [&](const auto& words, Compute<T> own, const Philox& philox, std::int64_t first,
                      std::int64_t* index, double* probability) {
                    const T* const logits = static_cast<const T*>(a.logits.data) + row * v;
                    if (!few.find(group, logits, v, a.top_k, SamplingKey<T>::of(T(own)))) return false;
                    few.draw(a, group, words, philox, first, index, probability);
                    return true;
                  });
    __syncthreads();
  }
}

/// Memory for the weights of a few long rows, which are computed by many blocks before words are drawn.
template <class T>
struct StoredWeights {
  using C = Compute<T>;
  static constexpr int threads = 256, blocks = 128;  ///< blocks that share a row
  C* largest = nullptr;                              ///< largest logit of each block
  std::uint64_t* weights = nullptr;

  StoredWeights(Arena& arena, const A& a) {
    const std::int64_t v = a.logits.dim(-1), rows = a.n ? a.index.size() / a.n : 0;
    if (rows > 64 || v <= 8192 || rows * v > 1 << 23 || (a.top_k > 0 && a.top_k <= FewWords<T>::most / 2))
      return;
    largest = arena.take<C>(rows * blocks), weights = arena.take<std::uint64_t>(rows * v);
  }
};
template <class T>
__global__ void find_largest(const T* logits, int v, Compute<T>* largest) {
  constexpr int threads = StoredWeights<T>::threads;
  const T* const row = logits + std::int64_t(blockIdx.y) * v;
  Compute<T> most = -std::numeric_limits<Compute<T>>::infinity();
  for (int i = int(blockIdx.x * threads + threadIdx.x); i < v; i += int(gridDim.x) * threads)
    most = cuda::Larger()(Compute<T>(row[i]), most);
  most = cuda::combine<threads>(most, cuda::Larger());
  if (threadIdx.x == 0) largest[blockIdx.y * gridDim.x + blockIdx.x] = most;
}
template <class T>
__global__ void store_weights(const T* logits, int v, double temperature, const Compute<T>* largest,
                              std::uint64_t* weights) {
  constexpr int threads = StoredWeights<T>::threads;
  const std::int64_t begin = std::int64_t(blockIdx.y) * v;
  Compute<T> most = -std::numeric_limits<Compute<T>>::infinity();
  if (threadIdx.x < gridDim.x) most = largest[blockIdx.y * gridDim.x + threadIdx.x];
  most = cuda::combine<threads>(most, cuda::Larger());
  for (int i = int(blockIdx.x * threads + threadIdx.x); i < v; i += int(gridDim.x) * threads)
    weights[begin + i] = sampling_weight(double(Compute<T>(logits[begin + i])), double(most), temperature);
}

void launch(const A& a, Arena arena, Stream& s, int) {
  visit<double, float, Half, BFloat16>(a.logits.dtype, [&]<class T> {
    const std::int64_t rows = a.n ? a.index.size() / a.n : 0;
    const StoredWeights<T> stored(arena, a);
    if (stored.weights) {
      const dim3 grid(unsigned(stored.blocks), unsigned(rows));
      const T* const logits = a.logits.as<T>();
      const int v = int(a.logits.dim(-1));
      cuda::launch(find_largest<T>, grid, stored.threads, 0, cuda::native(s), logits, v, stored.largest);
      cuda::launch(store_weights<T>, grid, stored.threads, 0, cuda::native(s), logits, v, a.temperature,
                   stored.largest, stored.weights);
    }
    cuda::launch(sample_rows<T>, cuda::blocks(rows, 1), BlockGroup::threads, 0, cuda::native(s), a, rows,
                 int(a.logits.dim(-1)), stored.weights, s.status());
  });
}

void lay(Arena& arena, const A& a, const Site&) {
  visit<double, float, Half, BFloat16>(a.logits.dtype, [&]<class T> { StoredWeights<T>(arena, a); });
}

}  // namespace

extern constinit const Impl<A> top_k_sampling_cuda{{.launch = launch, .lay = lay}};

}  // namespace kolmo
