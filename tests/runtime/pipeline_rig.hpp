#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "kolmo/runtime/pipeline/pipeline.hpp"
#include "tests/sim/simulated_device.hpp"

namespace kolmo {

/// An item for a simulated device that transfers a byte per virtual millisecond in each direction. Its result
/// is the sum of its input bytes, which are all `value`.
struct Load {
  int upload = 600;      ///< virtual milliseconds, and bytes
  double compute = 1.0;  ///< virtual seconds
  int download = 400;
  std::uint8_t value = 1;
  std::size_t index = 0;
};
inline constexpr SimulatedSpeed byte_per_millisecond{.upload = 1000, .download = 1000, .local = 1e12};

struct Sum {
  std::int64_t value = 0;
  int parts = 0;
};
using LoadPipeline = Pipeline<Load, Sum>;

inline void put_sum(const PipelineSlot& slot) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < slot.bytes.input; ++i) sum += std::int64_t(slot.input[i]);
  for (std::size_t i = 0; i < slot.bytes.output; i += sizeof sum)
    std::memcpy(slot.output + i, &sum, std::min(sizeof sum, slot.bytes.output - i));
}

/// On a simulated device the sum is computed when the kernel ends; on devices that work at once, in `compute`
/// itself.
inline PipelineStages<Load, Sum> load_stages(SimulatedDevice* simulated) {
  PipelineStages<Load, Sum> s;
  s.bytes = [](const Load& l, int) { return PipelineBytes{std::size_t(l.upload), std::size_t(l.download)}; };
  s.fill = [](const Load& l, const PipelineSlot& slot) {
    std::memset(slot.staged_input, l.value, slot.bytes.input);
  };
  s.compute = [simulated](const Load& l, const PipelineSlot& slot, Stream& stream) {
    if (simulated)
      simulated->kernel(stream, l.compute, [slot] { put_sum(slot); });
    else
      put_sum(slot);
  };
  s.read = [](const Load&, const PipelineSlot& slot, Sum& sum) {
    std::int64_t part = 0;
    std::memcpy(&part, slot.staged_output, sizeof part);
    sum.value += part, ++sum.parts;
  };
  return s;
}

inline PipelineOptions manual(PipelineOptions o = {}) {
  o.own_threads = false, o.spin = 0;
  return o;
}

inline Load load(std::size_t index) {
  return {.upload = int(1 + index % 700), .value = std::uint8_t(index % 251), .index = index};
}
inline std::int64_t sum_of(const Load& l) { return std::int64_t(l.upload) * l.value; }

/// Holds all results that were returned.
struct Returned {
  std::vector<std::size_t> order;
  std::vector<PipelineOutcome> outcome;
  std::vector<std::string> errors;
  std::vector<double> latency;

  void operator()(LoadPipeline::Result& r) {
    order.push_back(r.item.index);
    outcome.push_back(r.outcome);
    latency.push_back(r.latency);
    EXPECT_EQ(bool(r.error), r.outcome == PipelineOutcome::failed);
    if (r.outcome == PipelineOutcome::done) {
      EXPECT_EQ(r.value.value, sum_of(r.item)) << r.item.index;
    }
    try {
      if (r.error) std::rethrow_exception(r.error);
    } catch (const std::exception& e) {
      errors.push_back(e.what());
    }
  }
  std::ptrdiff_t count(PipelineOutcome o) const { return std::count(outcome.begin(), outcome.end(), o); }
  void expect_each_once(std::size_t items) const {
    std::vector<std::size_t> sorted = order, all(items);
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < items; ++i) all[i] = i;
    EXPECT_EQ(sorted, all);
  }
};

/// Submits item i at virtual time arrivals[i], whatever happened to earlier ones, and polls whenever work has
/// ended.
template <class Submit>
void replay(SimulatedDevice& device, LoadPipeline& pipeline, std::span<const double> arrivals,
            Submit submit) {
  constexpr double never = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0;;) {
    const double t = std::min(i < arrivals.size() ? arrivals[i] : never, device.next_end());
    if (t == never) return pipeline.poll();
    device.advance_to(t);
    pipeline.poll();
    for (; i < arrivals.size() && arrivals[i] <= t; ++i) submit(i);
  }
}

}  // namespace kolmo
