#include "kolmo/flow/estimate/estimate_parts.hpp"

#include <algorithm>
#include <condition_variable>
#include <thread>
#include <utility>

#include "kolmo/flow/estimate/batching.hpp"
#include "kolmo/flow/estimate/estimate_batch.hpp"
#include "kolmo/flow/estimate/progress.hpp"
#include "kolmo/runtime/cpu/interrupt.hpp"

namespace kolmo {
namespace {

/// Whether devices take equally long for equal work, since they are of one model.
bool are_alike(const Streams& streams, const std::vector<std::size_t>& used) {
  const auto model = [&](std::size_t i) { return device_info(streams[i].device()).name; };
  return std::all_of(used.begin(), used.end(), [&](std::size_t i) { return model(i) == model(used[0]); });
}

/// Draws of a task that several streams take in parts.
class Parts {
 public:
  Parts(const Series& series, const EstimationTask& task, const EstimatorOptions& options,
        const Streams& streams, Progress* progress)
      : series_(series),
        task_(task),
        o_(settled(options, series, {&task, 1})),
        streams_(streams),
        progress_(progress),
        own_(streams.size()),
        limits_(BatchLimits::of(streams.widest(), series.rows())),
        work_(double(task.x.size()) * double(task.times.size())) {
    const std::int64_t width = o_.draws().count;
    all_ = {o_.draws(),
            computed_surrogates(task, o_, o_.draws()),
            std::vector<double>(task.x.size() * std::size_t(width)),
            {}};
    // Neighbour lists, which each part builds anew, take as long as some 70 estimates.
    least_ = std::max<std::int64_t>(limits_.least_estimates, shares_neighbor_lists(task, o_) ? 256 : 1);
    const auto bytes = work_ * double(task.x[0].size()) * sizeof(double);  // of a spectral surrogate
    most_ = is_spectral(o_.surrogate_type) ? std::int64_t(std::max(16.0, limits_.most_bytes / bytes)) : width;
    for (std::size_t i = 0; i < streams.size(); ++i)
      if (streams.usable(i)) used_.push_back(i);
    if (used_.empty()) used_ = {0};  // reports why its device was lost
    const auto used = std::int64_t(used_.size()), share = (width + used - 1) / used;
    if (used == 1) return;
    most_ = std::min(most_, share);
    if (most_ < share || !are_alike(streams, used_)) return;
    for (const std::size_t stream : used_) {
      own_[stream] = {next_, std::min(share, width - next_)};
      next_ += own_[stream].count, under_way_ += own_[stream].count > 0;
    }
  }

  Estimates run();

 private:
  void work(std::size_t stream);
  /// Takes draws of the share of the stream, those that a device lost, or the next ones. An empty range: all are taken and finished,
  /// or there is an error.
  SurrogateRange take(std::size_t stream, const Batching& batching);
  SurrogateRange cut(SurrogateRange& share, const Batching& batching) const;
  void finish(SurrogateRange draws, const Estimates& part);
  /// Gives the draws back, if another device can take them. Otherwise everything ends with this error.
  void lose(std::size_t stream, SurrogateRange draws, const DeviceError& e);
  void end(std::exception_ptr error);

  const Series& series_;
  const EstimationTask& task_;
  const EstimatorOptions o_;
  const Streams& streams_;
  Progress* const progress_;
  std::vector<std::size_t> used_;    // the streams that work
  std::vector<SurrogateRange> own_;  // of streams of devices that are alike: what is left of equal shares
  const BatchLimits limits_;
  const double work_;  // of a draw
  std::int64_t least_, most_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable returned_;
  std::vector<SurrogateRange> again_;
  std::int64_t next_ = 0,
               under_way_ = 0;  // the parts that are computed, and the shares of which some is left
  Estimates all_;
  std::exception_ptr error_;
};

/// Each part repeats what all draws share, so that a part is as large as progress and interrupts allow.
SurrogateRange Parts::cut(SurrogateRange& share, const Batching& batching) const {
  const auto first = std::int64_t(limits_.first_work / work_);
  const SurrogateRange part{
      share.first, std::min(share.count, std::max({least_, first, batching.fit(work_, share.count)}))};
  share.first += part.count, share.count -= part.count;
  return part;
}

SurrogateRange Parts::take(std::size_t stream, const Batching& batching) {
  std::unique_lock lock(mutex_);
  const std::int64_t width = o_.draws().count;
  returned_.wait(
      lock, [&] { return error_ || own_[stream].count || !again_.empty() || next_ < width || !under_way_; });
  SurrogateRange draws{next_, 0};
  if (error_) return draws;
  if (SurrogateRange& own = own_[stream]; own.count) {
    draws = cut(own, batching);
    under_way_ += own.count > 0;
    return draws;
  }
  if (!again_.empty()) {
    draws = again_.back();
    again_.pop_back();
  } else if (next_ < width) {
    const std::int64_t left = width - next_, fit = std::max(least_, batching.fit(work_, width));
    draws.count = std::min({fit, most_, left});
    // Several streams take less and less, so that they end together.
    if (used_.size() > 1)
      draws.count =
          std::clamp(left / (2 * std::int64_t(used_.size())), std::min(least_, draws.count), draws.count);
    next_ += draws.count;
  } else {
    return draws;
  }
  ++under_way_;
  return draws;
}

void Parts::finish(SurrogateRange draws, const Estimates& part) {
  const std::scoped_lock lock(mutex_);
  const std::int64_t width = o_.draws().count, alternatives = std::int64_t(task_.x.size());
  for (std::int64_t a = 0; a < alternatives; ++a)
    std::copy_n(part.values.begin() + a * draws.count, draws.count,
                all_.values.begin() + a * width + draws.first);
  if (progress_) progress_->advance(double(draws.count * alternatives));
  --under_way_;
  returned_.notify_all();
}

void Parts::lose(std::size_t stream, SurrogateRange draws, const DeviceError& e) {
  streams_.lose(stream, e.what());
  for (std::size_t i = 0; i < streams_.size(); ++i)
    if (streams_.usable(i)) {
      const std::scoped_lock lock(mutex_);
      again_.push_back(draws), --under_way_;
      if (own_[stream].count) again_.push_back(std::exchange(own_[stream], {})), --under_way_;
      return returned_.notify_all();
    }
  throw e;
}

void Parts::end(std::exception_ptr error) {
  const std::scoped_lock lock(mutex_);
  if (!error_) error_ = std::move(error);
  returned_.notify_all();
}

void Parts::work(std::size_t stream) {
  Batching batching(limits_, 1, series_.rows(), 1);
  for (;;) {
    check_interrupt();
    const SurrogateRange draws = take(stream, batching);
    if (!draws.count) return;
    try {
      finish(draws, batching.measure(work_ * double(draws.count), [&] {
        return EstimateBatch(series_, {&task_, 1}, o_, draws).compute_from_host(streams_[stream])[0];
      }));
    } catch (const DeviceError& e) {
      return lose(stream, draws, e);
    }
  }
}

Estimates Parts::run() {
  const auto* const interrupt = Interruptible::current();
  const auto begin = [&](std::size_t stream) {
    try {
      const Interruptible interruptible(interrupt);
      const CurrentDevice kept;
      work(stream);
    } catch (...) {
      end(std::current_exception());
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < used_.size(); ++i) others.emplace_back(begin, used_[i]);
  begin(used_[0]);
  others.clear();
  if (error_) std::rethrow_exception(error_);
  return std::move(all_);
}

}  // namespace

bool shares_neighbor_lists(const EstimationTask& task, const EstimatorOptions& o) {
  const bool conditional = !task.z.empty();
  return o.algorithm == KsgAlgorithm::ksg1 && (conditional || task.x[0].size() == 1) &&
         std::int64_t(task.times.size()) <= (conditional ? 200000 : 50000);
}

Estimates estimate_in_parts(const Series& series, const EstimationTask& task, const EstimatorOptions& options,
                            const Streams& streams, Progress* progress) {
  return Parts(series, task, options, streams, progress).run();
}

}  // namespace kolmo
