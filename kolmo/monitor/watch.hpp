#pragma once
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "kolmo/monitor/devices.hpp"
#include "kolmo/monitor/history.hpp"

namespace kolmo::monitor {

/// Reads devices and metrics once a second on its own thread as long as it lives, and provides the latest
/// readings. Its CPU time is counted in kolmo_monitor_overhead_seconds_total{component="watch"}.
class Watch {
 public:
  Watch();
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  std::string prometheus();
  nlohmann::ordered_json snapshot(bool with_curves = false);

 private:
  void look();

  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  DeviceMeter meter_;
  History history_;
  std::thread thread_;
};

}  // namespace kolmo::monitor
