#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace kolmo {

/// The text of a record that is kept under version control: the members of its three outer levels stand on
/// lines of their own, what is deeper on one line, and so does a container of plain values. Two records then
/// differ in one line for each result that differs.
std::string record_text(const nlohmann::ordered_json& record);

}  // namespace kolmo
