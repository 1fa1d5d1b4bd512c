// Operators with wrong definitions: the self-check must report what is wrong.
#include "kolmo/check/self_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace kolmo::check {
namespace {

using testing::HasSubstr;

enum class Mode : std::int32_t { plain, fancy };
constexpr std::string_view mode_names[] = {"plain", "fancy"};
constexpr std::span<const std::string_view> names_of(Mode) { return mode_names; }

/// An operator with every kind of argument that must be covered.
struct ManyArgs {
  In x;
  OptIn weight;
  Out y;
  Mode mode = Mode::plain;
  bool flip = false;
  std::optional<std::int64_t> limit;
  static constexpr auto fields() {
    using A = ManyArgs;
    return std::array{
        field<&A::x>("x", "n", reals, "input"),      field<&A::weight>("weight", "n", reals, "weights"),
        field<&A::y>("y", "n", reals, "result"),     option<&A::mode>("mode", "how"),
        option<&A::flip>("flip", "whether to flip"), option<&A::limit>("limit", 0, 9, "limit"),
    };
  }
};
using A = ManyArgs;

void all_other(A& a) { a.mode = Mode::fancy, a.flip = true, a.limit = 3; }
constexpr Case<A> first{.name = "first", .sizes = {{"n", 3}}, .setup = all_other},
    second{.name = "second",
           .sizes = {{"n", 3}},
           .dtype = DType::f32,
           .optional = "weight",
           .alias = "fancy_many"};
constexpr AliasInfo aliases[] = {
    {.name = "fancy_many", .summary = "y = x", .binds = {bind<&A::mode, Mode::plain>}}};

/// Returns the faults by aspect for an operator with these cases.
template <class Args = A>
std::map<std::string, std::string> faults(std::span<const Case<Args>> cases, OpCode<Args> code = {},
                                          OpInfo info = {},
                                          const std::array<const ImplBase*, device_kinds>& on = {}) {
  code.cases = cases;
  if (!code.flops) code.flops = [](const Args&) { return 1.0; };
  if (code.aliases.empty() && std::is_same_v<Args, A>) code.aliases = aliases;
  if (info.name.empty()) info.name = "many";
  if (info.summary.empty()) info.summary = "y = x";
  if (info.source.empty()) info.source = "none";
  const Definition<Args> definition{info, code};
  std::map<std::string, std::string> wrong;
  for (const Result& r : check_definition({"test", &definition, on}))
    if (!r.ok) wrong[r.aspect] = r.message;
  return wrong;
}
std::map<std::string, std::string> faults_of(Case<A> changed, OpInfo info = {}) {
  const Case<A> cases[] = {changed, second};
  return faults<A>(cases, {}, info);
}

TEST(SelfCheck, ARightOnePasses) {
  const auto wrong = faults_of(first);
  EXPECT_TRUE(wrong.empty()) << wrong.begin()->first << ": " << wrong.begin()->second;
  const Case<A> cases[] = {first, second};
  const Definition<A> d{{.name = "many"}, {.cases = cases}};
  EXPECT_EQ(check_definition({"test", &d}).size(), 6u) << "one result for each aspect";
}

TEST(SelfCheck, NamesThatCasesMisspellAreCaught) {
  Case<A> c = first;
  c.sizes = {{"n", 3}, {"m", 4}};
  EXPECT_EQ(faults_of(c)["names"], "case 'first' gives the size 'm', which is none");
  c.sizes = {{"n", 3}, {"n", 4}};
  EXPECT_EQ(faults_of(c)["names"], "case 'first' gives a size: 'n' is there twice");
  c = first, c.optional = "weights_of";
  EXPECT_EQ(faults_of(c)["names"], "case 'first' gives the optional tensor 'weights_of', which is none");
  c = first, c.alias = "fancy";
  EXPECT_EQ(faults_of(c)["names"], "case 'first' is of the alias 'fancy', which is none");
  c = first, c.dtypes = {{"U", DType::f32}};
  EXPECT_EQ(faults_of(c)["names"], "case 'first' gives a dtype to the variable 'U', which is none");
  c = first, c.dtype = DType::i32;
  EXPECT_EQ(faults_of(c)["names"], "case 'first' has a dtype that no tensor has");
  c = first, c.tolerances = {{"x", 1e-3}};
  EXPECT_EQ(faults_of(c)["names"], "case 'first' has a tolerance for the output 'x', which is none");
  c = first, c.name = "second";
  EXPECT_EQ(faults_of(c)["names"], "the case 'second' is there twice");
}

TEST(SelfCheck, NamesThatCannotBeUsedAreCaught) {
  for (const char* name : {"lambda", "operator", "Many", "2many", "many more"})
    EXPECT_THAT(faults_of(first, {.name = name})["names"], HasSubstr("is no name for an operator")) << name;
  const Case<A> cases[] = {first, second};
  static constexpr AliasInfo taken[] = {{.name = "vector_add", .summary = "y = x"}};
  EXPECT_THAT(faults<A>(cases, {.aliases = taken})["names"],
              HasSubstr("the name 'vector_add' is there twice"));
}

TEST(SelfCheck, WhatHasNoCaseIsCaught) {
  Case<A> c = first;
  c.dtype = DType::f32;
  EXPECT_EQ(faults_of(c)["coverage"], "no case has x of dtype f64");
  c = first, c.setup = [](A& a) { a.flip = true, a.limit = 3; };
  EXPECT_EQ(faults_of(c)["coverage"], "no case has mode = fancy");
  c.setup = [](A& a) { a.mode = Mode::fancy, a.limit = 3; };
  EXPECT_EQ(faults_of(c)["coverage"], "no case has flip = true");
  c.setup = [](A& a) { a.mode = Mode::fancy, a.flip = true; };
  EXPECT_EQ(faults_of(c)["coverage"], "no case has limit other than none");
  c = first, c.optional = "weight";
  EXPECT_EQ(faults_of(c)["coverage"], "every case has weight");
  c = first, c.benchmark_only = true;
  EXPECT_THAT(faults_of(c)["coverage"], HasSubstr("no case has x of dtype f64"));
  Case<A> other = second;
  other.optional = "";
  const Case<A> without[] = {first, other};
  EXPECT_EQ(faults<A>(without)["coverage"], "no case has weight");
  other = second, other.alias = "";
  const Case<A> of_no_alias[] = {first, other};
  EXPECT_EQ(faults<A>(of_no_alias)["coverage"], "no case is of the alias 'fancy_many'");
  EXPECT_EQ(faults<A>({})["coverage"], "no case is small enough to be checked");
  c = first, c.sizes = {};
  EXPECT_EQ(faults_of(c)["coverage"], "many: case 'first' gives no size for 'n'");
}

TEST(SelfCheck, CasesOfAnAliasThatAreNotAreCaught) {
  Case<A> c = second;
  c.setup = [](A& a) { a.limit = 2; };
  const Case<A> others[] = {first, c};
  EXPECT_THAT(faults<A>(others)["coverage"], testing::Not(HasSubstr("binds"))) << "it binds the mode alone";
  c.setup = all_other;
  const Case<A> cases[] = {first, c};
  EXPECT_THAT(
      faults<A>(cases)["coverage"],
      HasSubstr("case 'second' is of the alias 'fancy_many', which binds mode = plain, and has fancy"));
}

TEST(SelfCheck, TolerancesThatLetAnythingPassAreCaught) {
  Case<A> c = first;
  for (const Tolerance t :
       {Tolerance(INFINITY), absolute(INFINITY), absolute(NAN), absolute(-1), relative(1), relative(NAN)}) {
    c.tolerance = t, c.tolerances = {};
    EXPECT_EQ(faults_of(c)["coverage"], "case 'first' has a tolerance that is no bound");
    c.tolerance = 0, c.tolerances = {{"y", t}};
    EXPECT_EQ(faults_of(c)["coverage"], "case 'first' has a tolerance for y that is no bound");
  }
  c.tolerances = {{"y", absolute(1e9)}};
  EXPECT_EQ(faults_of(c)["coverage"], "");
}

TEST(SelfCheck, TextsThatAreNotFilledInAreCaught) {
  EXPECT_EQ(faults_of(first, {.summary = "Fill in: the formula"})["texts"],
            "the summary is 'Fill in: the formula'");
  EXPECT_EQ(faults_of(first, {.source = " "})["texts"], "the source is ' '");
  const Case<A> cases[] = {first, second};
  static constexpr AliasInfo silent[] = {{.name = "fancy_many"}};
  EXPECT_EQ(faults<A>(cases, {.aliases = silent})["texts"], "the summary of fancy_many is ''");
}

TEST(SelfCheck, RowsThatAreNamedTwiceOrBeginNaiveAreCaught) {
  static constexpr Row<NoConfig> twice[] = {{"fast"}, {"fast"}}, naive[] = {{.name = "plain", .naive = true}},
                                 unnamed[] = {{"fast"}, {""}};
  const auto with = [](Rows rows, DeviceKind kind = DeviceKind::cpu, OpCode<A> code = {}) {
    const Case<A> cases[] = {first, second};
    const Impl<A> impl{{.rows = rows, .launch = [](const A&, Arena, Stream&, int) {}}};
    std::array<const ImplBase*, device_kinds> on{};
    on[std::size_t(kind)] = &impl;
    return faults<A>(cases, code, {}, on)["rows"];
  };
  EXPECT_EQ(with({}), "");
  EXPECT_EQ(with(twice), "the row on cpu 'fast' is there twice");
  EXPECT_EQ(with(naive), "row 0 on cpu is naive");
  EXPECT_EQ(with(unnamed, DeviceKind::cuda), "one of several rows on cuda:0 has no name");
  static constexpr AliasInfo tensor_alias[] = {
      {.name = "fancy_many", .summary = "y", .cuda_variants = "tensor "}};
  EXPECT_EQ(with({}, DeviceKind::simt, {.aliases = tensor_alias}),
            "fancy_many stands for rows 'tensor ...' on simt, of which there is none");
}

TEST(SelfCheck, AMissingCostIsCaught) {
  const Case<A> cases[] = {first, second};
  const Definition<A> d{{.name = "many", .summary = "y = x", .source = "none"},
                        {.cases = cases, .aliases = aliases}};
  const Results results = check_definition({"test", &d});
  EXPECT_FALSE(results.back().ok);
  EXPECT_EQ(results.back().aspect, "cost");
}

TEST(SelfCheck, WorkInPlaceThatNoCaseDoesIsCaught) {
  EXPECT_TRUE(faults_of(first, {.in_place = true}).empty());
  struct LengthArgs {
    In x;
    Out length;
    static constexpr auto fields() {
      return std::array{field<&LengthArgs::x>("x", "n", DTypes::of(DType::f64), "input"),
                        field<&LengthArgs::length>("length", "", DTypes::of(DType::f64), "result")};
    }
  };
  const Case<LengthArgs> cases[] = {{.name = "n=3", .sizes = {{"n", 3}}}};
  EXPECT_EQ(faults<LengthArgs>(cases, {}, {.in_place = true})["coverage"], "no case can be done in place");
}

/// An operator whose fields refer to names that do not exist.
struct LooseArgs {
  In x, x2;
  Out y;
  std::int64_t lambda = 0, k = 0;
  static constexpr auto fields() {
    using B = LooseArgs;
    return std::array{
        field<&B::x>("x", "n", DTypes::of(DType::i32), "input").indexes("m"),
        field<&B::x2>("x", "n", real_of("C"), "").may_be_infinite(),
        field<&B::y>("y", "n", DTypes::of(DType::f32), "result").counted_by("count"),
        option<&B::lambda>("lambda", 0, 9, "a word of Python"),
        option<&B::k>("k", 1, 9, "no default in range"),
    };
  }
};

TEST(SelfCheck, FieldsThatNameWhatIsNotThereAreCaught) {
  auto wrong = faults<LooseArgs>({});
  EXPECT_EQ(
      wrong["names"],
      "the argument 'x' is there twice; 'lambda' is no name for an argument; x is below the size 'm', "
      "which is none; x may be infinite and is no output; x is the real part of 'C', which is none; y is "
      "counted by the output 'count', which is none");
  EXPECT_EQ(wrong["texts"], "the help of x is ''");
  EXPECT_EQ(wrong["options"], "k by default is 0, accepted are 1 to 9");
}

TEST(SelfCheck, AliasesThatBindWrongAreCaught) {
  const Case<A> cases[] = {first, second};
  static constexpr AliasInfo no_option[] = {
      {.name = "fancy_many", .summary = "y", .binds = {{[](void* a) { return a; }, [](void*) {}}}}};
  EXPECT_EQ(faults<A>(cases, {.aliases = no_option})["options"], "fancy_many binds what is no option");
  static constexpr AliasInfo too_large[] = {
      {.name = "fancy_many", .summary = "y", .binds = {bind<&A::limit, std::int64_t{10}>}}};
  EXPECT_EQ(faults<A>(cases, {.aliases = too_large})["options"],
            "limit of fancy_many is 10, accepted are 0 to 9, or none");
}

TEST(SelfCheck, TheWholeCatalogueIsRight) {
  for (const OpEntry& entry : all_ops())
    for (const Result& r : check_definition(entry))
      EXPECT_TRUE(r.ok) << r.op << ", " << r.aspect << ": " << r.message;
}

}  // namespace
}  // namespace kolmo::check
