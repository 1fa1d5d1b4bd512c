#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct ReservoirUpdateArgs {
  In input, state, input_weights;
  OptIn weights, offsets, columns, values, bias;
  Out next;
  double leak = 1;

  static constexpr auto fields() {
    using A = ReservoirUpdateArgs;
    constexpr DTypes i64 = DTypes::of(DType::i64);
    return std::array{
        field<&A::input>("input", "... k", reals, "u"),
        field<&A::state>("state", "... n", reals, "s"),
        field<&A::input_weights>("input_weights", "n k", reals, "W_in"),
        field<&A::weights>("weights", "n n", reals, "W, dense"),
        field<&A::offsets>("offsets", "n+1", i64, "sparse W: where the elements of each row begin")
            .offsets_to("e"),
        field<&A::columns>("columns", "e", i64, "sparse W: column of each element").indexes("n"),
        field<&A::values>("values", "e", reals, "sparse W: value of each element"),
        field<&A::bias>("bias", "n", reals, "added to the sum"),
        field<&A::next>("next", "... n", reals, "s'"),
        option<&A::leak>("leak", 0.0, 1.0, "a, the share of the new value; 1: none of the old"),
    };
  }
};

/// One step of a leaky echo state network: s' = (1 - a) s + a tanh(W_in u + W s + bias). W is dense, or sparse in
/// compressed rows (offsets, columns, values; duplicates add up); one of them is given. Leading (batch) dimensions
/// of u and s are equal and share the weights. f64 or f32; products as in matmul, those of a sparse W in double.
/// `next` may be `state`. Faults: offsets that do not ascend from 0 to e, columns out of range. Same bits from run
/// to run.
/// Source: Jaeger, Lukosevicius, Popovici & Siewert, Neural Networks 20, 2007.
extern const Op<ReservoirUpdateArgs> reservoir_update;

}  // namespace kolmo
