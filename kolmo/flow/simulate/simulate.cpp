#include "kolmo/flow/simulate/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kolmo/base/error.hpp"
#include "kolmo/flow/data/portable_math.hpp"
#include "kolmo/flow/simulate/steps.hpp"
#include "kolmo/io/atomic_file.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/table.hpp"

namespace kolmo {
namespace {

constexpr std::size_t burn_in = 1000;

/// The parameters of a kind of system.
struct Kind {
  const char* name;
  bool flow;
  int longest_lag;
  double coupling;             // sum of the strengths of the links into one target
  bool either_sign;            // strengths may be negative
  double self_low, self_high;  // range of `self`; equal if the kind has none
  double sample_interval;
  const char* equation;
};

constexpr Kind kinds[] = {
    {"coupled-logistic", false, 3, 0.25, false, 0, 0, 1,
     "x_i(t) = (1 - sum_j c_ij) f(x_i(t-1)) + sum_j c_ij f(x_j(t-u_ij)) + 0.1 uniform(-1, 1), "
     "reflected into [0, 1]; f(x) = 4 x (1 - x)"},
    {"var", false, 3, 0.65, true, 0.1, 0.3, 1,
     "x_i(t) = self_i x_i(t-1) + sum_j c_ij x_j(t-u_ij) + normal(0, 1)"},
    {"henon", false, 1, 0.3, false, 1.35, 1.4, 1,
     "x_i(t) = self_i - (sum_j c_ij x_j(t-1) + (1 - sum_j c_ij) x_i(t-1))^2 + 0.3 x_i(t-2)"},
    {"kuramoto", true, 1, 0.4, false, 0.05, 0.15, 1,
     "d theta_i = (2 pi self_i + sum_j c_ij sin(theta_j - theta_i)) dt + 0.3 dW_i; x_i = sin(theta_i)"},
    {"lorenz", true, 1, 2, false, 35, 45, 0.1,
     "x_i' = 10 (y_i - x_i) + sum_j c_ij (x_j - x_i), y_i' = x_i (self_i - z_i) - y_i, "
     "z_i' = x_i y_i - 8/3 z_i"},
};

const Kind& traits(SystemKind kind) { return kinds[std::size_t(kind)]; }

/// Draws `count` different sources for target i, in ascending order.
std::vector<int> draw_sources(const portable::Random& random, int variables, int target, int count) {
  std::vector<int> sources;
  for (int k = 0; k < count; ++k) {
    // Takes the n-th of the variables that are neither the target nor drawn before.
    int n = random.below(variables - 1 - k, detail::topology, std::uint64_t(k) + 1, std::uint32_t(target));
    std::vector<int> taken = sources;
    taken.push_back(target);
    std::sort(taken.begin(), taken.end());
    for (const int other : taken) n += other <= n;
    sources.push_back(n);
  }
  std::sort(sources.begin(), sources.end());
  return sources;
}

}  // namespace

SystemKind system_kind(const std::string& name) {
  std::string known;
  for (std::size_t k = 0; k < std::size(kinds); ++k) {
    if (name == kinds[k].name) return SystemKind(k);
    known += (k ? ", " : "") + std::string(kinds[k].name);
  }
  fail<InvalidArgument>("simulate: no system \"" + printable(name) + "\"; there are " + known);
}

std::string to_string(SystemKind kind) { return traits(kind).name; }

System draw_system(SystemKind kind, int variables, std::uint64_t seed) {
  require(variables >= 1 && variables <= 10000,
          "simulate: variables " + std::to_string(variables) + ": want 1 to 10000");
  const Kind& traits_of = traits(kind);
  const portable::Random random(seed);
  System system{kind, variables, seed, {}, {}};
  std::vector<int> counts(std::size_t(variables), 0);
  for (int i = 0; i < variables; ++i) {
    counts[std::size_t(i)] = std::min(random.below(3, detail::topology, 0, std::uint32_t(i)), variables - 1);
  }
  if (variables > 1 && std::count(counts.begin(), counts.end(), 0) == variables) counts.back() = 1;
  for (int i = 0; i < variables; ++i) {
    const int count = counts[std::size_t(i)];
    for (const int source : draw_sources(random, variables, i, count)) {
      const auto j = std::uint64_t(source);
      const bool negative = traits_of.either_sign && random.below(2, detail::strengths, j, std::uint32_t(i));
      const int lag = 1 + random.below(traits_of.longest_lag, detail::lags, j, std::uint32_t(i));
      const double strength = traits_of.coupling / count;
      system.links.push_back({source, i, lag, negative ? -strength : strength});
    }
    if (traits_of.self_low < traits_of.self_high) {
      system.self.push_back(
          random.uniform(detail::own, 0, std::uint32_t(i), traits_of.self_low, traits_of.self_high));
    }
  }
  return system;
}

detail::Incoming detail::incoming_links(const System& system) {
  Incoming incoming(std::size_t(system.variables));
  for (const TrueLink& link : system.links) incoming[std::size_t(link.target)].push_back(link);
  return incoming;
}

Simulation simulate(const System& system, std::int64_t samples) {
  const auto variables = std::int64_t(system.variables);
  require(
      samples >= 1 && samples <= (std::int64_t(1) << 30) / variables,
      "simulate: samples " + std::to_string(samples) + ": want at least 1 and at most 2^30 numbers in all");
  const Kind& kind = traits(system.kind);
  const std::size_t length = burn_in + std::size_t(samples);
  Simulation out;
  out.values = kind.flow ? detail::run_flow(system, length) : detail::run_map(system, length);
  for (std::size_t i = 0; i < out.values.size(); ++i) {
    if (!std::isfinite(out.values[i].back())) {
      fail<InvalidArgument>("simulate: x" + std::to_string(i) + " of the " + kind.name +
                            " system with seed " + std::to_string(system.seed) +
                            " grows without bound; take another seed");
    }
    out.values[i].erase(out.values[i].begin(), out.values[i].begin() + burn_in);
    out.names.push_back("x" + std::to_string(i));
  }
  out.links = system.links;
  out.parameters = {{"system", kind.name},      {"variables", variables},
                    {"samples", samples},       {"seed", system.seed},
                    {"burn_in", burn_in},       {"sample_interval", kind.sample_interval},
                    {"equation", kind.equation}};
  if (!system.self.empty()) out.parameters["self"] = system.self;
  return out;
}

Simulation simulate(const std::string& kind, int variables, std::int64_t samples, std::uint64_t seed) {
  return simulate(draw_system(system_kind(kind), variables, seed), samples);
}

void write_simulation(const Simulation& simulation, const std::string& csv_path,
                      const std::string& truth_path) {
  nlohmann::json links = nlohmann::json::array();
  for (const TrueLink& link : simulation.links) {
    links.push_back(
        {{"source", link.source}, {"target", link.target}, {"lag", link.lag}, {"strength", link.strength}});
  }
  const nlohmann::json truth = {
      {"parameters", simulation.parameters}, {"names", simulation.names}, {"links", std::move(links)}};
  Table table;
  table.names = simulation.names;
  table.columns = simulation.values;
  AtomicFile truth_file(truth_path);
  truth_file.write(truth.dump(2) + "\n");
  write_csv(csv_path, table);
  truth_file.commit();
}

}  // namespace kolmo
