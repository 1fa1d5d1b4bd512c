#include "kolmo/runtime/monitor.hpp"

#include <map>
#include <mutex>

namespace kolmo::monitor {
namespace {
std::mutex mutex;
std::map<std::pair<std::string, std::string>, Record> records;
}  // namespace

void add(std::string_view op, std::string_view device, double seconds) {
  const std::scoped_lock lock(mutex);
  Record& r = records[{std::string(op), std::string(device)}];
  if (r.op.empty()) r.op = op, r.device = device;
  ++r.calls, r.seconds += seconds;
}

std::vector<Record> snapshot() {
  const std::scoped_lock lock(mutex);
  std::vector<Record> all;
  for (const auto& [key, record] : records) all.push_back(record);
  return all;
}

void reset() {
  const std::scoped_lock lock(mutex);
  records.clear();
}

}  // namespace kolmo::monitor
