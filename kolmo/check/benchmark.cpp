#include "kolmo/check/benchmark.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "kolmo/check/placement.hpp"
#include "kolmo/op/changed.hpp"
#include "kolmo/op/counted.hpp"

namespace kolmo::check {
namespace {

/// Size of data, in bytes, above which it cannot stay in the caches from one call to the next.
double cache_bytes(DeviceKind kind) {
  if (kind == DeviceKind::cuda) return 128e6;  // twice the largest L2 cache of today's GPUs
  const double last_level = double(sysconf(_SC_LEVEL3_CACHE_SIZE));
  return 2 * std::max(last_level, 32e6);
}

double quantile(std::vector<double> sorted, double q) {
  const double at = q * double(sorted.size() - 1);
  const auto low = std::size_t(at), high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - double(low)) * (sorted[high] - sorted[low]);
}

double median_error(const std::vector<double>& sorted) {
  const double range = quantile(sorted, 0.75) - quantile(sorted, 0.25);
  return 0.93 * range / std::sqrt(double(sorted.size())) / quantile(sorted, 0.5);
}

const FieldInfo* field_named(const OpBase& op, std::string_view name) {
  for (const FieldInfo& f : op.fields())
    if (f.name == name) return &f;
  return nullptr;
}

/// The name of the activation; "none" if there is no such option.
std::string_view activation_of(const OpBase& op, const void* args) {
  const FieldInfo* const f = field_named(op, "activation");
  return f ? f->choices[std::size_t(f->value(args).integer)] : "none";
}

/// Runs an activation as an operator of its own, on the output y of another operator, whose option becomes
/// none.
struct Follower {
  const OpEntry* entry;
  std::vector<std::byte> args;

  Follower(const OpBase& op, void* of) : entry(fused_activation(op, of)), args(entry->op->default_args()) {
    for (const char* const name : {"x", "y"})
      field_named(*entry->op, name)->tensor(args.data()) = field_named(op, "y")->tensor(of);
    if (activation_of(op, of) == "gelu_tanh") {
      const FieldInfo& form = *field_named(*entry->op, "form");
      form.set(args.data(), form.parse("tanh"));
    }
    const FieldInfo& activation = *field_named(op, "activation");
    activation.set(of, activation.parse("none"));
  }
};

class Timer {
 public:
  Timer(const OpEntry& entry, Placement& placed, Stream& stream, RunOptions options, bool unfused)
      : entry_(entry),
        args_(placed.args()),
        stream_(stream),
        options_(options),
        changed_(*entry.op, placed.args(), stream),
        begin_(stream.device()),
        end_(stream.device()) {
    if (unfused) follower_.emplace(*entry.op, placed.args()), entry_.alias = nullptr;
  }

  /// The largest number of calls that a sample may have, up to `wanted`.
  int most_calls(int wanted) { return changed_.reserve(wanted); }

  /// Measures the seconds per call over `calls` calls in a row, at most most_calls().
  double operator()(int calls) {
    changed_.restore(calls);
    begin_.record(stream_);
    for (int i = 0; i < calls; ++i) {
      changed_.use(i);
      run(entry_, args_, stream_, options_);
      if (follower_) run(*follower_->entry, follower_->args.data(), stream_);
    }
    end_.record(stream_);
    end_.synchronize();
    return Event::seconds(begin_, end_) / calls;
  }

 private:
  OpEntry entry_;
  const void* args_;
  Stream& stream_;
  RunOptions options_;
  std::optional<Follower> follower_;
  ChangedTensors changed_;
  Event begin_, end_;
};

std::size_t bytes_of_tensors(const OpBase& op, const void* args) {
  std::size_t bytes = 0;
  for (const FieldInfo& f : op.fields())
    if (f.is_tensor() && f.tensor(args).given()) bytes += f.tensor(args).bytes();
  return bytes;
}

/// The cost of the last call with these arguments. Outputs of unknown length count as far as they were
/// written.
Cost cost_of_run(const OpBase& op, const void* args, Stream& stream) {
  const auto fields = op.fields();
  const auto* bytes = static_cast<const std::byte*>(args);
  std::vector<std::byte> counted(bytes, bytes + op.args_size());
  std::vector<std::int64_t> counts(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i)
    for (const FieldInfo& f : fields)
      if (f.counter == fields[i].name && fields[i].tensor(args).given()) {
        Tensor& count = fields[i].tensor(counted.data());
        const Tensor on_host = tensor(&counts[i], {});
        stream.copy(on_host, count);
        count = on_host;
      }
  stream.synchronize();
  std::vector<std::byte> written = counted;
  std::int64_t lost = 0;
  for (const FieldInfo& f : fields)
    if (!f.counter.empty() && f.tensor(args).given())
      f.tensor(written.data()) = counted_part(op, f, counted.data(), lost);
  Cost c = cost(op, written.data());
  c.flops = op.flops(args);
  return c;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Measures, and fills in calls_per_sample, samples and cut_short.
void measure(Benchmark& b, Timer& timer, const BenchmarkOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  timer.most_calls(1);
  double once = timer(1);
  const double first = seconds_since(begin);
  // The first call includes loading code and touching memory.
  if (once < options.seconds_per_sample || (once < 1 && 2 * first < options.seconds_per_case))
    once = timer(1);
  const bool brief = once < 2 * options.seconds_per_sample;
  if (!brief && seconds_since(begin) + once > options.seconds_per_case) {
    b.samples = {once}, b.calls_per_sample = 1, b.cut_short = options.samples > 1;
    return;
  }
  const std::size_t least = brief ? 5 : 1;
  const double calls = std::ceil(options.seconds_per_sample / std::max(once, 1e-9));
  b.calls_per_sample = timer.most_calls(int(std::clamp(calls, 1.0, 1e5)));
  std::vector<double> sorted;
  for (double longest = 0; int(b.samples.size()) < options.samples;) {
    if (b.samples.size() >= 5 && median_error(sorted) < options.precision) return;
    const auto at = std::chrono::steady_clock::now();
    if (b.samples.size() >= least && seconds_since(begin) + longest > options.seconds_per_case) {
      b.cut_short = true;
      return;
    }
    b.samples.push_back(timer(b.calls_per_sample));
    sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), b.samples.back()), b.samples.back());
    longest = std::max(longest, seconds_since(at));
  }
}

}  // namespace

const OpEntry* fused_activation(const OpBase& op, const void* args) {
  const std::string_view name = activation_of(op, args);
  return name == "none" ? nullptr : &find_op(name == "gelu_tanh" ? "gelu" : name);
}

Benchmark benchmark_problem(const OpEntry& entry, const Problem& problem, Stream& stream, int variant,
                            const BenchmarkOptions& options) {
  const OpBase& op = *entry.op;
  Placement placed(problem, stream);
  Timer timer(entry, placed, stream, {variant}, options.unfused);

  Benchmark b;
  b.name = entry.of(problem.info()).name(), b.case_name = problem.info().name,
  b.device = to_string(stream.device());
  if (variant >= 0) b.variant = entry.variants(stream.device().kind).at(std::size_t(variant)).name;
  measure(b, timer, options);
  b.cost = cost_of_run(op, placed.args(), stream);
  b.tensor_bytes = bytes_of_tensors(op, placed.args());
  const DeviceKind kind = stream.device().kind;
  const int row = variant >= 0 ? variant : entry.default_variant(placed.args(), kind);
  b.workspace_bytes = entry.impl(kind)->workspace(placed.args(), {stream.device(), row, stream.threads()});

  auto sorted = b.samples;
  std::sort(sorted.begin(), sorted.end());
  b.median = quantile(sorted, 0.5), b.lower_quartile = quantile(sorted, 0.25);
  b.upper_quartile = quantile(sorted, 0.75);

  const double bytes = b.cost.bytes_read + b.cost.bytes_written;
  b.bytes_per_second = bytes / b.median, b.flops_per_second = b.cost.flops / b.median;
  b.share = least_seconds(b.cost, problem.info().dtype, stream) / b.median;
  return b;
}

Benchmark benchmark_case(const OpEntry& entry, std::size_t index, Stream& stream, int variant,
                         const BenchmarkOptions& options) {
  const Problem problem(*entry.op, entry.op->cases()[index], index);
  return benchmark_problem(entry, problem, stream, variant, options);
}

TimeBudget::TimeBudget(double seconds, std::size_t cases)
    : end_(std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                  std::chrono::duration<double>(std::min(seconds, 1e9)))),
      cases_(cases) {}

double TimeBudget::left() const { return -seconds_since(end_); }

double TimeBudget::next() {
  const double share = 2 * left() / double(std::max<std::size_t>(cases_, 2));
  if (cases_) --cases_;
  return std::max(0.0, share);
}

double least_seconds(const Cost& cost, DType dtype, Stream& stream) {
  const DeviceInfo peak = measured_peaks(stream);
  const double flops_peak = peak_flops(peak, cost, dtype);
  const double bytes = cost.bytes_read + cost.bytes_written;
  if (peak.bytes_per_second <= 0) return 0;
  const double memory = bytes / peak.bytes_per_second;
  const bool memory_bound = memory * flops_peak > cost.flops,
             cached = bytes <= cache_bytes(stream.device().kind);
  if (memory_bound && cached) return 0;
  return std::max(cached ? 0 : memory, flops_peak > 0 ? cost.flops / flops_peak : 0);
}

}  // namespace kolmo::check
