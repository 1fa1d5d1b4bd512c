#include <gtest/gtest.h>

#include <algorithm>

#include "kolmo/check/conformance.hpp"
#include "kolmo/op/source_hash.hpp"
#include "kolmo/ops/elementwise/binary/binary.hpp"

namespace kolmo::check {
namespace {

struct DoubledArgs {
  In x;
  Out y;
  double extra = 0;

  static constexpr auto fields() {
    return std::array{field<&DoubledArgs::x>("x", "...", DTypes::of(DType::f64), "values"),
                      field<&DoubledArgs::y>("y", "...", DTypes::of(DType::f64), "doubled"),
                      option<&DoubledArgs::extra>("extra", -1.0, 1.0, "added")};
  }
};

constexpr Case<DoubledArgs> cases[] = {
    {.name = "n=5", .sizes = {{"...", 5}}, .tolerance = 0x1p-51},
    {.name = "n=5, one more", .sizes = {{"...", 5}}, .tolerance = 0x1p-51, .alias = "doubled_plus_one"}};
constexpr AliasInfo aliases[] = {
    {.name = "doubled_plus_one", .summary = "y = 2 x + 1", .binds = {bind<&DoubledArgs::extra, 1.0>}}};

constinit const Impl<DoubledArgs> cpu{{.launch = [](const DoubledArgs& a, Arena, Stream&, int) {
  for (std::int64_t i = 0; i < a.x.size(); ++i) a.y.as<double>()[i] = 2 * a.x.as<double>()[i] + a.extra;
}}};
void expected(const DoubledArgs& a) {
  for (std::int64_t i = 0; i < a.y.size(); ++i) put(a.y, i, get(a.x, i) + get(a.x, i) + a.extra);
}
double flops(const DoubledArgs& a) { return 2 * double(a.x.size()); }

constinit const Definition<DoubledArgs> definition{
    {.name = "doubled", .summary = "y = 2 x + extra", .source = "elementary"},
    {.flops = flops, .cases = cases, .aliases = aliases}};
constinit const Definition<DoubledArgs> same_definition{{.name = "doubled"}, {.flops = flops}},
    vector_add_definition{{.name = "vector_add"}, {.flops = flops}},
    bad_definition{{.name = "Doubled twice"}, {.flops = flops}},
    other_definition{{.name = "gpu_only"}, {.flops = flops, .cases = cases}};
constinit const Op<DoubledArgs> doubled{definition}, same_name{same_definition},
    vector_add_again{vector_add_definition}, bad_name{bad_definition}, other{other_definition};
constinit const Alias<DoubledArgs> doubled_plus_one{definition, aliases[0]};

constinit const Oracle<DoubledArgs> doubled_oracle{doubled, expected}, same_name_oracle{same_name, expected},
    vector_add_again_oracle{vector_add_again, expected}, bad_name_oracle{bad_name, expected};

/// All in one test, because a registration is permanent.
TEST(RegisterOp, AddsToTheCatalogueOnce) {
  const auto before = all_ops();
  const OpEntry& old = find_op("vector_add");
  EXPECT_THROW(find_op("doubled"), InvalidArgument);
  EXPECT_THROW(oracle_of(doubled), Unsupported);

  register_op({.group = "mine", .op = &definition, .on = {&cpu}, .sources = "abc"}, doubled_oracle);
  EXPECT_EQ(all_ops().size(), before.size() + 1);
  EXPECT_EQ(source_hash("doubled", DeviceKind::cuda), "abc");
  EXPECT_EQ(source_hash("vector_add", DeviceKind::cuda).size(), 64u);
  EXPECT_EQ(old.op, &static_cast<const OpBase&>(vector_add)) << "what was handed out stays";
  EXPECT_EQ(find_op("doubled").group, "mine");
  EXPECT_EQ(find_op("doubled_plus_one").op, &definition);
  EXPECT_EQ(&oracle_of(doubled), &doubled_oracle);
  int results = 0;
  check_op(find_op("doubled"), Device{}, 2, [&](const Result& r) {
    ++results;
    EXPECT_TRUE(r.ok) << r.aspect << ": " << r.message;
  });
  EXPECT_GT(results, 5);
  const auto only = [](std::string_view aspect) {
    return check_op(
        find_op("doubled"), Device{}, 2, [](const Result&) {}, aspect);
  };
  EXPECT_TRUE(
      std::ranges::any_of(only("memory"), [](const Result& r) { return r.aspect == "memory" && r.ok; }));
  EXPECT_EQ(only("grpah").back().message, "no check of doubled is called 'grpah'");

  double x = 3, y = 0;
  Stream stream{Device{}};
  doubled_plus_one({.x = tensor(&x, {1}), .y = tensor(&y, {1})}, stream);
  EXPECT_EQ(y, 7) << "an alias that was added is called like any other";

  EXPECT_THROW(register_op({.op = &same_definition}, same_name_oracle), InvalidArgument);
  EXPECT_THROW(register_op({.op = &vector_add_definition}, vector_add_again_oracle), InvalidArgument);
  EXPECT_THROW(register_op({.op = &bad_definition}, bad_name_oracle), InvalidArgument);
  EXPECT_THROW(register_op({.op = &other_definition}, doubled_oracle), InvalidArgument)
      << "another operator's oracle";
  EXPECT_EQ(all_ops().size(), before.size() + 1);
  EXPECT_THROW(oracle_of(same_name), Unsupported);
}

}  // namespace
}  // namespace kolmo::check
