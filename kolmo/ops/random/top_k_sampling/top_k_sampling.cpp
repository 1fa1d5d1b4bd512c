#include "kolmo/ops/random/top_k_sampling/top_k_sampling.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <type_traits>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/random/top_k_sampling/block_maxima.hpp"
#include "kolmo/ops/random/top_k_sampling/sampling_row.hpp"
#include "kolmo/runtime/cpu/convert.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {
using A = TopKSamplingArgs;

void check(const A& a) {
  require(a.temperature > 0 && std::isfinite(a.temperature),
          "top_k_sampling: temperature must be above 0 and finite; top_k = 1 takes the largest logit");
  require(a.top_p > 0, "top_k_sampling: top_p must be above 0");
  require(a.index.size() == 0 || (a.logits.dim(-1) > 0 && a.logits.dim(-1) <= 1 << 22),
          "top_k_sampling: logits must have between 1 and 2^22 words");
}

struct Single {
  static constexpr int thread = 0, threads = 1, lane = 0, lanes = 1, team = 0, teams = 1, digit_bits = 8;
  using Memory = SamplingMemory<threads, teams, digit_bits>;
  Memory& memory;
  static constexpr const std::uint64_t* weights = nullptr;
  void sync() const {}
  template <class C>
  C largest(C value) const {
    return value;
  }
  void add(std::uint64_t* sum, std::uint64_t value) const { *sum += value; }
  std::uint64_t before(std::uint64_t) const { return 0; }
  std::uint64_t team_sum(std::uint64_t value) const { return value; }
  template <int, class T, class F>
  void walk(const T* row, int begin, int end, int, int, const F& f) const {
    for (int i = begin; i < end; ++i) f(i, row[i]);
  }
};

/// Memory in which a thread makes a shortlist, which leaves out most of the words that top_k excludes.
template <class T>
struct ShortlistSpace {
  using C = Compute<T>;
  std::int64_t v, blocks, most;
  C *row, *maxima, *order;  ///< `row` holds 16-bit logits as floats
  T* logits;
  std::int64_t* words;

  ShortlistSpace(Arena& arena, std::int64_t size)
      : v(size),
        blocks((size + maxima_block - 1) / maxima_block),
        most(size / 16),
        row(std::is_same_v<T, C> ? nullptr : arena.take<C>(size)),
        maxima(arena.take<C>(blocks)),
        order(arena.take<C>(blocks)),
        logits(arena.take<T>(most)),
        words(arena.take<std::int64_t>(most)) {}

  /// Finds words among which the top_k largest are, with all words of equal logits. The k-th largest of the
  /// blocks' maxima is a lower bound of their logits. Returns the number of words; 0 if the list would save
  /// nothing, or if a logit is faulty.
  std::int64_t find(const T* from, std::int64_t top_k) const {
    if (top_k == 0 || top_k > blocks / 2) return 0;
    const C* x = nullptr;
    if constexpr (std::is_same_v<T, C>)
      x = from;
    else
      widen(from, v, row), x = row;
    if (!block_maxima(x, v, maxima)) return 0;
    std::copy_n(maxima, blocks, order);
    std::nth_element(order, order + top_k - 1, order + blocks, std::greater<>());
    const C bound = order[top_k - 1];
    std::int64_t count = 0;
    for (std::int64_t b = 0; b < blocks; ++b) {
      if (maxima[b] < bound) continue;
      for (std::int64_t i = b * maxima_block, end = std::min(v, i + maxima_block); i < end; ++i) {
        if (x[i] < bound) continue;
        if (count == most) return 0;
        logits[count] = from[i], words[count] = i, ++count;
      }
    }
    return count;
  }
};

/// Draws from one row: from its shortlist if there is one, else from all words. The results are the same.
template <class T>
void sample(const A& a, const Single& group, const ShortlistSpace<T>& list, std::int64_t row,
            const Status& status) {
  const std::int64_t count = list.find(a.logits.as<T>() + row * list.v, a.top_k);
  SamplingRow<T, Single> words(group, list.logits, int(count), a.temperature);
  Compute<T> own;
  if (count == 0 || !words.measure(row, Status(), own))
    return sample_row<T>(a, group, row, int(list.v), status, [](const auto&...) { return false; });
  std::int64_t* const index = a.index.as<std::int64_t>() + row * a.n;
  words.restrict_to(a.top_k, a.top_p);
  words.draw(Philox(a.seed), a.offset + row * a.n, a.n, index,
             a.probability.given() ? a.probability.as<double>() + row * a.n : nullptr);
  for (std::int64_t j = 0; j < a.n; ++j) index[j] = list.words[index[j]];
}

template <class F>
void visit_dtype(const A& a, const F& f) {
  visit<double, float, Half, BFloat16>(a.logits.dtype, f);
}
void launch(const A& a, Arena arena, Stream& s, int) {
  visit_dtype(a, [&]<class T> {
    parallel_for(s.threads(), a.n ? a.index.size() / a.n : 0, [&](std::int64_t row, int thread) {
      Single::Memory shared;
      Arena memory = arena;
      for (int i = 0; i < thread; ++i) ShortlistSpace<T>(memory, a.logits.dim(-1));
      const ShortlistSpace<T> list(memory, a.logits.dim(-1));
      sample<T>(a, Single{shared}, list, row, s.status());
    });
  });
}
void lay(Arena& arena, const A& a, const Site& site) {
  visit_dtype(a, [&]<class T> {
    for (int i = 0; i < site.threads; ++i) ShortlistSpace<T>(arena, a.logits.dim(-1));
  });
}

void top_5(A& a) { a.top_k = 5, a.seed = 3; }
void nucleus(A& a) { a.top_p = 0.7, a.temperature = 0.8, a.seed = 4, a.offset = (1ll << 33) + 1; }
void both(A& a) { a.top_k = 40, a.top_p = 0.9, a.temperature = 1.5; }

// A probability is a quotient of weights that are rounded by 2^-41 of the largest. At most 5000 of them are
// summed, so it errs by less than 5000 2^-41. Indices are exact.
constexpr Tolerance p = 3e-9;
constexpr Tolerance p_of_long_rows = 1e-8;  // below 20011 2^-41 = 9.1e-9
constexpr Case<A> cases[] = {
    {.name = "one", .sizes = {{"...", 1}, {"v", 1}, {"n", 1}}, .tolerance = p},
    {.name = "v=33, n=100",
     .sizes = {{"...", 3}, {"v", 33}, {"n", 100}},
     .tolerance = p,
     .optional = "probability"},
    {.name = "v=1000 f32, top 5",
     .sizes = {{"...", 2}, {"v", 1000}, {"n", 20}},
     .dtype = DType::f32,
     .tolerance = p,
     .optional = "probability",
     .setup = top_5},
    {.name = "v=5000, top_p 0.7",
     .sizes = {{"...", 2}, {"v", 5000}, {"n", 50}},
     .tolerance = p,
     .optional = "probability",
     .setup = nucleus},
    {.name = "v=300 f16, both",
     .sizes = {{"...", 3}, {"v", 300}, {"n", 129}},
     .dtype = DType::f16,
     .tolerance = p,
     .optional = "probability",
     .setup = both},
    {.name = "v=257 bf16, top 5 among ties",
     .sizes = {{"...", 3}, {"v", 257}, {"n", 40}},
     .dtype = DType::bf16,
     .tolerance = p,
     .optional = "probability",
     .setup = top_5},
    {.name = "v=4097 bf16, top 20 among ties and top_p 0.9",  // long enough for a shortlist on the CPU
     .sizes = {{"...", 2}, {"v", 4097}, {"n", 30}},
     .dtype = DType::bf16,
     .tolerance = p,
     .optional = "probability",
     .setup = [](A& a) { both(a), a.top_k = 20; }},
    // These rows do not begin at multiples of 16 bytes. On a GPU they take the different ways: all words are
    // compared, few of them, none, or weights are stored.
    {.name = "v=511 f32, top_p 0.7",
     .sizes = {{"...", 3}, {"v", 511}, {"n", 30}},
     .dtype = DType::f32,
     .tolerance = p,
     .optional = "probability",
     .setup = nucleus},
    {.name = "v=513 f16, top_p 0.7",
     .sizes = {{"...", 3}, {"v", 513}, {"n", 30}},
     .dtype = DType::f16,
     .tolerance = p,
     .optional = "probability",
     .setup = nucleus},
    {.name = "v=4099 f32, top 256 and top_p 0.9",
     .sizes = {{"...", 3}, {"v", 4099}, {"n", 30}},
     .dtype = DType::f32,
     .tolerance = p,
     .optional = "probability",
     .setup = [](A& a) { both(a), a.top_k = 256; }},
    {.name = "v=4099 bf16, top 1000 among ties and top_p 0.9",
     .sizes = {{"...", 3}, {"v", 4099}, {"n", 30}},
     .dtype = DType::bf16,
     .tolerance = p,
     .optional = "probability",
     .setup = [](A& a) { both(a), a.top_k = 1000; }},
    {.name = "one row of v=20011 f16, both",
     .sizes = {{"...", 1}, {"v", 20011}, {"n", 30}},
     .dtype = DType::f16,
     .tolerance = p_of_long_rows,
     .optional = "probability",
     .setup = both},
    {.name = "v=20011 f32, top_p 0.7",
     .sizes = {{"...", 2}, {"v", 20011}, {"n", 30}},
     .dtype = DType::f32,
     .tolerance = p_of_long_rows,
     .optional = "probability",
     .setup = nucleus},
    {.name = "256 rows of v=50257 f32, top 50",
     .sizes = {{"...", 256}, {"v", 50257}, {"n", 1}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .setup = [](A& a) { a.top_k = 50; }},
    {.name = "256 rows of v=50257 f32, top_p 0.9",
     .sizes = {{"...", 256}, {"v", 50257}, {"n", 1}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .setup = [](A& a) { a.top_p = 0.9; }},
    {.name = "256 rows of v=50257 f32, both",
     .sizes = {{"...", 256}, {"v", 50257}, {"n", 1}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .setup = both},
    {.name = "one row of v=128256 f16, top_p 0.9",
     .sizes = {{"...", 1}, {"v", 128256}, {"n", 1}},
     .dtype = DType::f16,
     .benchmark_only = true,
     .setup = [](A& a) { a.top_p = 0.9; }},
    {.name = "one row of v=128256 f16, both",
     .sizes = {{"...", 1}, {"v", 128256}, {"n", 1}},
     .dtype = DType::f16,
     .benchmark_only = true,
     .setup = both},
};
constexpr std::string_view faults[] = {"logits is NaN or infinite", "logits has no finite number in its row"};

constinit const Definition<A> definition{
    {.name = "top_k_sampling",
     .summary = "draws from softmax(logits / temperature), restricted to the top_k and to the share top_p",
     .source = "Fan et al., ACL 2018; Holtzman et al., ICLR 2020",
     .determinism = Determinism::everywhere,
     .faults = faults},
    // Each logit takes an exponential of 25 operations, a difference and a quotient.
    {.check = check, .flops = [](const A& a) { return 28.0 * double(a.logits.size()); }, .cases = cases}};

}  // namespace

constinit const Op<A> top_k_sampling{definition};
extern constinit const Impl<A> top_k_sampling_cpu{{.launch = launch, .lay = lay}};

}  // namespace kolmo
