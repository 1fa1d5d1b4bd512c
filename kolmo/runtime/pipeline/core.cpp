#include "kolmo/runtime/pipeline/core.hpp"

namespace kolmo::detail {
namespace {

const PipelineOptions& checked(const PipelineOptions& o) {
  const auto want = [&](bool ok, const std::string& what) { require(ok, o.name + ": " + what); };
  want(o.slots >= 2 && o.slots <= 8, "a pipeline has 2 to 8 slots, not " + std::to_string(o.slots));
  want(o.queue >= 1, "the queue must hold one item or more");
  want(o.deadline >= 0 && o.objective > 0, "deadline must not be negative, objective must be positive");
  want(o.spin >= 0 && o.spin <= 1, "threads spin for 0 to 1 seconds");
  return o;
}

}  // namespace

PipelineCore::PipelineCore(Device device, const PipelineOptions& options)
    : options_(checked(options)),
      lane_(device, options.slots, options.cpu_threads, options.graph, options.spin),
      meter_(options.name, options.slots, options.objective) {
  if (options.room.input || options.room.output) lane_.make_room(options.room);
  for (auto& slot : lane_.slots()) free_.push_back(&slot);
  if (!options_.own_threads) return;
  feeder_ = std::thread([this] { run_feeder(); });
  completer_ = std::thread([this] { run_completer(); });
}

PipelineCore::~PipelineCore() {
  try {
    drain();
  } catch (...) {  // ignored here: drain() reports it
  }
  if (!options_.own_threads) return;
  {
    const Lock lock(mutex_);
    closing_ = true;
    feedable_.notify(), completable_.notify_one();
  }
  feeder_.join(), completer_.join();
}

bool PipelineCore::submit(const std::function<std::unique_ptr<Item>()>& make) {
  Lock lock(mutex_);
  const double now = lane_.now();
  if (!lost_ && !make_room(lock)) return false;
  if (lost_) fail<DeviceError>(options_.name + ": the device was lost; further items need a new pipeline");
  queue_.push_back(std::make_shared<Entry>(Entry{make(), now, nullptr}));
  ++outstanding_;
  meter_.submitted(now);
  show_levels();
  feedable_.notify();
  while (!options_.own_threads && can_feed()) feed(lock);
  return true;
}

/// Makes room in the queue; returns false if the item is to be refused.
bool PipelineCore::make_room(Lock& lock) {
  const auto full = [&] { return queue_.size() >= options_.queue; };
  if (!full()) return true;
  if (options_.backpressure == Backpressure::reject) {
    meter_.rejected();
    return false;
  }
  if (options_.backpressure == Backpressure::drop_oldest) {
    dropped_.push_back(std::move(queue_.front()));
    queue_.pop_front();
    completable_.notify_one();
  } else if (options_.own_threads) {
    require(std::this_thread::get_id() != completer_.get_id(),
            options_.name + ": whoever takes a result cannot wait in submit() for room");
    room_.wait(lock, [&] { return !full(); });
  } else {
    while (full()) can_feed() ? feed(lock) : complete(lock);
  }
  return true;
}

void PipelineCore::poll() {
  Lock lock(mutex_);
  while (!options_.own_threads)
    if (can_feed())
      feed(lock);
    else if (!dropped_.empty() || oldest_is_done())
      complete(lock);
    else
      return;
}

void PipelineCore::wait() {
  Lock lock(mutex_);
  require(!options_.own_threads, options_.name + ": its own threads wait for results");
  if (can_feed()) feed(lock);
  if (can_complete()) complete(lock);
}

void PipelineCore::drain() {
  Lock lock(mutex_);
  if (options_.own_threads) {
    require(std::this_thread::get_id() != completer_.get_id(),
            options_.name + ": whoever takes a result cannot wait for all");
    settled_.wait(lock, [&] { return outstanding_ == 0; });
  } else {
    while (can_feed() || can_complete()) can_feed() ? feed(lock) : complete(lock);
  }
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void PipelineCore::measure_alone(Item& item, int repeats) {
  const Lock lock(mutex_);
  require(outstanding_ == 0, options_.name + ": stages are measured alone while no item is on its way");
  const StageSeconds each = lane_.alone(item, repeats);
  meter_.alone(each, lane_.copies_at_once(repeats));
}

PipelineReport PipelineCore::report() const {
  const Lock lock(mutex_);
  return meter_.report();
}

bool PipelineCore::oldest_is_done() const {
  if (flights_.empty()) return false;
  try {
    return !flights_.front().started || lane_.done(*flights_.front().slot);
  } catch (const Error&) {
    return true;  // complete() will meet the error again, and assign it to the item
  }
}

/// Starts the next part in a free slot.
void PipelineCore::feed(Lock& lock) {
  if (!partial_) {
    partial_ = std::move(queue_.front());
    queue_.pop_front();
    next_part_ = 0;
    room_.notify_one();
    if (options_.deadline > 0 && lane_.now() - partial_->submitted > options_.deadline) {
      dropped_.push_back(std::move(partial_));
      completable_.notify_one();
      return;
    }
  }
  const std::shared_ptr<Entry> entry = partial_;
  PipelineLane::Slot* const slot = free_.back();
  free_.pop_back();
  const int part = next_part_++;
  const bool timed = meter_.times_next();
  std::exception_ptr error = entry->error ? entry->error : lost_;
  bool last = true;
  lock.unlock();
  if (!error) {
    try {
      last = part + 1 >= entry->item->parts();
      lane_.start(*slot, *entry->item, part, timed);
    } catch (...) {
      error = std::current_exception();
    }
  }
  lock.lock();
  if (error) keep_error(*entry, error), last = true;
  flights_.push_back({slot, entry, !error, last});
  if (last) partial_ = nullptr;
  show_levels();
  completable_.notify_one();
}

/// Hands over a dropped item, or waits for the oldest slot and hands over its result.
void PipelineCore::complete(Lock& lock) {
  if (!dropped_.empty()) {
    const std::shared_ptr<Entry> entry = std::move(dropped_.front());
    dropped_.pop_front();
    return deliver(lock, *entry, PipelineOutcome::dropped);
  }
  const Flight flight = flights_.front();
  const bool wanted = !flight.entry->error;
  std::exception_ptr error;
  StageSeconds seconds;
  StageTimes times;
  if (flight.started) {
    lock.unlock();
    try {
      lane_.wait(*flight.slot);
      if (flight.slot->timed) seconds = lane_.seconds(*flight.slot), times = lane_.times(*flight.slot);
      const double begin = lane_.now();
      if (wanted) flight.entry->item->read(*flight.slot);
      seconds.read = lane_.now() - begin;
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
  }
  if (error) keep_error(*flight.entry, error);
  if (flight.started && !error) {
    meter_.part();
    if (flight.slot->timed) meter_.timed_part(seconds, times);
  }
  flights_.pop_front();
  free_.push_back(flight.slot);
  show_levels();
  feedable_.notify();
  if (flight.last)
    deliver(lock, *flight.entry, flight.entry->error ? PipelineOutcome::failed : PipelineOutcome::done);
}

void PipelineCore::deliver(Lock& lock, Entry& entry, PipelineOutcome outcome) {
  const double now = lane_.now(), latency = now - entry.submitted;
  meter_.result(outcome, latency, now);
  lock.unlock();
  std::exception_ptr thrown;
  try {
    entry.item->deliver(outcome, entry.error, latency);
  } catch (...) {
    thrown = std::current_exception();
  }
  lock.lock();
  if (!thrown_) thrown_ = thrown;
  if (--outstanding_ == 0) settled_.notify_all();
}

void PipelineCore::keep_error(Entry& entry, const std::exception_ptr& error) {
  if (!entry.error) entry.error = error;
  try {
    std::rethrow_exception(error);
  } catch (const DeviceError&) {
    // Nothing is started any more, so no slot is filled that may still be in use.
    lost_ = error;
  } catch (...) {}
}

void PipelineCore::show_levels() {
  const bool starved = !free_.empty() && queue_.empty() && !partial_;
  meter_.levels(flights_.size(), queue_.size(), starved, lane_.now());
}

void PipelineCore::run_feeder() {
  for (Lock lock(mutex_);;) {
    feedable_.wait(
        lock, [&] { return closing_ || can_feed(); },
        [&] { return flights_.empty() ? 0 : lane_.spin_seconds(); });
    if (closing_) return;
    feed(lock);
  }
}

void PipelineCore::run_completer() {
  for (Lock lock(mutex_);;) {
    completable_.wait(lock, [&] { return closing_ || can_complete(); });
    if (closing_) return;
    complete(lock);
  }
}

}  // namespace kolmo::detail
