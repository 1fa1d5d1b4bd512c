// Operators whose results are wrong in ways that a weak check would miss.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kolmo/ops/elementwise/binary/binary.hpp"
#include "tests/check/failures.hpp"

namespace kolmo::check {
namespace {

using testing::HasSubstr;

struct MapArgs {
  In x;
  Out y;
  static constexpr auto fields() {
    return std::array{field<&MapArgs::x>("x", "n", reals, "input"),
                      field<&MapArgs::y>("y", "n", reals, "result")};
  }
};
using A = MapArgs;
using Launch = void (*)(const A&, Arena, Stream&, int);

double flops(const A& a) { return double(a.x.size()); }
constexpr OpInfo info{.name = "wrong_op", .summary = "y = f(x)", .source = "none"};

std::map<std::string, std::string> map_failures(const Case<A>& c, Launch launch, void (*oracle)(const A&)) {
  return failures<A>(info, {.flops = flops, .cases = std::span(&c, 1)}, {.launch = launch}, oracle);
}

TEST(WrongResult, ZeroWhereTheTrueResultIsTinyIsCaught) {
  const auto oracle = +[](const A& a) {
    for (std::int64_t i = 0; i < a.x.size(); ++i) put(a.y, i, std::exp(get(a.x, i)));
  };
  const Launch right = [](const A& a, Arena, Stream&, int) {
    for (std::int64_t i = 0; i < a.x.size(); ++i) a.y.as<double>()[i] = std::exp(a.x.as<double>()[i]);
  };
  const Launch zero = [](const A& a, Arena, Stream&, int) {
    for (std::int64_t i = 0; i < a.x.size(); ++i) {
      const double x = a.x.as<double>()[i];
      a.y.as<double>()[i] = x < -40 ? 0 : std::exp(x);
    }
  };
  const auto near_minus_50 = +[](A& a) {
    for (std::int64_t i = 0; i < a.x.size(); ++i) put(a.x, i, -50 + get(a.x, i));
  };
  Case<A> c{.name = "near -50", .sizes = {{"n", 9}}, .tolerance = relative(1e-12), .setup = near_minus_50};
  EXPECT_TRUE(map_failures(c, right, oracle).empty());
  EXPECT_THAT(map_failures(c, zero, oracle)["result"], HasSubstr("is 0, expected"));
  c.tolerance = 1e-3, c.tolerances = {{"y", relative(1e-12)}};
  EXPECT_TRUE(map_failures(c, right, oracle).empty());
  EXPECT_TRUE(map_failures(c, zero, oracle).contains("result")) << "an output's own tolerance";
}

TEST(WrongResult, ADtypeWithoutCodeIsCaught) {
  const auto oracle = +[](const A& a) {
    for (std::int64_t i = 0; i < a.x.size(); ++i) put(a.y, i, get(a.x, i));
  };
  const Launch only_double = [](const A& a, Arena, Stream&, int) {
    for (std::int64_t i = 0; i < a.x.size(); ++i) a.y.as<double>()[i] = a.x.as<double>()[i];
  };
  Case<A> c{.name = "n=9", .sizes = {{"n", 9}}};
  EXPECT_TRUE(map_failures(c, only_double, oracle).empty());
  c.dtype = DType::f32;
  EXPECT_THAT(map_failures(c, only_double, oracle)["result"], HasSubstr("f32"));
}

TEST(WrongResult, AnOperatorWithoutACostIsStillChecked) {
  const auto oracle = +[](const A& a) {
    for (std::int64_t i = 0; i < a.x.size(); ++i) put(a.y, i, get(a.x, i));
  };
  const Case<A> c{.name = "n=9", .sizes = {{"n", 9}}};
  const Launch launch = [](const A& a, Arena, Stream&, int) {
    for (std::int64_t i = 0; i < a.x.size(); ++i) a.y.as<double>()[i] = a.x.as<double>()[i];
  };
  EXPECT_TRUE(failures<A>(info, {.cases = std::span(&c, 1)}, {.launch = launch}, oracle).empty());
}

TEST(WrongResult, AllocationsOfOperatorsThatRunOthersAreCaught) {
  const auto oracle = +[](const A& a) {
    for (std::int64_t i = 0; i < a.x.size(); ++i) put(a.y, i, 2 * get(a.x, i));
  };
  const Case<A> c{.name = "n=9", .sizes = {{"n", 9}}};
  EXPECT_TRUE(
      map_failures(
          c, [](const A& a, Arena, Stream& s, int) { vector_add({.x = a.x, .y = a.x, .z = a.y}, s); }, oracle)
          .empty());
  EXPECT_THAT(map_failures(
                  c,
                  [](const A& a, Arena, Stream& s, int) {
                    const Buffer scratch(64, s);
                    vector_add({.x = a.x, .y = a.x, .z = a.y}, s);
                  },
                  oracle)["memory"],
              HasSubstr("1 allocations"));
}

/// An operator with several right results: a vector of length 1 along x, up to its sign, and the signs of x.
struct DirectionArgs {
  In x;
  Out direction, sign;
  static constexpr auto fields() {
    using B = DirectionArgs;
    return std::array{
        field<&B::x>("x", "n", DTypes::of(DType::f64), "vector"),
        field<&B::direction>("direction", "n", DTypes::of(DType::f64), "x / |x|, or its opposite"),
        field<&B::sign>("sign", "n", DTypes::of(DType::u8), "0 or 1 for each entry")};
  }
};

std::string accept_direction(const DirectionArgs& in, const DirectionArgs& got, const CaseInfo& c) {
  long double square = 0, product = 0;
  for (std::int64_t i = 0; i < in.x.size(); ++i) {
    square += get(in.x, i) * get(in.x, i), product += get(in.x, i) * get(got.direction, i);
    if (get(got.sign, i) > 1 && get(got.sign, i) != 0xA5)
      return "a sign is " + std::to_string(int(get(got.sign, i)));
  }
  const long double cosine = std::abs(product) / std::sqrt(square);
  return std::abs(cosine - 1) <= c.tolerance.absolute ? ""
                                                      : "the cosine is " + std::to_string(double(cosine));
}

using Fill = void (*)(const double* x, double* direction, std::uint8_t* sign, std::int64_t n, double length);
Fill fill;
std::map<std::string, std::string> direction_failures(Fill f,
                                                      Determinism determinism = Determinism::run_to_run) {
  fill = f;
  static constexpr Case<DirectionArgs> c[] = {
      {.name = "n=5", .sizes = {{"n", 5}}, .tolerance = absolute(1e-12)}};
  OpInfo named = info;
  named.determinism = determinism;
  const auto launch = [](const DirectionArgs& a, Arena, Stream&, int) {
    double square = 0;
    for (std::int64_t i = 0; i < a.x.size(); ++i) square += a.x.as<double>()[i] * a.x.as<double>()[i];
    fill(a.x.as<double>(), a.direction.as<double>(), a.sign.as<std::uint8_t>(), a.x.size(),
         std::sqrt(square));
  };
  const auto check = +[](const DirectionArgs& a) {
    if (!a.x.size()) fail<InvalidArgument>("no vector");
  };
  return failures<DirectionArgs>(named, {.check = check, .cases = c}, {.launch = launch}, &accept_direction);
}
void along(const double* x, double* d, std::uint8_t* sign, std::int64_t n, double length) {
  for (std::int64_t i = 0; i < n; ++i) d[i] = x[i] / length, sign[i] = x[i] > 0;
}

TEST(OracleThatJudges, TakesEveryRightResult) {
  EXPECT_TRUE(direction_failures(along).empty());
  EXPECT_TRUE(
      direction_failures([](const double* x, double* d, std::uint8_t* sign, std::int64_t n, double length) {
        along(x, d, sign, n, -length);
      }).empty());
  const Fill either = [](const double* x, double* d, std::uint8_t* sign, std::int64_t n, double length) {
    static int run = 0;
    along(x, d, sign, n, ++run % 2 ? length : -length);
  };
  EXPECT_TRUE(direction_failures(either, Determinism::none).empty());
  EXPECT_TRUE(direction_failures(either).contains("repeat")) << "it claims to repeat";
}

TEST(OracleThatJudges, SaysWhatIsWrong) {
  const auto failed =
      direction_failures([](const double* x, double* d, std::uint8_t* sign, std::int64_t n, double l) {
        along(x, d, sign, n, l);
        d[0] += 1e-3;
      });
  ASSERT_TRUE(failed.contains("result"));
  EXPECT_THAT(failed.at("result"), HasSubstr("the cosine is "));
}

TEST(OracleThatJudges, SeesWhatIsNotWritten) {
  const Fill no_direction = [](const double* x, double* d, std::uint8_t* sign, std::int64_t n, double l) {
    const double last = d[n - 1];
    along(x, d, sign, n, l);
    d[n - 1] = last;
  };
  EXPECT_EQ(direction_failures(no_direction)["result"], "direction(4) was not written");
  const Fill no_sign = [](const double* x, double* d, std::uint8_t* sign, std::int64_t n, double l) {
    const std::uint8_t last = sign[n - 1];
    along(x, d, sign, n, l);
    sign[n - 1] = last;
  };
  EXPECT_EQ(direction_failures(no_sign)["repeat"], "sign(4) was not written");
  EXPECT_EQ(direction_failures(no_sign, Determinism::none)["repeat"], "sign(4) was not written");
}

/// An operator with complex numbers, bools and small integers.
struct MixedArgs {
  In z, mask;
  Out turned, inverse;
  static constexpr auto fields() {
    using B = MixedArgs;
    return std::array{field<&B::z>("z", "n", complexes, "numbers"),
                      field<&B::mask>("mask", "n", DTypes::of(DType::boolean), "mask", Domain::mask),
                      field<&B::turned>("turned", "n", complexes, "i z"),
                      field<&B::inverse>("inverse", "n", DTypes::of(DType::boolean), "not mask")};
  }
};

TEST(WrongResult, InComplexNumbersAndBoolsIsCaught) {
  static constexpr Case<MixedArgs> c[] = {{.name = "n=6", .sizes = {{"n", 6}}, .dtype = DType::c64}};
  const auto oracle = +[](const MixedArgs& a) {
    for (std::int64_t i = 0; i < a.z.size(); ++i) {
      const auto z = get_complex(a.z, i);
      put_complex(a.turned, i, {-z.imag(), z.real()}), put(a.inverse, i, get(a.mask, i) == 0);
    }
  };
  static int fault;
  const auto launch = [](const MixedArgs& a, Arena, Stream&, int) {
    for (std::int64_t i = 0; i < a.z.size(); ++i) {
      const auto z = a.z.as<Complex<float>>()[i];
      a.turned.as<Complex<float>>()[i] = {-z.im, z.re};
      if (fault == 1 && i == 4) a.turned.as<Complex<float>>()[i].im = z.im;
      if (fault == 2 && i == 4) continue;
      a.inverse.as<bool>()[i] = !a.mask.as<bool>()[i] || (fault == 3 && i == 4);
    }
  };
  const auto failed = [&](int f) {
    fault = f;
    return failures<MixedArgs>(info, {.cases = c}, {.launch = launch}, oracle);
  };
  EXPECT_TRUE(failed(0).empty()) << failed(0).begin()->second;
  EXPECT_THAT(failed(1)["result"], HasSubstr("turned(4).im is"));
  EXPECT_THAT(failed(2)["result"], HasSubstr("inverse(4) is 165"));
  EXPECT_TRUE(failed(3).contains("result"));
}

TEST(WrongOracle, ThatLeavesAnElementOutIsCaught) {
  const Case<A> c{.name = "n=9", .sizes = {{"n", 9}}};
  const auto forgets = +[](const A& a) {
    for (std::int64_t i = 0; i < a.x.size(); ++i)
      if (i != 4) put(a.y, i, get(a.x, i));
  };
  const Launch zero = [](const A& a, Arena, Stream&, int) {
    for (std::int64_t i = 0; i < a.x.size(); ++i) a.y.as<double>()[i] = i == 4 ? 0 : a.x.as<double>()[i];
  };
  EXPECT_EQ(map_failures(c, zero, forgets)["setup"], "the oracle: y(4) was not written");
}

struct ByteArgs {
  In x;
  Out y;
  static constexpr auto fields() {
    return std::array{field<&ByteArgs::x>("x", "n", DTypes::of(DType::u8), "input"),
                      field<&ByteArgs::y>("y", "n", DTypes::of(DType::u8), "result")};
  }
};

TEST(WrongOracle, ThatLeavesAnIntegerOutIsCaughtAndChanceIsNot) {
  static constexpr Case<ByteArgs> c[] = {{.name = "n=3", .sizes = {{"n", 3}}}};
  const auto launch = [](const ByteArgs& a, Arena, Stream&, int) { std::memset(a.y.data, 0xA5, 3); };
  const auto all = +[](const ByteArgs& a) {
    for (std::int64_t i = 0; i < 3; ++i) put(a.y, i, 0xA5);
  };
  const auto two = +[](const ByteArgs& a) {
    for (std::int64_t i = 0; i < 2; ++i) put(a.y, i, 0xA5);
  };
  const auto failed = [&](void (*oracle)(const ByteArgs&)) {
    return failures<ByteArgs>(
        info, {.check = [](const ByteArgs& a) { require(a.x.size() == 3, "three"); }, .cases = c},
        {.launch = launch}, oracle);
  };
  EXPECT_FALSE(failed(all).contains("setup")) << "the right result happens to be the poison";
  EXPECT_EQ(failed(two)["setup"], "the oracle: y(2) was not written");
}

TEST(WrongResult, WithoutAFiniteNumberIsCaught) {
  const auto oracle = +[](const A& a) {
    for (std::int64_t i = 0; i < a.x.size(); ++i) put(a.y, i, std::sqrt(get(a.x, i)));
  };
  const Launch root = [](const A& a, Arena, Stream&, int) {
    for (std::int64_t i = 0; i < a.x.size(); ++i) a.y.as<double>()[i] = std::sqrt(a.x.as<double>()[i]);
  };
  Case<A> c{.name = "n=9", .sizes = {{"n", 9}}, .tolerance = 1e-15};
  c.setup = [](A& a) {
    for (std::int64_t i = 0; i < a.x.size(); ++i) put(a.x, i, -1);
  };
  EXPECT_EQ(map_failures(c, root, oracle)["result"], "no finite number was compared");
  c.setup = [](A& a) {
    for (std::int64_t i = 0; i < a.x.size(); ++i) put(a.x, i, i ? -1 : 4);
  };
  EXPECT_TRUE(map_failures(c, root, oracle).empty());
}

TEST(ZeroChecks, AreAFailure) {
  static constexpr Case<A> large[] = {{.name = "large", .sizes = {{"n", 9}}, .benchmark_only = true}},
                           own[] = {{.name = "own", .sizes = {{"n", 9}}}};
  static constexpr AliasInfo aliases[] = {{.name = "bare_alias", .summary = "y = x"}};
  const auto of = [](std::span<const Case<A>> cases, bool by_alias, std::string_view only = {}) {
    const Definition<A> definition{info, {.flops = flops, .cases = cases, .aliases = aliases}};
    const Op<A> op{definition};
    const Impl<A> impl{{.launch = [](const A& a, Arena, Stream&, int) {
      for (std::int64_t i = 0; i < a.x.size(); ++i) a.y.as<double>()[i] = a.x.as<double>()[i];
    }}};
    const Oracle<A> oracle{op, +[](const A& a) {
                             for (std::int64_t i = 0; i < a.x.size(); ++i) put(a.y, i, get(a.x, i));
                           }};
    int seen = 0;
    const Results all = check_op(
        {"test", &definition, {&impl}, by_alias ? aliases : nullptr}, oracle, Device{}, 2,
        [&](const Result&) { ++seen; }, only);
    EXPECT_EQ(std::size_t(seen), all.size());
    auto wrong = failed(all);
    wrong.erase("coverage");  // the self-check has its own test
    return wrong;
  };
  EXPECT_TRUE(of(own, false).empty());
  EXPECT_EQ(of(own, true)["cases"], "bare_alias has no case that is small enough to be checked");
  EXPECT_EQ(of(large, false)["cases"], "wrong_op has no case that is small enough to be checked");
  EXPECT_EQ(of(own, true, "reached")["cases"], "no check of bare_alias is called 'reached'");
  EXPECT_EQ(of(own, false, "outcome")["cases"], "no check of wrong_op is called 'outcome'");
  for (const char* aspect : {"names", "texts", "rows", "options", "cost", "result", "reached", "graph"})
    EXPECT_TRUE(of(own, false, aspect).empty()) << aspect;
}

}  // namespace
}  // namespace kolmo::check
