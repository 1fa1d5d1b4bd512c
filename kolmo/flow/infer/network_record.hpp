#pragma once
#include <string>

#include "kolmo/flow/infer/network.hpp"

namespace kolmo {

// Results as text for a checkpoint. Doubles read back as the same bits, NaN as NaN. Readers throw
// InvalidArgument if the text is not such a record.
std::string to_record(const TargetResult& result);
std::string to_record(const LinkResult& result);
TargetResult target_from_record(std::int32_t target, const std::string& text);
LinkResult link_from_record(std::int32_t source, std::int32_t target, const std::string& text);

}  // namespace kolmo
