#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

enum class Integrator : std::int32_t { euler, rk4 };
inline constexpr std::string_view integrator_names[] = {"euler", "rk4"};
constexpr std::span<const std::string_view> names_of(Integrator) { return integrator_names; }

struct KuramotoEvolutionArgs {
  In theta, omega;
  OptIn adjacency, offsets, columns, values;
  Out result;
  double strength = 1, dt = 0.01;
  std::int64_t steps = 1;
  Integrator method = Integrator::rk4;

  static constexpr auto fields() {
    using A = KuramotoEvolutionArgs;
    constexpr DTypes i64 = DTypes::of(DType::i64);
    return std::array{
        field<&A::theta>("theta", "... n", reals, "phases, in radians"),
        field<&A::omega>("omega", "... n", reals, "natural frequencies, in radians per unit of time"),
        field<&A::adjacency>("adjacency", "n n", reals, "A_ij, the weight of oscillator j in i"),
        field<&A::offsets>("offsets", "n+1", i64, "sparse A: where the elements of each row begin")
            .offsets_to("e"),
        field<&A::columns>("columns", "e", i64, "sparse A: column of each element").indexes("n"),
        field<&A::values>("values", "e", reals, "sparse A: value of each element"),
        field<&A::result>("result", "... n", reals, "phases after the last step, not reduced to a turn"),
        option<&A::strength>("strength", -1e9, 1e9, "K, in radians per unit of time"),
        option<&A::dt>("dt", -1e9, 1e9, "length of a step, in units of time"),
        option<&A::steps>("steps", 1, 1'000'000'000, "number of steps"),
        option<&A::method>("method", "how a step is integrated"),
    };
  }
};

/// Phases after `steps` steps of Euler's or the classical fourth-order Runge-Kutta method for
///   d theta_i / dt = omega_i + (K / N) sum_j A_ij sin(theta_j - theta_i)
/// Without a matrix A_ij = 1, and a step costs O(N): the sum is that of the order parameter, cos(theta_i) sum
/// sin(theta_j) - sin(theta_i) sum cos(theta_j). A is the same for all leading (batch) indices: dense, or
/// sparse in compressed rows (offsets, columns, values; duplicates add up). f64 or f32; computed in double
/// and rounded once. `result` may be `theta`. Faults: offsets that do not ascend from 0 to e, columns out of
/// range. Same bits from run to run.
/// Source: Kuramoto 1975; Acebron et al., Rev. Mod. Phys. 77, 2005.
extern const Op<KuramotoEvolutionArgs> kuramoto_evolution;

}  // namespace kolmo
