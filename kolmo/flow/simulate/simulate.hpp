#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kolmo {

/// Systems whose directed links are known, as tests of inference.
enum class SystemKind : std::uint8_t { coupled_logistic, var, henon, kuramoto, lorenz };

/// The kind with this name: coupled-logistic, var, henon, kuramoto or lorenz. Throws InvalidArgument for any
/// other name.
SystemKind system_kind(const std::string& name);
std::string to_string(SystemKind kind);

/// `source` drives `target`. In maps the target depends on the source `lag` samples earlier. In flows
/// (kuramoto, lorenz) it depends on the source at all times, and 1 is the first lag at which samples show it.
struct TrueLink {
  int source, target, lag;
  double strength;
  friend bool operator==(const TrueLink&, const TrueLink&) = default;
};

/// A random system. Every target has 0, 1 or 2 sources, and at least one link exists if there are two or more
/// variables. `self` is a variable's own parameter. With x_i the variables, c_ij strengths, u_ij lags:
///
/// - coupled_logistic: Kaneko, Physica D 34 (1989) 1, on random graphs, with lags and noise:
///   x_i(t) = (1 - sum_j c_ij) f(x_i(t-1)) + sum_j c_ij f(x_j(t-u_ij)) + 0.1 uniform(-1, 1),
///   reflected into [0, 1]; f(x) = 4 x (1 - x); u in 1..3.
/// - var: x_i(t) = self_i x_i(t-1) + sum_j c_ij x_j(t-u_ij) + normal(0, 1); u in 1..3.
///   Stable because self_i + sum_j |c_ij| <= 0.95 bounds the spectral radius.
/// - henon: Kugiumtzis, Phys. Rev. E 87 (2013) 062918, on random graphs; self_i in [1.35, 1.4]
///   keeps variables with the same sources from becoming equal:
///   x_i(t) = self_i - (sum_j c_ij x_j(t-1) + (1 - sum_j c_ij) x_i(t-1))^2 + 0.3 x_i(t-2).
/// - kuramoto: d theta_i = (2 pi self_i + sum_j c_ij sin(theta_j - theta_i)) dt + 0.3 dW_i, by Euler-Maruyama
///   with step 0.1; observed as sin(theta_i) once per unit of time, since the phases grow without bound.
/// - lorenz: x' = 10 (y - x) + sum_j c_ij (x_j - x_i), y' = x (self_i - z) - y, z' = x y - 8/3 z,
///   by Runge-Kutta 4 with step 0.01; x is observed every 0.1. self_i is in [35, 45]: at 28 the
///   coupling would damp the system to a fixed point.
struct System {
  SystemKind kind{};
  int variables = 0;
  std::uint64_t seed = 0;
  std::vector<TrueLink> links;  // by target, then source
  std::vector<double> self;     // per variable; empty where the kind has none
};

struct Simulation {
  std::vector<std::string> names;           // x0, x1, ...
  std::vector<std::vector<double>> values;  // values[i][t]
  std::vector<TrueLink> links;
  nlohmann::json parameters;  // kind, variables, samples, seed, burn_in, sample_interval, equation, self
};

/// Draws links and parameters from the seed. Throws InvalidArgument unless 1 <= variables <= 10000.
System draw_system(SystemKind kind, int variables, std::uint64_t seed);

/// Runs a system from a random state, drops 1000 samples and returns the next `samples`. Only IEEE arithmetic
/// and Philox are used, so that results have the same bits on every machine. Noise is addressed by variable
/// and time, so that a change of one link changes only the variables downstream of it. Throws InvalidArgument
/// unless 1 <= samples and samples * variables <= 2^30.
Simulation simulate(const System& system, std::int64_t samples);
Simulation simulate(const std::string& kind, int variables, std::int64_t samples, std::uint64_t seed);

/// Writes the series as CSV and the true links as JSON, with indices from 0:
/// {"parameters": {...}, "names": [...], "links": [{"source", "target", "lag", "strength"}, ...]}
void write_simulation(const Simulation& simulation, const std::string& csv_path,
                      const std::string& truth_path);

}  // namespace kolmo
