#include "kolmo/runtime/event_cost.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "kolmo/runtime/backend.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {

constexpr int fills = 100, every = 10;
constexpr std::size_t size = 1 << 18;  // in bytes; a GPU fills fewer bytes without a kernel, at less cost

/// Device memory that is not counted in its pool's statistics.
struct Bytes {
  Stream& stream;
  Backend& on = backend(stream.device());
  void* data = on.allocate(size, stream.native());
  ~Bytes() { on.deallocate(data, size, stream.native()); }
  Tensor tensor() const { return kolmo::tensor(data, DType::u8, std::array{size}, stream.device()); }
};

double cost(Stream& stream, const Tensor& bytes) {
  const Device device = stream.device();
  Event begin(device), end(device);
  std::vector<std::pair<Event, Event>> pairs;
  for (int i = 0; i < fills; i += every) pairs.emplace_back(Event(device), Event(device));
  {
    const auto held = stream.hold();
    begin.record(stream);
    for (int i = 0; i < fills; ++i) stream.fill(bytes, 0);
    end.record(stream);
  }
  stream.synchronize();
  {
    const auto held = stream.hold();
    for (int i = 0; i < fills; ++i) {
      auto& [before, after] = pairs[std::size_t(i / every)];
      const bool timed = i % every == every / 2;
      if (timed) before.record(stream);
      stream.fill(bytes, 0);
      if (timed) after.record(stream);
    }
  }
  stream.synchronize();
  std::vector<double> times;
  for (const auto& [before, after] : pairs) times.push_back(Event::seconds(before, after));
  std::sort(times.begin(), times.end());
  const double alone = times[times.size() / 2], in_row = Event::seconds(begin, end);
  return alone - (in_row - alone) / (fills - 1);
}

}  // namespace

double measure_event_cost(Device device) {
  Stream stream(device);
  const Bytes bytes{stream};
  cost(stream, bytes.tensor());  // the first call loads code
  return std::max(0.0, cost(stream, bytes.tensor()));
}

}  // namespace kolmo
