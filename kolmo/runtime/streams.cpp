#include "kolmo/runtime/streams.hpp"

#include <algorithm>

#include "kolmo/runtime/start_backends.hpp"

namespace kolmo {

Streams::Streams(Stream only) : Streams(std::vector{std::move(only)}) {}

Streams::Streams(std::vector<Stream> all) : state_(new State{std::move(all)}) {
  require(size() > 0, "streams: there is none");
}

Streams Streams::open(const std::string& devices, int threads) {
  const std::vector<Device> named = parse_devices(devices);
  start_backends(named);
  std::vector<Stream> all;
  for (const Device device : named) all.emplace_back(device, threads);
  return Streams(std::move(all));
}

DeviceKind Streams::widest() const {
  for (const Stream& stream : state_->all)
    if (stream.device().kind == DeviceKind::cuda) return DeviceKind::cuda;
  return state_->all[0].device().kind;
}

std::string Streams::text() const {
  std::string text;
  for (const Stream& stream : state_->all) text += (text.empty() ? "" : ", ") + to_string(stream.device());
  return text;
}

void Streams::lose(std::size_t i, std::string why) const {
  const std::scoped_lock lock(state_->mutex);
  const auto known = [i](const auto& l) { return l.first == i; };
  if (std::any_of(state_->lost.begin(), state_->lost.end(), known)) return;
  state_->lost.emplace_back(i, std::move(why));
}

bool Streams::usable(std::size_t i) const {
  const std::scoped_lock lock(state_->mutex);
  return std::none_of(state_->lost.begin(), state_->lost.end(), [i](const auto& l) { return l.first == i; });
}

std::vector<Streams::Loss> Streams::losses() const {
  const std::scoped_lock lock(state_->mutex);
  std::vector<Loss> all;
  for (const auto& [i, why] : state_->lost) all.push_back({state_->all[i].device(), why});
  return all;
}

}  // namespace kolmo
