#pragma once
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "kolmo/base/utc.hpp"
#include "kolmo/io/atomic_file.hpp"
#include "kolmo/io/record_text.hpp"
#include "kolmo/runtime/device.hpp"
#include "kolmo/version.hpp"

namespace kolmo::bench {

/// Writes measurements together with their conditions: device, command, version, date.
inline void write_record(const std::string& file, const std::string& kind, const DeviceInfo& device,
                         const nlohmann::ordered_json& measured) {
  nlohmann::ordered_json all{{"kolmo_version", version()}, {"commit", commit()},      {"date", utc_now()},
                             {"device", device.name},      {"driver", device.driver}, {"kind", kind}};
  all.update(measured);
  write_file(file, record_text(all));
}

/// Runs a benchmark and returns its exit status; prints an error as one line.
inline int status_of(const char* name, int (*run)(int, char**), int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "bench_" << name << ": " << e.what() << '\n';
    return 1;
  }
}

}  // namespace kolmo::bench
