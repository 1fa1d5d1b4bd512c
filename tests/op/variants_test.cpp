// CPU variants, threads as a launch parameter, and aliases.
#include <gtest/gtest.h>

#include "kolmo/check/problem.hpp"
#include "kolmo/op/registry.hpp"
#include "kolmo/ops/elementwise/vector_add/vector_add.hpp"

namespace kolmo {
namespace {

enum class Sign : std::int32_t { plus, minus };
constexpr std::string_view sign_names[] = {"plus", "minus"};

struct ScaleArgs {
  In x;
  Out y;
  double factor = 1;
  Sign sign = Sign::plus;
  static constexpr auto fields() {
    using A = ScaleArgs;
    return std::tuple{Field{"x", &A::x, "n", reals, "input"}, Field{"y", &A::y, "n", reals, "result"},
                      Option{"factor", &A::factor, -10, 10, "factor"},
                      Choice{"sign", &A::sign, sign_names, "sign"}};
  }
};

struct Seen {
  int variant = -1, threads = 0;
  void* workspace = nullptr;
} seen;

template <int V>
void engine(const ScaleArgs&, void* workspace, Stream& s) {
  seen = {V, s.threads(), workspace};
}
constexpr CpuVariant<ScaleArgs> engines[] = {
    {.row = {"short"}, .run = engine<0>, .fits = [](const ScaleArgs& a) { return a.x.size() < 4; }},
    {.row = {"long"},
     .run = engine<1>,
     .workspace = [](const ScaleArgs&, int threads) { return std::size_t(threads) * 64; }},
    {.row = {"simple", false, true}, .run = engine<2>},
};
constexpr Case<ScaleArgs> cases[] = {
    {.name = "own", .sizes = {{"n", 2}}},
    {.name = "doubled", .sizes = {{"n", 2}}, .setup = [](ScaleArgs& a) { a.factor *= 3; }, .alias = "twice"},
};
constexpr Alias<ScaleArgs> aliases[] = {{.name = "twice",
                                         .summary = "y = 2 x",
                                         .preset = [](ScaleArgs& a) { a.factor = 2; },
                                         .cuda_variants = "fast"}};
constinit const Op<ScaleArgs> scale{{.name = "scale", .summary = "for tests", .source = "none"},
                                    {.flops = [](const ScaleArgs& a) { return double(a.x.size()); },
                                     .cpu_variants = engines,
                                     .cases = cases,
                                     .aliases = aliases}};

class Variants : public testing::Test {
 protected:
  ScaleArgs of_size(std::int64_t n) { return {.x = tensor(x_, {n}), .y = tensor(y_, {n})}; }
  double x_[8] = {}, y_[8] = {};
  Stream stream_{Device{}, 3};
};

TEST_F(Variants, TheFirstThatFitsIsTaken) {
  scale(of_size(2), stream_);
  EXPECT_EQ(seen.variant, 0);
  EXPECT_EQ(seen.workspace, nullptr);
  scale(of_size(5), stream_);
  EXPECT_EQ(seen.variant, 1);
  EXPECT_NE(seen.workspace, nullptr);
}

TEST_F(Variants, AnyCanBeAskedForThatFits) {
  scale(of_size(5), stream_, {.variant = 2});
  EXPECT_EQ(seen.variant, 2);
  for (const int wrong : {0, 3})
    EXPECT_THROW(scale(of_size(5), stream_, {.variant = wrong}), InvalidArgument) << wrong;
}

TEST_F(Variants, AreListedWithTheirRows) {
  const OpEntry entry{"test", &scale};
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
  const VectorAddArgs args;
  ASSERT_EQ(entry.variants(DeviceKind::cpu).size(), 1u);
  EXPECT_EQ(entry.variants(DeviceKind::cpu)[0].name, "");
  EXPECT_EQ(entry.fitting(&args, DeviceKind::cpu), (std::vector<int>{0}));
}

TEST_F(Variants, ThreadsOfACallGoBeforeThoseOfTheStream) {
  scale(of_size(5), stream_);
  EXPECT_EQ(seen.threads, 3);
  scale(of_size(5), stream_, {.threads = 2});
  EXPECT_EQ(seen.threads, 2);
  EXPECT_EQ(stream_.threads(), 3);
  EXPECT_THROW(scale(of_size(5), stream_, {.threads = -1}), InvalidArgument);
  Graph graph = capture(stream_, [&] { scale(of_size(5), stream_, {.variant = 2, .threads = 4}); });
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
  const VectorAddArgs args{.x = at(x), .y = at(x), .z = at(z)};
  EXPECT_THROW(vector_add(args, simt, {.threads = 1}), InvalidArgument);
  vector_add(args, simt);
  EXPECT_EQ(z[0], 2);
}

TEST(Aliases, AreTheOperatorWithOptionsSet) {
  const OpEntry own{"test", &scale}, alias = own.of(scale.cases()[1]);
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
  const OpEntry own{"test", &scale}, alias = own.of(all[1]);
  EXPECT_TRUE(own.has(all[0]) && own.has(all[1]));
  EXPECT_TRUE(!alias.has(all[0]) && alias.has(all[1]));
  const check::Problem problem(scale, all[1], 1);
  EXPECT_EQ(static_cast<const ScaleArgs*>(problem.args())->factor, 6) << "the case's setup comes last";
}

TEST(Aliases, MayStandForSomeOfTheCudaVariants) {
  static constexpr Variant rows[] = {{"fast 16"}, {"slow"}, {"fast 32"}};
  const CudaImpl impl = cuda_impl<ScaleArgs, [](const ScaleArgs&, void*, Stream&, int) {}>(rows);
  const OpEntry own{"test", &scale, &impl, nullptr};
  const ScaleArgs args;
  EXPECT_EQ(own.fitting(&args, DeviceKind::cuda), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(own.of(scale.cases()[1]).fitting(&args, DeviceKind::cuda), (std::vector<int>{0, 2}));
}

TEST_F(Variants, OfAGpuTheOneThatTheOperatorPrefersIsTheDefault) {
  static constexpr Variant rows[] = {{"fast 16"}, {"slow"}, {"fast 32"}, {"long"}};
  constexpr auto launch = [](const ScaleArgs&, void*, Stream&, int v) { seen.variant = v; };
  constexpr auto fits = [](const ScaleArgs& a, int v) { return v != 3 || a.x.size() > 6; };
  constexpr auto preferred = [](const ScaleArgs& a) { return a.x.size() == 2 ? -1 : a.x.size() < 5 ? 1 : 3; };
  const CudaImpl impl = cuda_impl<ScaleArgs, launch, detail::no_workspace<ScaleArgs>, fits, preferred>(rows);
  const OpEntry own{"test", &scale, &impl, nullptr}, alias = own.of(scale.cases()[1]);
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
  std::size_t count = 0;
  const OpBase* last = nullptr;
  for (const OpEntry& e : all_names()) {
    EXPECT_EQ(&find_op(e.name()), &e) << e.name() << " is there twice";
    if (e.alias.name.empty())
      last = e.op;
    else
      EXPECT_EQ(e.op, last) << e.name();
    ++count;
    bool has_case = false;
    for (const CaseInfo& c : e.op->cases()) has_case |= e.has(c);
    EXPECT_TRUE(has_case) << e.name() << " has no case";
  }
  EXPECT_GE(count, all_ops().size());
}

}  // namespace
}  // namespace kolmo
