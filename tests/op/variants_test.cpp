// CPU variants, threads as a launch parameter, and aliases.
#include <gtest/gtest.h>

#include "kolmo/check/problem.hpp"
#include "kolmo/op/registry.hpp"
#include "kolmo/ops/elementwise/binary/binary.hpp"

namespace kolmo {
namespace {

enum class Sign : std::int32_t { plus, minus };
constexpr std::string_view sign_names[] = {"plus", "minus"};
constexpr std::span<const std::string_view> names_of(Sign) { return sign_names; }

struct ScaleArgs {
  In x;
  Out y;
  double factor = 1;
  Sign sign = Sign::plus;
  static constexpr auto fields() {
    using A = ScaleArgs;
    return std::array{field<&A::x>("x", "n", reals, "input"), field<&A::y>("y", "n", reals, "result"),
                      option<&A::factor>("factor", -10.0, 10.0, "factor"), option<&A::sign>("sign", "sign")};
  }
};

struct Seen {
  int variant = -1, threads = 0;
  void* workspace = nullptr;
} seen;

enum class Engine { of_short, of_long, simple };
constexpr Row<Engine> engines[] = {{"short", Engine::of_short},
                                   {"long", Engine::of_long},
                                   {.name = "simple", .config = Engine::simple, .naive = true}};

void lay(Arena& arena, const ScaleArgs&, const Site& site) {
  if (engines[site.row].config == Engine::of_long) arena.take<std::byte>(site.threads * 64);
}
void launch(const ScaleArgs&, Arena scratch, Stream& s, int row) {
  seen = {row, s.threads(), scratch.take<std::byte>(1)};
}
bool fits(const ScaleArgs& a, int row) { return engines[row].config != Engine::of_short || a.x.size() < 4; }
constinit const Impl<ScaleArgs> scale_cpu{{.rows = engines, .launch = launch, .lay = lay, .fits = fits}};

constexpr Case<ScaleArgs> cases[] = {
    {.name = "own", .sizes = {{"n", 2}}},
    {.name = "doubled",
     .sizes = {{"n", 2}},
     .setup = [](ScaleArgs& a) { a.sign = Sign::minus; },
     .alias = "twice"},
};
constexpr AliasInfo aliases[] = {{.name = "twice",
                                  .summary = "y = 2 x",
                                  .binds = {bind<&ScaleArgs::factor, 2.0>},
                                  .cuda_variants = "fast"}};
constinit const Definition<ScaleArgs> scale{
    {.name = "scale", .summary = "for tests", .source = "none"},
    {.flops = [](const ScaleArgs& a) { return double(a.x.size()); }, .cases = cases, .aliases = aliases}};
const OpEntry scale_entry{"test", &scale, {&scale_cpu}};
void run_scale(const ScaleArgs& args, Stream& stream, RunOptions options = {}) {
  run(scale_entry, &args, stream, options);
}

class Variants : public testing::Test {
 protected:
  ScaleArgs of_size(std::int64_t n) { return {.x = tensor(x_, {n}), .y = tensor(y_, {n})}; }
  double x_[8] = {}, y_[8] = {};
  Stream stream_{Device{}, 3};
};

TEST_F(Variants, TheFirstThatFitsIsTaken) {
  run_scale(of_size(2), stream_);
  EXPECT_EQ(seen.variant, 0);
  EXPECT_EQ(seen.workspace, nullptr);
  run_scale(of_size(5), stream_);
  EXPECT_EQ(seen.variant, 1);
  EXPECT_NE(seen.workspace, nullptr);
}

TEST_F(Variants, AnyCanBeAskedForThatFits) {
  run_scale(of_size(5), stream_, {.variant = 2});
  EXPECT_EQ(seen.variant, 2);
  for (const int wrong : {0, 3, -2})
    EXPECT_THROW(run_scale(of_size(5), stream_, {.variant = wrong}), InvalidArgument) << wrong;
}

TEST_F(Variants, AreListedWithTheirRows) {
  const OpEntry& entry = scale_entry;
  const auto rows = entry.variants(DeviceKind::cpu);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1].name, "long");
  EXPECT_TRUE(rows[2].naive && !rows[0].naive);
  const ScaleArgs args = of_size(5);
  EXPECT_EQ(entry.fitting(&args, DeviceKind::cpu), (std::vector<int>{1, 2}));
  EXPECT_TRUE(entry.variants(DeviceKind::cuda).empty());
  EXPECT_TRUE(entry.fitting(&args, DeviceKind::simt).empty());
}

TEST_F(Variants, AnOperatorWithOneWayHasOneRowWithoutAName) {
  const OpEntry& entry = entry_of(vector_add);
  const BinaryArgs args;
  ASSERT_EQ(entry.variants(DeviceKind::cpu).size(), 1u);
  EXPECT_EQ(entry.variants(DeviceKind::cpu)[0].name, "");
  EXPECT_EQ(entry.fitting(&args, DeviceKind::cpu), (std::vector<int>{0}));
}

TEST_F(Variants, ThreadsOfACallGoBeforeThoseOfTheStream) {
  run_scale(of_size(5), stream_);
  EXPECT_EQ(seen.threads, 3);
  run_scale(of_size(5), stream_, {.threads = 2});
  EXPECT_EQ(seen.threads, 2);
  EXPECT_EQ(stream_.threads(), 3);
  EXPECT_THROW(run_scale(of_size(5), stream_, {.threads = -1}), InvalidArgument);
  Graph graph = capture(stream_, [&] { run_scale(of_size(5), stream_, {.variant = 2, .threads = 4}); });
  seen = {};
  graph.launch(stream_);
  EXPECT_EQ(seen.variant, 2);
  EXPECT_EQ(seen.threads, 4);
}

TEST_F(Variants, ThreadsAreForTheCpu) {
  if (!available({DeviceKind::simt, 0})) GTEST_SKIP() << "this build has no emulated GPU";
  Stream simt({DeviceKind::simt, 0});
  double x[1] = {1}, z[1] = {};
  const auto at = [&](double* p) { return tensor(p, {1}, simt.device()); };
  const BinaryArgs args{.x = at(x), .y = at(x), .z = at(z)};
  EXPECT_THROW(vector_add(args, simt, {.threads = 1}), InvalidArgument);
  vector_add(args, simt);
  EXPECT_EQ(z[0], 2);
}

TEST(Aliases, AreTheOperatorWithOptionsSet) {
  const OpEntry own{"test", &scale, {&scale_cpu}}, alias = own.of(scale.cases()[1]);
  EXPECT_EQ(own.name(), "scale");
  EXPECT_EQ(alias.name(), "twice");
  EXPECT_EQ(own.of(scale.cases()[0]).name(), "scale");
  const auto args = scale.default_args("twice");
  EXPECT_EQ(reinterpret_cast<const ScaleArgs*>(args.data())->factor, 2);
  EXPECT_TRUE(alias.sets(scale.fields()[2]));
  EXPECT_FALSE(alias.sets(scale.fields()[3]));
  EXPECT_FALSE(own.sets(scale.fields()[2]));
}

TEST(Aliases, HaveTheirOwnCases) {
  const auto all = scale.cases();
  const OpEntry own{"test", &scale, {&scale_cpu}}, alias = own.of(all[1]);
  EXPECT_TRUE(own.has(all[0]) && own.has(all[1]));
  EXPECT_TRUE(!alias.has(all[0]) && alias.has(all[1]));
  const check::Problem problem(scale, all[1], 1);
  const auto& args = *static_cast<const ScaleArgs*>(problem.args());
  EXPECT_EQ(args.factor, 2) << "what the alias binds";
  EXPECT_EQ(args.sign, Sign::minus) << "what the case sets";
}

TEST(Aliases, MayStandForSomeOfTheCudaVariants) {
  static constexpr Row<NoConfig> rows[] = {{"fast 16"}, {"slow"}, {"fast 32"}};
  const Impl<ScaleArgs> impl{{.rows = rows, .launch = launch}};
  const OpEntry own{"test", &scale, {nullptr, &impl}};
  const ScaleArgs args;
  EXPECT_EQ(own.fitting(&args, DeviceKind::cuda), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(own.of(scale.cases()[1]).fitting(&args, DeviceKind::cuda), (std::vector<int>{0, 2}));
}

TEST_F(Variants, OfAGpuTheOneThatTheOperatorPrefersIsTheDefault) {
  static constexpr Row<NoConfig> rows[] = {{"fast 16"}, {"slow"}, {"fast 32"}, {"long"}};
  constexpr auto fits = [](const ScaleArgs& a, int v) { return v != 3 || a.x.size() > 6; };
  constexpr auto preferred = [](const ScaleArgs& a) { return a.x.size() == 2 ? -1 : a.x.size() < 5 ? 1 : 3; };
  const Impl<ScaleArgs> impl{{.rows = rows, .launch = launch, .fits = fits, .preferred = preferred}};
  const OpEntry own{"test", &scale, {nullptr, &impl}}, alias = own.of(scale.cases()[1]);
  const auto order = [&](const OpEntry& e, std::int64_t n) {
    const ScaleArgs args = of_size(n);
    const auto all = e.fitting(&args, DeviceKind::cuda);
    EXPECT_EQ(all.at(0), e.default_variant(&args, DeviceKind::cuda));
    return all;
  };
  EXPECT_EQ(order(own, 2), (std::vector<int>{0, 1, 2})) << "none is preferred";
  EXPECT_EQ(order(own, 4), (std::vector<int>{1, 0, 2}));
  EXPECT_EQ(order(own, 5), (std::vector<int>{0, 1, 2})) << "what is preferred does not fit";
  EXPECT_EQ(order(own, 7), (std::vector<int>{3, 0, 1, 2}));
  EXPECT_EQ(order(alias, 4), (std::vector<int>{0, 2})) << "the alias does not stand for what is preferred";
}

TEST(Aliases, StandBehindTheirOperatorInTheCatalogue) {
  const auto names = all_names();
  std::size_t at = 0;
  for (const OpEntry& own : all_ops()) {
    ASSERT_LT(at + own.op->aliases().size(), names.size()) << own.name();
    EXPECT_EQ(names[at].name(), own.name());
    EXPECT_EQ(names[at++].alias, nullptr);
    for (const AliasInfo& alias : own.op->aliases()) {
      EXPECT_EQ(names[at].op, own.op) << alias.name;
      EXPECT_EQ(names[at++].alias, &alias);
    }
  }
  EXPECT_EQ(at, names.size());
  for (const OpEntry& e : names) EXPECT_EQ(&find_op(e.name()), &e) << e.name() << " is there twice";
}

}  // namespace
}  // namespace kolmo
