#include "kolmo/check/verifier.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "kolmo/tune/tune_call.hpp"

namespace kolmo::check {
namespace {

struct SquareArgs {
  In x;
  Out y;
  static constexpr auto fields() {
    return std::tuple{Field{"x", &SquareArgs::x, "n", DTypes::of(DType::f64), "values"},
                      Field{"y", &SquareArgs::y, "n", DTypes::of(DType::f64), "squares"}};
  }
};

void squares(const SquareArgs& a, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) a.y.as<double>()[i] = a.x.as<double>()[i] * a.x.as<double>()[i];
}
constexpr CpuVariant<SquareArgs> variants[] = {
    {.row = {.name = "all"}, .run = [](const SquareArgs& a, void*, Stream&) { squares(a, a.x.size()); }},
    {.row = {.name = "fast, for it leaves out the last one"}, .run = [](const SquareArgs& a, void*, Stream&) {
       squares(a, std::min<std::int64_t>(a.x.size() - 1, 9));
     }}};
constexpr Case<SquareArgs> cases[] = {{.name = "n=10", .sizes = {{"n", 10}}, .tolerance = 0x1p-53}};
constinit const Op<SquareArgs> square{{.name = "test_square", .summary = "y = x x", .source = "elementary"},
                                      {.flops = [](const SquareArgs& a) { return double(a.x.size()); },
                                       .cpu_variants = variants,
                                       .cases = cases}};
constinit const Oracle<SquareArgs> oracle{square, [](const SquareArgs& a) {
                                            for (std::int64_t i = 0; i < a.x.size(); ++i)
                                              put(a.y, i, get(a.x, i) * get(a.x, i));
                                          }};

/// In a process of its own: what is registered stays. Ends with 0 if the right one of the two was taken.
[[noreturn]] void tune_and_exit(bool by_the_oracle) {
  register_op({.group = "test", .op = &square}, oracle);
  std::vector<double> x(100'000, 3), y(x.size());
  const SquareArgs args{.x = tensor(x.data(), {100'000}), .y = tensor(y.data(), {100'000})};
  Stream stream(Device{}, 1);
  tune::CallOptions options;
  options.measure.warm_up = 0;
  if (by_the_oracle) options.verify = by_oracle(stream);
  const tune::TunedCall tuned = tune::tune_call(square, &args, stream, options);
  const tune::Candidate winner = tuned.space[tuned.tuning.winner];
  for (const tune::Finding& f : tuned.tuning.findings) std::cerr << f.error << '\n';
  std::exit(tuned.tuning.decided ? winner.options.variant : -1);
}

TEST(ByOracleDeathTest, AWrongConfigurationCannotWinACall) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(tune_and_exit(true), testing::ExitedWithCode(0),
              "test_square: case 'n=10': y\\(9\\) was not written, expected");
  EXPECT_EXIT(tune_and_exit(false), testing::ExitedWithCode(1), "") << "the other one is faster";
}

}  // namespace
}  // namespace kolmo::check
