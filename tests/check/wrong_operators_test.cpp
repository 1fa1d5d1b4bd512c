// Operators that are wrong on purpose: the conformance suite must say what is wrong with each.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <map>

#include "kolmo/check/conformance.hpp"
#include "kolmo/check/verifier.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/tune/tune_call.hpp"

namespace kolmo::check {
namespace {

struct TwiceArgs {
  In x;
  Out y;
  static constexpr auto fields() {
    return std::tuple{Field{"x", &TwiceArgs::x, "n", DTypes::of(DType::f64), "input"},
                      Field{"y", &TwiceArgs::y, "n", DTypes::of(DType::f64), "2 x"}};
  }
};
struct TotalArgs {
  In x;
  Out sum;
  static constexpr auto fields() {
    return std::tuple{Field{"x", &TotalArgs::x, "n", DTypes::of(DType::f64), "input"},
                      Field{"sum", &TotalArgs::sum, "", DTypes::of(DType::f64), "sum of x"}};
  }
};

constexpr Case<TwiceArgs> twice_cases[] = {{.name = "n=37", .sizes = {{"n", 37}}, .tolerance = 1e-12}};
constexpr Case<TotalArgs> total_cases[] = {{.name = "n=37", .sizes = {{"n", 37}}, .tolerance = 1e-12}};

void twice(const TwiceArgs& a) {
  for (std::int64_t i = 0; i < a.x.size(); ++i) put(a.y, i, 2 * get(a.x, i));
}
void total(const TotalArgs& a) {
  long double sum = 0;
  for (std::int64_t i = 0; i < a.x.size(); ++i) sum += get(a.x, i);
  put(a.sum, 0, sum);
}

double flops(const TwiceArgs& a) { return double(a.x.size()); }
double* in(const TwiceArgs& a) { return a.x.as<double>(); }
double* out(const TwiceArgs& a) { return a.y.as<double>(); }
void right(const TwiceArgs& a) {
  for (std::int64_t i = 0; i < a.x.size(); ++i) out(a)[i] = 2 * in(a)[i];
}

/// Aspects that fail, with their messages.
template <class Args>
std::map<std::string, std::string> failures(const Op<Args>& op, void (*oracle_function)(const Args&)) {
  const Oracle<Args> oracle{op, oracle_function};
  std::map<std::string, std::string> failed;
  for (const Result& r : check_case({"test", &op, nullptr, nullptr}, oracle, 0, Device{}))
    if (!r.ok) failed[r.aspect] = r.message;
  return failed;
}

std::map<std::string, std::string> twice_failures(const OpCode<TwiceArgs>& code,
                                                  Determinism determinism = Determinism::run_to_run,
                                                  bool in_place = false) {
  OpCode<TwiceArgs> all = code;
  all.cases = twice_cases;
  if (!all.flops) all.flops = flops;
  const Op<TwiceArgs> op{{.name = "wrong_op",
                          .summary = "y = 2 x",
                          .source = "none",
                          .determinism = determinism,
                          .in_place = in_place},
                         all};
  return failures(op, twice);
}

#if defined(__SANITIZE_ADDRESS__)
// The sanitizer stops the process at the very access.
#define EXPECT_CAUGHT(aspect, ...) EXPECT_DEATH(twice_failures(__VA_ARGS__), "use-after-poison")
#else
#define EXPECT_CAUGHT(aspect, ...) EXPECT_TRUE(twice_failures(__VA_ARGS__).contains(aspect))
#endif

TEST(WrongOperator, ARightOnePasses) {
  const auto failed = twice_failures({.cpu = [](const TwiceArgs& a, void*, Stream&) { right(a); }},
                                     Determinism::everywhere, true);
  EXPECT_TRUE(failed.empty()) << failed.begin()->first << ": " << failed.begin()->second;
}

TEST(WrongOperator, WhoseSecondCpuVariantIsWrongIsCaught) {
  static constexpr CpuVariant<TwiceArgs> rows[] = {
      {.row = {"right"}, .run = [](const TwiceArgs& a, void*, Stream&) { right(a); }},
      {.row = {"wrong"}, .run = [](const TwiceArgs& a, void*, Stream&) {
         right(a);
         out(a)[2] += 1e-14;
       }}};
  const OpCode<TwiceArgs> code{.cpu_variants = rows};
  EXPECT_TRUE(twice_failures(code).empty()) << "it is within the tolerance";
  EXPECT_TRUE(twice_failures(code, Determinism::everywhere).contains("same bits"));
}

TEST(WrongOperator, ThatWritesPastTheEndIsCaught) {
  EXPECT_CAUGHT("memory", {.cpu = [](const TwiceArgs& a, void*, Stream&) {
                  right(a);
                  out(a)[a.y.size()] = 1;
                }});
}

TEST(WrongOperator, ThatWritesBeforeTheBeginningIsCaught) {
  EXPECT_CAUGHT("memory", {.cpu = [](const TwiceArgs& a, void*, Stream&) {
                  right(a);
                  out(a)[-1] = 1;
                }});
}

TEST(WrongOperator, ThatChangesItsInputIsCaught) {
  const auto failed = twice_failures({.cpu = [](const TwiceArgs& a, void*, Stream&) {
    right(a);
    in(a)[3] = 0;
  }});
  ASSERT_TRUE(failed.contains("memory"));
  EXPECT_EQ(failed.at("memory"), "it wrote to the input x");
}

TEST(WrongOperator, ThatLeavesAnElementUnwrittenIsCaught) {
  const auto failed = twice_failures({.cpu = [](const TwiceArgs& a, void*, Stream&) {
    for (std::int64_t i = 0; i + 1 < a.x.size(); ++i) out(a)[i] = 2 * in(a)[i];
  }});
  ASSERT_TRUE(failed.contains("result"));
  EXPECT_EQ(failed.at("result").substr(0, 21), "y(36) was not written");
}

TEST(WrongOperator, WithAWrongValueOrANanIsCaught) {
  for (const double wrong : {1e-9, double(NAN), double(INFINITY)}) {
    static double added;
    added = wrong;
    const auto failed = twice_failures({.cpu = [](const TwiceArgs& a, void*, Stream&) {
      right(a);
      out(a)[5] += added;
    }});
    ASSERT_TRUE(failed.contains("result")) << wrong;
    EXPECT_EQ(failed.at("result").substr(0, 8), "y(5) is ") << wrong;
  }
}

TEST(WrongOperator, ThatDoesNotRepeatIsCaught) {
  const OpCode<TwiceArgs> code{.cpu = [](const TwiceArgs& a, void*, Stream&) {
    static int run = 0;
    right(a);
    out(a)[0] += 1e-14 * ++run;
  }};
  const auto failed = twice_failures(code);
  EXPECT_TRUE(failed.contains("repeat"));
  EXPECT_FALSE(failed.contains("result"));
  EXPECT_TRUE(twice_failures(code, Determinism::none).empty()) << "nothing was claimed";
}

TEST(WrongOperator, ThatDependsOnThreadsIsCaught) {
  const OpCode<TwiceArgs> code{.cpu = [](const TwiceArgs& a, void*, Stream& s) {
    right(a);
    out(a)[0] += 1e-14 * s.threads();
  }};
  EXPECT_TRUE(twice_failures(code, Determinism::everywhere).contains("threads"));
  EXPECT_TRUE(twice_failures(code, Determinism::run_to_run).empty()) << "nothing was claimed";
}

TEST(WrongOperator, ThatIsOnlyRightWithOneThreadIsCaught) {
  EXPECT_TRUE(twice_failures({.cpu = [](const TwiceArgs& a, void*, Stream& s) {
                right(a);
                if (s.threads() == 2) out(a)[0] = 0;
              }}).contains("threads"));
}

TEST(WrongOperator, ThatAllocatesIsCaught) {
  const auto failed = twice_failures({.cpu = [](const TwiceArgs& a, void*, Stream& s) {
    const Buffer scratch(8, s);
    right(a);
  }});
  ASSERT_TRUE(failed.contains("memory"));
  EXPECT_NE(failed.at("memory").find("allocations"), std::string::npos);
}

TEST(WrongOperator, ThatWritesOutsideItsWorkspaceIsCaught) {
  EXPECT_CAUGHT("workspace", {.cpu_workspace = [](const TwiceArgs&, int) -> std::size_t { return 120; },
                              .cpu =
                                  [](const TwiceArgs& a, void* workspace, Stream&) {
                                    static_cast<char*>(workspace)[120] = 1;
                                    right(a);
                                  }});
}

TEST(WrongOperator, ThatTakesItsWorkspaceForZeroIsCaught) {
  EXPECT_FALSE(twice_failures({.cpu_workspace = [](const TwiceArgs&, int) -> std::size_t { return 8; },
                               .cpu =
                                   [](const TwiceArgs& a, void* workspace, Stream&) {
                                     right(a);
                                     if (*static_cast<std::int64_t*>(workspace)) out(a)[0] = 0;
                                   }})
                   .empty());
}

TEST(WrongOperator, ThatIsNotFitForWorkInPlaceIsCaught) {
  const OpCode<TwiceArgs> code{.cpu = [](const TwiceArgs& a, void*, Stream&) {
    const std::int64_t n = a.x.size();
    for (std::int64_t i = 0; i < n; ++i) out(a)[i] = 0;
    for (std::int64_t i = 0; i < n; ++i) out(a)[i] += 2 * in(a)[i];
  }};
  EXPECT_TRUE(twice_failures(code, Determinism::run_to_run, true).contains("in place y=x"));
  EXPECT_TRUE(twice_failures(code, Determinism::run_to_run, false).empty());
}

TEST(WrongOperator, ThatRemembersItsInputsIsCaught) {
  const auto failed = twice_failures({.cpu = [](const TwiceArgs& a, void*, Stream&) {
    static std::vector<double> first;
    if (first.empty()) first.assign(in(a), in(a) + a.x.size());
    for (std::size_t i = 0; i < first.size() && std::int64_t(i) < a.x.size(); ++i) out(a)[i] = 2 * first[i];
  }});
  ASSERT_TRUE(failed.contains("result"));
  EXPECT_EQ(failed.at("result").substr(0, 19), "with other inputs: ");
}

TEST(WrongOperator, WhoseSecondReplayDiffersIsCaught) {
  EXPECT_TRUE(twice_failures({.cpu = [](const TwiceArgs& a, void*, Stream&) {
                static const void* last = nullptr;
                right(a);
                if (last == a.x.data) out(a)[0] = 0;  // the same memory twice in a row: a replay
                last = a.x.data;
              }}).contains("graph"));
}

TEST(WrongOperator, ThatThrowsIsReportedWithItsMessage) {
  const auto failed =
      twice_failures({.cpu = [](const TwiceArgs&, void*, Stream&) { throw std::runtime_error("no luck"); }});
  ASSERT_TRUE(failed.contains("result"));
  EXPECT_EQ(failed.at("result"), "no luck");
}

TEST(WrongOperator, WithAnImpossibleCostIsCaught) {
  for (const auto cost :
       {+[](const TwiceArgs&) { return double(NAN); }, +[](const TwiceArgs&) { return -1.0; }})
    EXPECT_TRUE(twice_failures({.flops = cost, .cpu = [](const TwiceArgs& a, void*, Stream&) { right(a); }})
                    .contains("cost"));
}

TEST(WrongOperator, ThatRefusesWithoutItsNameIsCaught) {
  EXPECT_TRUE(twice_failures({.check = [](const TwiceArgs& a) { require(a.x.size() > 0, "no data"); },
                              .cpu = [](const TwiceArgs& a, void*, Stream&) { right(a); }})
                  .contains("empty n"));
}

TEST(WrongOperator, ThatFallsOverEmptyInputsIsCaught) {
  const auto with = [](void (*cpu)(const TotalArgs&, void*, Stream&),
                       void (*check)(const TotalArgs&) = nullptr) {
    const Op<TotalArgs> op{
        {.name = "wrong_op", .summary = "sum", .source = "none"},
        {.check = check, .flops = [](const TotalArgs&) { return 0.0; }, .cpu = cpu, .cases = total_cases}};
    return failures(op, total);
  };
  const auto sum = +[](const TotalArgs& a, void*, Stream&) {
    double s = 0;
    for (std::int64_t i = 0; i < a.x.size(); ++i) s += a.x.as<double>()[i];
    *a.sum.as<double>() = s;
  };
  EXPECT_TRUE(with(sum).empty());
  EXPECT_TRUE(with(sum, [](const TotalArgs& a) { require(a.x.size() > 0, "wrong_op: no data"); }).empty());
  EXPECT_TRUE(with([](const TotalArgs& a, void*, Stream&) {
                if (!a.x.size()) throw std::logic_error("division by zero");
                double s = 0;
                for (std::int64_t i = 0; i < a.x.size(); ++i) s += a.x.as<double>()[i];
                *a.sum.as<double>() = s;
              }).contains("empty n"));
}

TEST(Oracle, ToolsThrowWhenTheyShould) {
  EXPECT_NO_THROW(expect(true, "fine"));
  EXPECT_THROW(expect(false, "not fine"), Error);
  EXPECT_NO_THROW(expect_near(1e6 + 1e-7, 1e6, 1e-12, "relative above 1"));
  EXPECT_THROW(expect_near(1e-3 + 1e-9, 1e-3, 1e-12, "absolute below 1"), Error);
  EXPECT_NO_THROW(expect_near(NAN, NAN, 0, "nan is nan"));
  EXPECT_THROW(expect_near(NAN, 1, 1e9, "nan is no number"), Error);
  EXPECT_THROW(expect_near(1, NAN, 1e9, "a number is not nan"), Error);
  EXPECT_NO_THROW(expect_near(INFINITY, INFINITY, 0, "infinity"));
  EXPECT_THROW(expect_near(INFINITY, 1, 1e9, "infinity"), Error);
  EXPECT_NO_THROW(expect_invalid([] { fail<InvalidArgument>("x is wrong"); }, "wrong"));
  EXPECT_THROW(expect_invalid([] { fail<InvalidArgument>("x is wrong"); }, "right"), Error);
  EXPECT_THROW(expect_invalid([] {}, ""), Error);
  EXPECT_THROW(expect_invalid([] { fail<Unsupported>("x"); }, ""), Unsupported);
}

/// Ends with the number of the variant that the tuner took, in a process of its own: what is registered
/// stays.
[[noreturn]] void tune_and_exit(bool asking_the_oracle) {
  static constexpr CpuVariant<TwiceArgs> rows[] = {
      {.row = {"right"}, .run = [](const TwiceArgs& a, void*, Stream&) { right(a); }},
      {.row = {"fast"}, .run = [](const TwiceArgs& a, void*, Stream&) { out(a)[0] = 2 * in(a)[0]; }}};
  static constinit const Op<TwiceArgs> op{{.name = "wrong_but_fast", .summary = "y = 2 x", .source = "none"},
                                          {.flops = flops, .cpu_variants = rows, .cases = twice_cases}};
  static constinit const Oracle<TwiceArgs> oracle{op, twice};
  register_op({.group = "test", .op = &op}, oracle);
  std::vector<double> x(100'000, 3), y(x.size());
  const TwiceArgs args{.x = tensor(x.data(), {100'000}), .y = tensor(y.data(), {100'000})};
  Stream stream(Device{}, 1);
  tune::CallOptions options;
  options.measure.warm_up = 0;
  if (asking_the_oracle) options.verify = by_oracle(stream);
  const tune::TunedCall tuned = tune::tune_call(op, &args, stream, options);
  for (const tune::Finding& f : tuned.tuning.findings) std::cerr << f.error << '\n';
  std::exit(tuned.tuning.decided ? tuned.space[tuned.tuning.winner].options.variant : -1);
}

TEST(WrongOperatorDeathTest, CannotWinWhereTheOracleIsAsked) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(tune_and_exit(true), testing::ExitedWithCode(0),
              "wrong_but_fast: case 'n=37': y\\(1\\) was not written, expected");
  EXPECT_EXIT(tune_and_exit(false), testing::ExitedWithCode(1), "") << "the other one is faster";
}

}  // namespace
}  // namespace kolmo::check
