// Deliberately wrong operators: the conformance suite must report what is wrong with each.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "kolmo/check/verifier.hpp"
#include "kolmo/tune/tune_call.hpp"
#include "tests/check/failures.hpp"

namespace kolmo::check {
namespace {

struct TwiceArgs {
  In x;
  Out y;
  static constexpr auto fields() {
    return std::array{field<&TwiceArgs::x>("x", "n", DTypes::of(DType::f64), "input"),
                      field<&TwiceArgs::y>("y", "n", DTypes::of(DType::f64), "2 x")};
  }
};
struct TotalArgs {
  In x;
  Out sum;
  static constexpr auto fields() {
    return std::array{field<&TotalArgs::x>("x", "n", DTypes::of(DType::f64), "input"),
                      field<&TotalArgs::sum>("sum", "", DTypes::of(DType::f64), "sum of x")};
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

constexpr ImplCode<TwiceArgs> right_code{.launch = [](const TwiceArgs& a, Arena, Stream&, int) { right(a); }};

std::map<std::string, std::string> twice_failures(const ImplCode<TwiceArgs>& cpu,
                                                  Determinism determinism = Determinism::run_to_run,
                                                  bool in_place = false, OpCode<TwiceArgs> code = {}) {
  code.cases = twice_cases;
  if (!code.flops) code.flops = flops;
  const OpInfo info{.name = "wrong_op",
                    .summary = "y = 2 x",
                    .source = "none",
                    .determinism = determinism,
                    .in_place = in_place};
  return failures(info, code, cpu, twice);
}

#if defined(__SANITIZE_ADDRESS__)
// The sanitizer stops the process at the access.
#define EXPECT_CAUGHT(aspect, ...) EXPECT_DEATH(twice_failures(__VA_ARGS__), "use-after-poison")
#else
#define EXPECT_CAUGHT(aspect, ...) EXPECT_TRUE(twice_failures(__VA_ARGS__).contains(aspect))
#endif

TEST(WrongOperator, ARightOnePasses) {
  const auto failed = twice_failures({.launch = [](const TwiceArgs& a, Arena, Stream&, int) { right(a); }},
                                     Determinism::everywhere, true);
  EXPECT_TRUE(failed.empty()) << failed.begin()->first << ": " << failed.begin()->second;
}

TEST(WrongOperator, WhoseSecondCpuVariantIsWrongIsCaught) {
  static constexpr Row<double> rows[] = {{"right", 0}, {"wrong", 1e-14}};
  const ImplCode<TwiceArgs> code{.rows = rows, .launch = [](const TwiceArgs& a, Arena, Stream&, int row) {
                                   right(a);
                                   out(a)[2] += rows[row].config;
                                 }};
  EXPECT_TRUE(twice_failures(code).empty()) << "it is within the tolerance";
  EXPECT_TRUE(twice_failures(code, Determinism::everywhere).contains("same bits"));
}

TEST(WrongOperator, AVariantThatFitsNoCaseIsCaught) {
  static constexpr Row<int> rows[] = {
      {"for all", 0}, {"for large ones", 1000}, {.name = "a library's", .config = 1000, .vendor = true}};
  const Definition<TwiceArgs> definition{{.name = "wrong_op", .summary = "y = 2 x", .source = "none"},
                                         {.flops = flops, .cases = twice_cases}};
  const Impl<TwiceArgs> impl{
      {.rows = rows,
       .launch = [](const TwiceArgs& a, Arena, Stream&, int) { right(a); },
       .fits = [](const TwiceArgs& a, int row) { return a.x.size() >= rows[row].config; }}};
  const Results results = check_reach({"test", &definition, {&impl}}, Device{});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_TRUE(results[0].ok);
  EXPECT_FALSE(results[1].ok);
  EXPECT_EQ(results[1].variant, "for large ones");
}

TEST(WrongOperator, ThatWritesPastTheEndIsCaught) {
  EXPECT_CAUGHT("memory", {.launch = [](const TwiceArgs& a, Arena, Stream&, int) {
                  right(a);
                  out(a)[a.y.size()] = 1;
                }});
}

TEST(WrongOperator, ThatWritesBeforeTheBeginningIsCaught) {
  EXPECT_CAUGHT("memory", {.launch = [](const TwiceArgs& a, Arena, Stream&, int) {
                  right(a);
                  out(a)[-1] = 1;
                }});
}

TEST(WrongOperator, ThatChangesItsInputIsCaught) {
  const auto failed = twice_failures({.launch = [](const TwiceArgs& a, Arena, Stream&, int) {
    right(a);
    in(a)[3] = 0;
  }});
  ASSERT_TRUE(failed.contains("memory"));
  EXPECT_EQ(failed.at("memory"), "it wrote to the input x");
}

TEST(WrongOperator, ThatLeavesAnElementUnwrittenIsCaught) {
  const auto failed = twice_failures({.launch = [](const TwiceArgs& a, Arena, Stream&, int) {
    for (std::int64_t i = 0; i + 1 < a.x.size(); ++i) out(a)[i] = 2 * in(a)[i];
  }});
  ASSERT_TRUE(failed.contains("result"));
  EXPECT_EQ(failed.at("result").substr(0, 21), "y(36) was not written");
}

TEST(WrongOperator, WithAWrongValueOrANanIsCaught) {
  for (const double wrong : {1e-9, double(NAN), double(INFINITY)}) {
    static double added;
    added = wrong;
    const auto failed = twice_failures({.launch = [](const TwiceArgs& a, Arena, Stream&, int) {
      right(a);
      out(a)[5] += added;
    }});
    ASSERT_TRUE(failed.contains("result")) << wrong;
    EXPECT_EQ(failed.at("result").substr(0, 8), "y(5) is ") << wrong;
  }
}

TEST(WrongOperator, ThatDoesNotRepeatIsCaught) {
  const ImplCode<TwiceArgs> code{.launch = [](const TwiceArgs& a, Arena, Stream&, int) {
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
  const ImplCode<TwiceArgs> code{.launch = [](const TwiceArgs& a, Arena, Stream& s, int) {
    right(a);
    out(a)[0] += 1e-14 * s.threads();
  }};
  EXPECT_TRUE(twice_failures(code, Determinism::everywhere).contains("threads"));
  EXPECT_TRUE(twice_failures(code, Determinism::run_to_run).empty()) << "nothing was claimed";
}

TEST(WrongOperator, ThatIsOnlyRightWithOneThreadIsCaught) {
  EXPECT_TRUE(twice_failures({.launch = [](const TwiceArgs& a, Arena, Stream& s, int) {
                right(a);
                if (s.threads() == 2) out(a)[0] = 0;
              }}).contains("threads"));
}

TEST(WrongOperator, ThatAllocatesIsCaught) {
  const auto failed = twice_failures({.launch = [](const TwiceArgs& a, Arena, Stream& s, int) {
    const Buffer scratch(8, s);
    right(a);
  }});
  ASSERT_TRUE(failed.contains("memory"));
  EXPECT_NE(failed.at("memory").find("allocations"), std::string::npos);
}

void lay_sixteen(Arena& arena, const TwiceArgs&, const Site&) { arena.take<std::int64_t>(16); }

TEST(WrongOperator, ThatWritesOutsideItsWorkspaceIsCaught) {
  EXPECT_CAUGHT("workspace", {.launch =
                                  [](const TwiceArgs& a, Arena scratch, Stream&, int) {
                                    scratch.take<std::int64_t>(16)[16] = 1;
                                    right(a);
                                  },
                              .lay = lay_sixteen});
}

TEST(WrongOperator, ThatTakesItsWorkspaceForZeroIsCaught) {
  EXPECT_FALSE(twice_failures({.launch =
                                   [](const TwiceArgs& a, Arena scratch, Stream&, int) {
                                     right(a);
                                     if (*scratch.take<std::int64_t>(16)) out(a)[0] = 0;
                                   },
                               .lay = lay_sixteen})
                   .empty());
}

TEST(WrongOperator, ThatIsNotFitForWorkInPlaceIsCaught) {
  const ImplCode<TwiceArgs> code{.launch = [](const TwiceArgs& a, Arena, Stream&, int) {
    const std::int64_t n = a.x.size();
    for (std::int64_t i = 0; i < n; ++i) out(a)[i] = 0;
    for (std::int64_t i = 0; i < n; ++i) out(a)[i] += 2 * in(a)[i];
  }};
  EXPECT_TRUE(twice_failures(code, Determinism::run_to_run, true).contains("in place y=x"));
  EXPECT_TRUE(twice_failures(code, Determinism::run_to_run, false).empty());
}

TEST(WrongOperator, ThatRemembersItsInputsIsCaught) {
  const auto failed = twice_failures({.launch = [](const TwiceArgs& a, Arena, Stream&, int) {
    static std::vector<double> first;
    if (first.empty()) first.assign(in(a), in(a) + a.x.size());
    for (std::size_t i = 0; i < first.size() && std::int64_t(i) < a.x.size(); ++i) out(a)[i] = 2 * first[i];
  }});
  ASSERT_TRUE(failed.contains("result"));
  EXPECT_EQ(failed.at("result").substr(0, 19), "with other inputs: ");
}

TEST(WrongOperator, WhoseSecondReplayDiffersIsCaught) {
  EXPECT_TRUE(twice_failures({.launch = [](const TwiceArgs& a, Arena, Stream&, int) {
                static const void* last = nullptr;
                right(a);
                if (last == a.x.data) out(a)[0] = 0;  // seeing the same memory twice in a row means a replay
                last = a.x.data;
              }}).contains("graph"));
}

TEST(WrongOperator, ThatThrowsIsReportedWithItsMessage) {
  const auto failed = twice_failures(
      {.launch = [](const TwiceArgs&, Arena, Stream&, int) { throw std::runtime_error("no luck"); }});
  ASSERT_TRUE(failed.contains("result"));
  EXPECT_EQ(failed.at("result"), "no luck");
}

TEST(WrongOperator, WithAnImpossibleCostIsCaught) {
  for (const auto cost :
       {+[](const TwiceArgs&) { return double(NAN); }, +[](const TwiceArgs&) { return -1.0; }})
    EXPECT_TRUE(twice_failures(right_code, Determinism::run_to_run, false, {.flops = cost}).contains("cost"));
}

TEST(WrongOperator, ThatRefusesByAnotherErrorIsCaught) {
  const auto with = [](void (*check)(const TwiceArgs&)) {
    return twice_failures(right_code, Determinism::run_to_run, false, {.check = check});
  };
  EXPECT_TRUE(with([](const TwiceArgs& a) { require(a.x.size() > 0, "no data"); }).empty());
  EXPECT_TRUE(with([](const TwiceArgs& a) {
                if (!a.x.size()) throw std::invalid_argument("no data");
              }).contains("empty n"));
}

TEST(WrongOperator, ThatFallsOverEmptyInputsIsCaught) {
  using Launch = void (*)(const TotalArgs&, Arena, Stream&, int);
  const auto with = [](Launch launch, void (*check)(const TotalArgs&) = nullptr) {
    return failures<TotalArgs>(
        {.name = "wrong_op", .summary = "sum", .source = "none"},
        {.check = check, .flops = [](const TotalArgs&) { return 0.0; }, .cases = total_cases},
        {.launch = launch}, total);
  };
  const auto sum = +[](const TotalArgs& a, Arena, Stream&, int) {
    double s = 0;
    for (std::int64_t i = 0; i < a.x.size(); ++i) s += a.x.as<double>()[i];
    *a.sum.as<double>() = s;
  };
  EXPECT_TRUE(with(sum).empty());
  EXPECT_TRUE(with(sum, [](const TotalArgs& a) { require(a.x.size() > 0, "no data"); }).empty());
  EXPECT_TRUE(with([](const TotalArgs& a, Arena, Stream&, int) {
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

/// Exits with the number of the variant that the tuner chose. It runs in its own process, because a
/// registration is permanent.
[[noreturn]] void tune_and_exit(bool asking_the_oracle) {
  static constexpr Row<bool> rows[] = {{"right", true}, {"fast", false}};
  static constinit const Definition<TwiceArgs> definition{
      {.name = "wrong_but_fast", .summary = "y = 2 x", .source = "none"},
      {.flops = flops, .cases = twice_cases}};
  static constinit const Op<TwiceArgs> op{definition};
  static constinit const Impl<TwiceArgs> cpu{
      {.rows = rows, .launch = [](const TwiceArgs& a, Arena, Stream&, int row) {
         if (rows[row].config) return right(a);
         out(a)[0] = 2 * in(a)[0];
       }}};
  static constinit const Oracle<TwiceArgs> oracle{op, twice};
  register_op({.group = "test", .op = &definition, .on = {&cpu}}, oracle);
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
