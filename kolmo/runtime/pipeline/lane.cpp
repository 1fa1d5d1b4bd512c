#include "kolmo/runtime/pipeline/lane.hpp"

#include "kolmo/runtime/pipeline/wakeup.hpp"

namespace kolmo {

namespace detail {
namespace {

Tensor bytes_at(void* data, std::size_t bytes, Device device) {
  return tensor(data, DType::u8, std::array{bytes}, device);
}

/// Adds a margin to a size, so that slowly growing sizes do not each need new memory.
std::size_t with_margin(std::size_t bytes) { return bytes + bytes / 4; }

}  // namespace

PipelineLane::PipelineLane(Device device, int slots, int threads, bool graph, double spin)
    : device_(device),
      backend_(&backend(device)),
      graph_(graph),
      spin_(in_host_memory(device) ? 0 : spin),
      upload_(device, threads),
      compute_(device, threads),
      download_(device, threads),
      origin_(device) {
  for (int i = 0; i < slots; ++i) slots_.emplace_back(device);
  origin_.record(upload_);
}

void PipelineLane::make_room(PipelineBytes bytes) {
  for (Slot& slot : slots_) fit(slot, bytes);
}

void PipelineLane::fit(Slot& slot, PipelineBytes bytes) {
  const bool grows = bytes.input > slot.host_input.bytes() || bytes.output > slot.host_output.bytes();
  if (grows) {
    slot.graph.reset();  // it contains the old addresses
    slot.host_input = {}, slot.host_output = {}, slot.device_input = {}, slot.device_output = {};
    const PipelineBytes room{with_margin(bytes.input), with_margin(bytes.output)};
    Buffer device_input, device_output;
    if (!in_host_memory(device_))  // done on the stream that the others wait for
      device_input = Buffer(room.input, upload_), device_output = Buffer(room.output, upload_);
    memory::PinnedBuffer host_input(room.input, upload_), host_output(room.output, download_);
    slot.device_input = std::move(device_input), slot.device_output = std::move(device_output);
    slot.host_input = std::move(host_input), slot.host_output = std::move(host_output);
  }
  slot.bytes = bytes;
  slot.staged_input = slot.host_input.data(), slot.staged_output = slot.host_output.data();
  slot.input = slot.staged_input, slot.output = slot.staged_output;
  if (in_host_memory(device_)) return;
  slot.input = static_cast<std::byte*>(slot.device_input.data());
  slot.output = static_cast<std::byte*>(slot.device_output.data());
}

void PipelineLane::upload(Slot& slot) {
  if (!in_host_memory(device_))
    upload_.copy(bytes_at(slot.input, slot.bytes.input, device_),
                 bytes_at(slot.staged_input, slot.bytes.input, {}));
}

void PipelineLane::compute(Slot& slot, PipelineWork& work) {
  if (!graph_) return work.compute(slot, compute_);
  const bool same =
      slot.bytes.input == slot.graph_bytes.input && slot.bytes.output == slot.graph_bytes.output;
  if (slot.graph && !same) return work.compute(slot, compute_);
  if (!slot.graph) {
    slot.graph = capture(compute_, [&] { work.compute(slot, compute_); });
    slot.graph_bytes = slot.bytes;
  }
  slot.graph->launch(compute_);
}

void PipelineLane::download(Slot& slot) {
  if (!in_host_memory(device_))
    download_.copy(bytes_at(slot.staged_output, slot.bytes.output, {}),
                   bytes_at(slot.output, slot.bytes.output, device_));
}

Stream& PipelineLane::run_stage(std::size_t stage, Slot& slot, PipelineWork& work) {
  Stream& stream = stage == 0 ? upload_ : stage == 1 ? compute_ : download_;
  if (slot.timed) slot.stamps[2 * stage].record(stream);
  if (stage == 0) upload(slot);
  if (stage == 1) compute(slot, work);
  if (stage == 2) download(slot);
  if (slot.timed) slot.stamps[2 * stage + 1].record(stream);
  return stream;
}

void PipelineLane::start(Slot& slot, PipelineWork& work, int part, bool timed) {
  slot.part = part, slot.timed = timed;
  try {
    fit(slot, work.bytes(part));
    const double begin = now();
    work.fill(slot);
    slot.fill_seconds = now() - begin;
    run_stage(0, slot, work);
    slot.uploaded.record(upload_);
    compute_.wait(slot.uploaded);
    run_stage(1, slot, work);
    slot.computed.record(compute_);
    download_.wait(slot.computed);
    run_stage(2, slot, work);
    slot.finished.record(download_);
  } catch (...) {
    settle();
    throw;
  }
}

void PipelineLane::wait(Slot& slot) {
  using Clock = std::chrono::steady_clock;
  constexpr auto between = std::chrono::microseconds(5);  // leaves the driver's lock to the queueing thread
  auto next = Clock::now();
  const auto asks = [&] {
    if (Clock::now() < next) return false;
    next = Clock::now() + between;
    return slot.finished.done();
  };
  if (!spin_until(spin_, asks)) slot.finished.synchronize();
}

StageSeconds PipelineLane::seconds(const Slot& slot) const {
  const auto stage = [&](std::size_t i) {
    return Event::seconds(slot.stamps[2 * i], slot.stamps[2 * i + 1]);
  };
  return {slot.fill_seconds, stage(0), stage(1), stage(2), 0};
}

StageTimes PipelineLane::times(const Slot& slot) const {
  StageTimes t;
  for (std::size_t i = 0; i < t.size(); ++i) t[i] = Event::seconds(origin_, slot.stamps[i]);
  return t;
}

StageSeconds PipelineLane::alone(PipelineWork& work, int repeats) {
  Slot& slot = slots_.front();
  try {
    for (Slot& s : slots_) {  // one-time costs: memory, loading kernels, recording graphs
      s.part = 0, s.timed = false;
      fit(s, work.bytes(0));
      work.fill(s);
      for (std::size_t stage = 0; stage < 3; ++stage) run_stage(stage, s, work).synchronize();
    }
    std::array<double, 3> seconds{};
    for (std::size_t stage = 0; stage < 3; ++stage) {
      Stream& stream = *std::array{&upload_, &compute_, &download_}[stage];
      slot.stamps[0].record(stream);
      for (int i = 0; i < repeats; ++i) run_stage(stage, slot, work);
      slot.stamps[1].record(stream);
      slot.stamps[1].synchronize();
      seconds[stage] = Event::seconds(slot.stamps[0], slot.stamps[1]) / repeats;
    }
    return {0, seconds[0], seconds[1], seconds[2], 0};
  } catch (...) {
    settle();
    throw;
  }
}

StageSeconds PipelineLane::copies_at_once(int repeats) {
  Slot& slot = slots_.front();
  try {
    slot.stamps[0].record(upload_), slot.stamps[2].record(download_);
    for (int i = 0; i < repeats; ++i) upload(slot), download(slot);
    slot.stamps[1].record(upload_), slot.stamps[3].record(download_);
    slot.stamps[1].synchronize(), slot.stamps[3].synchronize();
    return {0, Event::seconds(slot.stamps[0], slot.stamps[1]) / repeats, 0,
            Event::seconds(slot.stamps[2], slot.stamps[3]) / repeats, 0};
  } catch (...) {
    settle();
    throw;
  }
}

void PipelineLane::settle() noexcept {
  for (Stream* s : {&upload_, &compute_, &download_}) {
    try {
      s->synchronize();
    } catch (const Error&) {  // a lost device has no work left
    }
  }
}

}  // namespace detail
}  // namespace kolmo
