#include "kolmo/flow/network_document.hpp"

#include <algorithm>
#include <cmath>

#include "kolmo/base/error.hpp"

namespace kolmo {
namespace {

using nlohmann::json;

[[noreturn]] void bad(const std::string& key, const std::string& problem) {
  fail<InvalidArgument>("network document: " + key + ": " + problem);
}

const json& member(const json& object, const std::string& path, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) bad(path + key, "is missing");
  return *found;
}

double number(const json& object, const std::string& path, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nan("");
  if (!found->is_number()) bad(path + key, "must be a number or null");
  return found->get<double>();
}

template <class T = int>
T integer(const json& object, const std::string& path, const char* key) {
  const json& value = member(object, path, key);
  if (!value.is_number_integer()) bad(path + key, "must be an integer");
  return value.get<T>();
}

std::size_t variable(const json& object, const std::string& path, const char* key, std::size_t count) {
  const auto index = integer<long long>(object, path, key);
  if (index < 0 || index >= static_cast<long long>(count))
    bad(path + key, std::to_string(index) + " is not one of " + std::to_string(count) + " variables");
  return static_cast<std::size_t>(index);
}

std::string text(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return "";
  if (!found->is_string()) bad(key, "must be a string");
  return found->get<std::string>();
}

const json& list(const json& object, const std::string& path, const char* key) {
  const json& value = member(object, path, key);
  if (!value.is_array()) bad(path + key, "must be a list");
  return value;
}

NetworkLink read_link(const json& item, const std::string& path, std::size_t variables) {
  NetworkLink link;
  link.source = variable(item, path, "source", variables);
  link.target = variable(item, path, "target", variables);
  link.value = number(item, path, "value");
  link.lag = integer(item, path, "lag");
  link.p_value = number(item, path, "p_value");
  link.p_adjusted = number(item, path, "p_adjusted");
  const json& significant = member(item, path, "significant");
  if (!significant.is_boolean()) bad(path + "significant", "must be true or false");
  link.significant = significant.get<bool>();
  if (item.contains("profile")) {
    for (const json& point : list(item, path, "profile"))
      link.profile.push_back(
          {integer(point, path + "profile.", "lag"), number(point, path + "profile.", "value")});
  }
  link.surrogate_q95 = number(item, path, "surrogate_q95");
  return link;
}

NetworkTarget read_target(const json& item, const std::string& path, std::size_t variables) {
  NetworkTarget target;
  target.target = variable(item, path, "target", variables);
  target.history = integer(item, path, "history");
  target.tau = integer(item, path, "tau");
  target.samples = integer<long long>(item, path, "samples");
  target.active_information_storage = number(item, path, "active_information_storage");
  return target;
}

}  // namespace

std::vector<const NetworkLink*> NetworkDocument::edges() const {
  std::vector<const NetworkLink*> found;
  for (const NetworkLink& link : links)
    if (link.significant) found.push_back(&link);
  std::stable_sort(found.begin(), found.end(), [](const NetworkLink* a, const NetworkLink* b) {
    const double x = std::isnan(a->value) ? -HUGE_VAL : a->value;
    const double y = std::isnan(b->value) ? -HUGE_VAL : b->value;
    return x > y;
  });
  return found;
}

std::string NetworkDocument::text_option(const char* name) const {
  const auto found = options.find(name);
  return found != options.end() && found->is_string() ? found->get<std::string>() : "";
}

double NetworkDocument::number_option(const char* name) const {
  const auto found = options.find(name);
  return found != options.end() && found->is_number() ? found->get<double>() : std::nan("");
}

NetworkDocument read_network(const nlohmann::json& document) {
  if (!document.is_object()) bad("document", "must be an object");
  NetworkDocument network;
  network.source = json::parse(document.dump(-1, ' ', false, json::error_handler_t::replace));
  const json& root = network.source;
  network.version = text(root, "kolmo_version");
  network.command = text(root, "command");
  network.created = text(root, "created");
  network.device = text(root, "device");
  network.units = text(root, "units");
  if (network.units.empty()) network.units = "nats";
  if (const double seconds = number(root, "", "seconds"); !std::isnan(seconds)) network.seconds = seconds;
  network.samples = integer<long long>(root, "", "samples");
  network.options = root.value("options", json::object());
  if (!network.options.is_object()) bad("options", "must be an object");
  for (const json& name : list(root, "", "variables")) {
    if (!name.is_string()) bad("variables", "must be a list of strings");
    network.variables.push_back(name.get<std::string>());
  }
  if (network.variables.empty()) bad("variables", "is empty");

  const std::size_t count = network.variables.size();
  const auto each = [&](const char* key, auto&& read) {
    std::size_t index = 0;
    for (const json& item : list(root, "", key)) {
      const std::string path = key + ("[" + std::to_string(index++)) + "].";
      if (!item.is_object()) bad(path.substr(0, path.size() - 1), "must be an object");
      read(item, path);
    }
  };
  each("links", [&](const json& item, const std::string& path) {
    network.links.push_back(read_link(item, path, count));
  });
  if (root.contains("targets")) {
    each("targets", [&](const json& item, const std::string& path) {
      network.targets.push_back(read_target(item, path, count));
    });
  }
  return network;
}

}  // namespace kolmo
