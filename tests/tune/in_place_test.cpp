// Operators that change tensors in place are measured on the values that the caller gave, and these values
// stay.
#include <gtest/gtest.h>

#include <iostream>

#include "kolmo/op/registry.hpp"
#include "kolmo/tune/tune_call.hpp"

namespace kolmo::tune {
namespace {

struct DecayArgs {
  InOut state;
  static constexpr auto fields() {
    return std::array{field<&DecayArgs::state>("state", "n", DTypes::of(DType::f64), "changed in place")};
  }
};
int calls = 0, on_changed_state = 0;
void decay(const DecayArgs& a, Arena, Stream&, int) {
  double* const state = a.state.as<double>();
  ++calls, on_changed_state += state[0] != 3;
  for (std::int64_t i = 0; i < a.state.size(); ++i) state[i] *= 0.5;
}

/// Exits with 0 if every call began with the values of the caller. It runs in a process of its own, because a
/// registration is permanent.
[[noreturn]] void tune_and_exit(Mode mode) {
  static constexpr Row<int> rows[] = {{"one", 1}, {.name = "simple", .config = 2, .naive = true}};
  static constinit const Definition<DecayArgs> decays{
      {.name = "decays"}, {.flops = [](const DecayArgs& a) { return double(a.state.size()); }}};
  static constinit const Op<DecayArgs> op{decays};
  static constinit const Impl<DecayArgs> cpu{{.rows = rows, .launch = decay}};
  register_op({.group = "test", .op = &decays, .on = {&cpu}});
  std::vector<double> state(100, 3);
  const DecayArgs args{.state = tensor(state.data(), {100})};
  Stream stream(Device{}, 1);
  CallOptions options;
  options.measure.mode = mode, options.measure.warm_up = 0.05, options.search.budget = 0.3;
  tune_call(op, &args, stream, options);
  const bool kept = state == std::vector<double>(100, 3);
  std::cerr << calls << " calls, on changed state " << on_changed_state << (kept ? ", kept" : ", lost")
            << '\n';
  std::exit(calls > 100 && on_changed_state == 0 && kept ? 0 : 1);
}

TEST(TuneInPlaceDeathTest, EveryCallBeginsWithTheCallersValues) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const Mode mode : {Mode::stream_hot, Mode::stream_cold, Mode::graph_hot, Mode::eager})
    EXPECT_EXIT(tune_and_exit(mode), testing::ExitedWithCode(0), "on changed state 0, kept")
        << to_string(mode);
}

}  // namespace
}  // namespace kolmo::tune
