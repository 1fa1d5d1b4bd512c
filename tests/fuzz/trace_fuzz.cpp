#include <cstdint>
#include <cstdlib>

#include "kolmo/base/error.hpp"
#include "kolmo/io/json.hpp"
#include "kolmo/monitor/memory/analysis.hpp"
#include "kolmo/monitor/memory/export.hpp"
#include "kolmo/runtime/memory/trace.hpp"

// Any input must give a trace that can be analysed and exported, or an error that starts with the file's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const auto json =
      kolmo::parse_json<nlohmann::ordered_json>({reinterpret_cast<const char*>(data), size}, "f.json");
  const kolmo::memory::Trace trace = kolmo::memory::read_trace(json, "f.json");
  for (std::size_t pool = 0; pool < trace.pools.size(); ++pool) {
    kolmo::memory::analyse(trace, pool);
    kolmo::memory::pytorch_snapshot(trace, pool);
    kolmo::memory::rmm_csv(trace, pool);
  }
  return 0;
} catch (const kolmo::InvalidArgument& error) {
  if (!std::string(error.what()).starts_with("f.json: ")) std::abort();
  return 0;
}
