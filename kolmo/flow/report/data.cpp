#include "kolmo/flow/report/data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <tuple>

#include "kolmo/base/number_text.hpp"
#include "kolmo/flow/result/link_table.hpp"

namespace kolmo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kProfileBytes = 1'300'000;  // most bytes of the profiles of a large network
constexpr int kCellCharacters = 4;

std::uint32_t largest_code(int characters) { return (std::uint32_t(1) << (6 * characters)) - 1; }

/// A p-value rounded to the digits that the page shows, so that a large network has few different ones.
double shown(double p) { return number_in(significant_text(p, 3)).value_or(p); }

int characters_for(std::size_t largest) {
  int characters = 1;
  while (characters < 5 && largest > largest_code(characters)) ++characters;
  return characters;
}

/// Turns numbers between two bounds into codes.
struct Scale {
  double low = 0, high = 1;
  int characters = 4;

  double step() const { return (high - low) / (largest_code(characters) - 1); }
  std::uint32_t code(double value) const {
    if (!std::isfinite(value)) return 0;
    return 1 + std::uint32_t(std::lround((std::clamp(value, low, high) - low) / step()));
  }
  Json json() const { return {{"low", low}, {"step", step()}, {"characters", characters}}; }
};

Scale scale_of(const NetworkDocument& network) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  const auto see = [&](double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value), high = std::max(high, value);
  };
  for (const NetworkLink& l : network.links) {
    for (const double v : {l.value, l.surrogate_mean, l.surrogate_std, l.surrogate_q95}) see(v);
    for (const LagValue& v : l.profile) see(v.value);
  }
  if (low > high) low = 0, high = 1;
  if (low == high) high = low + 1;
  return {low, high, 4};
}

class Grids {
 public:
  explicit Grids(const NetworkDocument& network)
      : network_(network),
        n_(network.variables.size()),
        large_(n_ > kMostDrawnVariables),
        scale_(scale_of(network)) {}

  void add_numbers(Json& j) const {
    const auto add = [&](const char* name, double NetworkLink::*member, int characters) {
      Scale scale = scale_;
      scale.characters = characters;
      std::vector<std::uint32_t> codes(n_ * n_);
      for (const NetworkLink& l : network_.links) codes[cell(l)] = scale.code(l.*member);
      j[name] = scale.json();
      j[name]["codes"] = packed(codes, characters);
    };
    const int characters = large_ ? 3 : 4;
    add("value", &NetworkLink::value, characters);
    if (!network_.compared()) return;
    add("mean", &NetworkLink::surrogate_mean, characters);
    add("std", &NetworkLink::surrogate_std, characters);
    add("q95", &NetworkLink::surrogate_q95, characters);
  }

  void add_tests(Json& j) const {
    std::vector<std::uint32_t> lags(n_ * n_), levels(n_ * n_);
    std::map<std::tuple<double, double, std::string>, std::uint32_t> known;
    Json list = Json::array();
    for (const NetworkLink& l : network_.links) {
      lags[cell(l)] = 1 + 2 * std::uint32_t(l.lag) + l.significant;
      if (std::isnan(l.p_value) || std::isnan(l.p_adjusted)) continue;
      const std::string floor = p_at_floor(network_, l) ? p_text(network_, l) : "";
      const double p = large_ ? shown(l.p_value) : l.p_value,
                   adjusted = large_ ? shown(l.p_adjusted) : l.p_adjusted;
      const auto [at, is_new] = known.try_emplace({p, adjusted, floor}, std::uint32_t(known.size()));
      if (is_new) list.push_back({p, adjusted});
      if (is_new && !floor.empty()) list.back().push_back(floor);
      levels[cell(l)] = 1 + at->second;
    }
    add_codes(j, "lag", lags);
    add_codes(j, "p", levels);
    j["levels"] = std::move(list);
  }

  void add_profiles(Json& j) const {
    std::size_t lags = 0;
    for (const NetworkLink& l : network_.links)
      for (const LagValue& v : l.profile) lags = std::max(lags, std::size_t(std::max(v.lag, 0)));
    Scale scale = scale_;
    scale.characters = large_ ? 2 : 4;
    const std::size_t bytes = std::max<std::size_t>(1, lags * std::size_t(scale.characters));
    const bool all = !large_ || n_ * n_ * bytes <= kProfileBytes;
    std::vector<std::uint32_t> codes(all ? n_ * n_ * lags : 0), cells;
    const auto put = [&](const NetworkLink& l, std::size_t first) {
      for (const LagValue& v : l.profile)
        if (v.lag >= 1) codes[first + std::size_t(v.lag - 1)] = scale.code(v.value);
    };
    if (all) {
      for (const NetworkLink& l : network_.links) put(l, cell(l) * lags);
    } else {
      for (const NetworkLink* l : strongest(kProfileBytes / (bytes + kCellCharacters))) {
        cells.push_back(std::uint32_t(cell(*l)));
        codes.resize(codes.size() + lags);
        put(*l, codes.size() - lags);
      }
      j["profiled"] = {{"characters", kCellCharacters}, {"codes", packed(cells, kCellCharacters)}};
    }
    j["lags"] = lags;
    j["profiles"] = scale.json();
    j["profiles"]["codes"] = packed(codes, scale.characters);
  }

 private:
  std::size_t cell(const NetworkLink& l) const { return l.source * n_ + l.target; }
  std::vector<const NetworkLink*> strongest(std::size_t count) const {
    std::vector<const NetworkLink*> links;
    for (const NetworkLink& l : network_.links) links.push_back(&l);
    std::stable_sort(links.begin(), links.end(), [](const NetworkLink* a, const NetworkLink* b) {
      const auto rank = [](const NetworkLink* l) {
        return std::pair(!l->significant, std::isnan(l->value) ? HUGE_VAL : -l->value);
      };
      return rank(a) < rank(b);
    });
    links.resize(std::min(links.size(), count));
    return links;
  }
  static void add_codes(Json& j, const char* name, const std::vector<std::uint32_t>& codes) {
    const int characters = characters_for(codes.empty() ? 0 : *std::max_element(codes.begin(), codes.end()));
    j[name] = {{"characters", characters}, {"codes", packed(codes, characters)}};
  }

  const NetworkDocument& network_;
  const std::size_t n_;
  const bool large_;
  const Scale scale_;
};

}  // namespace

std::string packed(std::span<const std::uint32_t> codes, int characters) {
  constexpr char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve(codes.size() * std::size_t(characters));
  for (const std::uint32_t code : codes)
    for (int c = characters - 1; c >= 0; --c) text += alphabet[code >> (6 * c) & 63];
  return text;
}

nlohmann::ordered_json report_data(const NetworkDocument& network) {
  Json j{{"variables", network.variables}, {"units", network.units},
         {"tested", network.tested()},     {"compared", network.compared()},
         {"pairs", network.links.size()},  {"significant", network.significant_links().size()}};
  if (network.time_step) j["step"] = network.time_step->step, j["unit"] = network.time_step->unit;
  if (!network.groups.names.empty())
    j["groups"] = {{"names", network.groups.names}, {"of", network.groups.group_of}};
  const Grids grids(network);
  grids.add_numbers(j);
  grids.add_tests(j);
  grids.add_profiles(j);
  return j;
}

}  // namespace kolmo
