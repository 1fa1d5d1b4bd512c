#include "kolmo/runtime/stream_status.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace kolmo {

void StreamStatus::release() noexcept {
  if (word_) backend_.deallocate(std::exchange(word_, nullptr), sizeof *word_, stream_);
}

Status StreamStatus::begin(std::string_view op, std::span<const std::string_view> faults) {
  if (faults.empty() || !checked) return current = {};
  const bool captured = backend_.captured_by_owner(stream_);
  if (!word_ && captured)
    fail<Unsupported>(
        "a borrowed stream whose owner captures it cannot begin to report faults of data; call the operator "
        "on it once before, or capture it with kolmo::capture, or switch them off with check_data(false)");
  if (!captured) prepare();
  const std::size_t number = number_of({op, faults}, captured);
  pending_ = true;
  return current = {word_, static_cast<unsigned long long>(number) << 48};
}

void StreamStatus::prepare() {
  next_captured_ = 0;
  if (word_) return;
  queued_.reserve(64);
  word_ = static_cast<unsigned long long*>(backend_.allocate(sizeof *word_, stream_));
  backend_.fill(word_, 0xFF, sizeof *word_, stream_);
}

std::size_t StreamStatus::add(std::vector<Launch>& launches, const Launch& launch) {
  if (launches.size() < remembered)
    launches.push_back(launch);
  else if (launches.back().op != launch.op)
    launches.back() = {"one of several operators", {}};
  return launches.size() - 1;
}

// Within a graph numbers ascend in the order of its launches. Graphs share numbers where they launch the same
// operators.
std::size_t StreamStatus::number_of(const Launch& launch, bool captured) {
  if (!captured) return add(queued_, launch);
  const auto from = captured_.begin() + std::ptrdiff_t(next_captured_);
  const auto known = std::find_if(from, captured_.end(), [&](const Launch& l) { return l.op == launch.op; });
  const std::size_t i =
      known == captured_.end() ? add(captured_, launch) : std::size_t(known - captured_.begin());
  next_captured_ = i + 1;
  return remembered + i;
}

void StreamStatus::check() {
  if (!pending_) return;
  unsigned long long word = Status::none;
  backend_.copy(&word, word_, sizeof word, stream_);
  backend_.synchronize(stream_);
  pending_ = false;
  const auto number = std::size_t(word >> 48), fault = std::size_t(word >> Status::index_bits & 0xFF);
  const bool captured = number >= remembered;
  const auto& launches = captured ? captured_ : queued_;
  const std::size_t i = captured ? number - remembered : number;
  const Launch launch = i < launches.size() ? launches[i] : Launch{"an operator", {}};
  queued_.clear();
  if (word == Status::none) return;
  backend_.fill(word_, 0xFF, sizeof *word_, stream_);
  fail<InvalidArgument>(std::string(launch.op) + ": " +
                        std::string(fault < launch.faults.size() ? launch.faults[fault] : "unknown fault") +
                        " at element " + std::to_string(word & ((1ull << Status::index_bits) - 1)));
}

}  // namespace kolmo
