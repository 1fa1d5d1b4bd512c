#include "kolmo/ops/nn/batch_norm/batch_norm.hpp"

#include <algorithm>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/nn/batch_norm/batch_norm_channels.hpp"
#include "kolmo/ops/nn/batch_norm/batch_norm_vectors.hpp"
#include "kolmo/runtime/cpu/convert.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/cpu/sum_items.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {
using A = BatchNormArgs;

void check(const A& a) {
  require(!a.training || a.x.dim(1) == 0 || a.x.size() / a.x.dim(1) > 1,
          "batch_norm: training needs more than one value of each channel");
}

/// The numbers by which elements are mapped. If rows are long these are the channel's numbers; if rows are
/// short, those of a whole line of c s elements, which are spread out first.
template <class T>
struct CpuScratch {
  using C = Compute<T>;
  BatchNormScratch<T> channels;
  std::int64_t line;
  C *mean, *factor, *shift;

  CpuScratch(Arena& arena, const A& a) : channels(arena, a), line(line_of(BatchShape(a))) {
    mean = arena.take<C>(line), factor = arena.take<C>(line), shift = arena.take<C>(line);
  }
  static std::int64_t line_of(const BatchShape& shape) { return shape.columns() ? shape.c * shape.s : 0; }
  void spread(const BatchShape& shape) const {
    for (std::int64_t i = 0; i < line; ++i) {
      const ChannelMap<C>& of = channels.map[i / shape.s];
      mean[i] = of.mean, factor[i] = of.factor, shift[i] = of.shift;
    }
  }
  /// Returns the map of the elements from the i-th on, and sets `count` to the number of elements for which
  /// it holds.
  ChannelMaps<C> maps(std::int64_t i, const A& a, const BatchShape& shape, std::int64_t& count) const {
    if (line) {
      count = line - i % line;
      return {mean + i % line, factor + i % line, shift + i % line, true, a.activation};
    }
    const ChannelMap<C>& of = channels.map[i / shape.s % shape.c];
    count = shape.s - i % shape.s;
    return {&of.mean, &of.factor, &of.shift, false, a.activation};
  }
};

void launch(const A& a, Arena arena, Stream& s, int) {
  const BatchShape shape(a);
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    using C = Compute<T>;
    const CpuScratch<T> scratch(arena, a);
    if (a.training) {
      scratch.channels.measure_channels(a, SumItems{s.threads()});
    } else {
      const auto prepare = scratch.channels.prepare(a);
      for (std::int64_t c = 0; c < shape.c; ++c) prepare(c);
    }
    scratch.spread(shape);
    const ApplyMaps<C> apply = apply_maps<C>();
    const T* const x = a.x.as<T>();
    T* const y = a.y.as<T>();
    parallel_ranges(s.threads(), a.x.size(), [&](std::int64_t i, std::int64_t end) {
      for (std::int64_t n; i < end; i += n) {
        constexpr std::int64_t some = std::is_same_v<T, C> ? std::int64_t(1) << 40 : 1024;
        const auto maps = scratch.maps(i, a, shape, n);
        n = std::min({n, end - i, some});
        if constexpr (std::is_same_v<T, C>) {
          apply(maps, x + i, n, y + i);
        } else {
          C copy[some];
          widen(x + i, n, copy);
          apply(maps, copy, n, copy);
          narrow(copy, n, y + i);
        }
      }
    });
  });
}

void lay(Arena& arena, const A& a, const Site&) {
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> { CpuScratch<T>(arena, a); });
}

void training(A& a) { a.training = true; }
void slow_training(A& a) { a.training = true, a.momentum = 0.01, a.eps = 1e-3; }
void around_1000(A& a) {
  a.training = true;
  std::for_each_n(a.x.as<double>(), a.x.size(), [](double& v) { v += 1000; });
}

// Statistics of the batch err by less than 40 roundings of double. y rounds x - mean, its product with the
// rounded factor, and the sum: with |x - mean| rstd < 6 and a scale below 6, below 128 roundings of 1 or of
// y. The mean, below 6 in magnitude, is rounded to the dtype of the arithmetic, and running statistics may
// have a small variance (exp of a normal number, above 0.01): rstd < 10. In all this is below 1024. 16-bit
// dtypes add half an ulp. Around 1000, x itself is off by a thousand roundings.
constexpr double f64 = 1024 * 0x1p-53, f32 = 1024 * 0x1p-24, statistics = 1e-13;
constexpr ShortList<OutputTolerance> of_statistics = {{"running_mean", statistics},
                                                      {"running_variance", statistics},
                                                      {"mean", statistics},
                                                      {"rstd", statistics}};
constexpr auto all = "scale shift mean rstd";
constexpr Case<A> cases[] = {
    {.name = "one", .sizes = {{"n", 1}, {"c", 1}, {"...", 1}}, .tolerance = f64, .tolerances = of_statistics},
    {.name = "3 x 5 x 7 f64",
     .sizes = {{"n", 3}, {"c", 5}, {"...", 7}},
     .tolerance = f64,
     .optional = all,
     .tolerances = of_statistics},
    {.name = "training 3 x 5 x 7 f64",
     .sizes = {{"n", 3}, {"c", 5}, {"...", 7}},
     .tolerance = f64,
     .optional = all,
     .setup = training,
     .tolerances = of_statistics},
    {.name = "training 65 x 33 x 1 f32",
     .sizes = {{"n", 65}, {"c", 33}, {"...", 1}},
     .dtype = DType::f32,
     .tolerance = f32,
     .optional = all,
     .setup = slow_training,
     .tolerances = of_statistics},
    {.name = "training 67 x 36 x 1 f32, relu",
     .sizes = {{"n", 67}, {"c", 36}, {"...", 1}},
     .dtype = DType::f32,
     .tolerance = f32,
     .optional = all,
     .setup = [](A& a) { a.training = true, a.activation = Activation::relu; },
     .tolerances = of_statistics},
    {.name = "training 1030 x 6 x 1 f64",
     .sizes = {{"n", 1030}, {"c", 6}, {"...", 1}},
     .tolerance = f64,
     .optional = "scale",
     .setup = training,
     .tolerances = of_statistics},
    {.name = "5 x 2048 x 1 f16",
     .sizes = {{"n", 5}, {"c", 2048}, {"...", 1}},
     .dtype = DType::f16,
     .tolerance = 0x1p-11 + f32,
     .optional = "scale shift",
     .tolerances = of_statistics},
    {.name = "training 2001 x 37 x 1 f32",
     .sizes = {{"n", 2001}, {"c", 37}, {"...", 1}},
     .dtype = DType::f32,
     .tolerance = f32,
     .optional = "scale shift",
     .setup = training,
     .tolerances = of_statistics},
    {.name = "training 2 x 3 x 2049 f32",
     .sizes = {{"n", 2}, {"c", 3}, {"...", 2049}},
     .dtype = DType::f32,
     .tolerance = f32,
     .optional = "scale",
     .setup = training,
     .tolerances = of_statistics},
    {.name = "training 4 x 3 x 64 f16, gelu",
     .sizes = {{"n", 4}, {"c", 3}, {"...", 64}},
     .dtype = DType::f16,
     .tolerance = 0x1p-11 + f32,
     .optional = "shift rstd",
     .setup = [](A& a) { a.training = true, a.activation = Activation::gelu; },
     .tolerances = of_statistics},
    {.name = "9 x 16 x 31 bf16, gelu_tanh",
     .sizes = {{"n", 9}, {"c", 16}, {"...", 31}},
     .dtype = DType::bf16,
     .tolerance = 0x1p-8 + f32,
     .optional = "scale shift",
     .setup = [](A& a) { a.activation = Activation::gelu_tanh; },
     .tolerances = of_statistics},
    {.name = "training 2100 x 2 x 33 f64 around 1000",
     .sizes = {{"n", 2100}, {"c", 2}, {"...", 33}},
     .tolerance = 1000 * f64,
     .optional = "mean rstd",
     .setup = around_1000,
     .tolerances = {{"running_mean", 1e-10}, {"running_variance", 1e-10}, {"mean", 1e-10}, {"rstd", 1e-10}}},
    {.name = "fused_batchnorm_relu training 5 x 4 x 40 f32",
     .sizes = {{"n", 5}, {"c", 4}, {"...", 40}},
     .dtype = DType::f32,
     .tolerance = f32,
     .optional = "scale shift",
     .setup = training,
     .alias = "fused_batchnorm_relu",
     .tolerances = of_statistics},
    {.name = "32 x 64 x 3136 f32",
     .sizes = {{"n", 32}, {"c", 64}, {"...", 3136}},
     .dtype = DType::f32,
     .optional = "scale shift",
     .benchmark_only = true},
    {.name = "training 32 x 64 x 3136 f32",
     .sizes = {{"n", 32}, {"c", 64}, {"...", 3136}},
     .dtype = DType::f32,
     .optional = "scale shift",
     .benchmark_only = true,
     .setup = training},
    {.name = "training 16384 x 512 f32",
     .sizes = {{"n", 16384}, {"c", 512}, {"...", 1}},
     .dtype = DType::f32,
     .optional = "scale shift",
     .benchmark_only = true,
     .setup = training},
    {.name = "fused_batchnorm_relu 32 x 64 x 3136 f16",
     .sizes = {{"n", 32}, {"c", 64}, {"...", 3136}},
     .dtype = DType::f16,
     .optional = "scale shift",
     .benchmark_only = true,
     .alias = "fused_batchnorm_relu"},
};
constexpr AliasInfo aliases[] = {{.name = "fused_batchnorm_relu",
                                  .summary = "batch_norm and relu in one pass over memory",
                                  .binds = {bind<&A::activation, Activation::relu>}}};

double flops(const A& a) {
  constexpr double of_activation[] = {0, 1, 23, 28};  // 20 for an error function or a hyperbolic tangent
  return double(a.x.size()) * (3 + 4 * a.training + of_activation[int(a.activation)]);
}

constinit const Definition<A> definition{
    {.name = "batch_norm",
     .summary = "y = activation((x - mean) / sqrt(variance + eps) scale + shift) of each channel",
     .source = "Ioffe & Szegedy, arXiv:1502.03167",
     .determinism = Determinism::run_to_run,
     .in_place = true},
    {.check = check, .flops = flops, .cases = cases, .aliases = aliases}};

}  // namespace

constinit const Op<A> batch_norm{definition};
constinit const Alias<A> fused_batchnorm_relu{definition, aliases[0]};
extern constinit const Impl<A> batch_norm_cpu{{.launch = launch, .lay = lay}};

}  // namespace kolmo
