#pragma once
#include <span>
#include <string>
#include <vector>

#include "kolmo/flow/infer/network.hpp"

namespace kolmo {

/// A sequential test after a part of its surrogates. An open one has the values that it kept of the part.
struct TestRecord {
  SequentialTest::State state{.open = false};
  std::vector<double> kept;
};

// Results as text for a checkpoint. Doubles read back as the same bits, NaN as NaN. Readers throw
// InvalidArgument if the text is not such a record.
std::string to_record(const TargetResult& result);
std::string to_record(std::span<const LinkResult> results);
std::string to_record(std::span<const TestRecord> tests);
TargetResult target_from_record(std::int32_t target, const std::string& text);
/// The links from these sources, in their order.
std::vector<LinkResult> links_from_record(std::span<const std::int32_t> sources, std::int32_t target,
                                          const std::string& text);

std::vector<TestRecord> tests_from_record(std::size_t count, const std::string& text);

}  // namespace kolmo
