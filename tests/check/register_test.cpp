#include <gtest/gtest.h>

#include "kolmo/check/conformance.hpp"
#include "kolmo/op/source_hash.hpp"
#include "kolmo/ops/elementwise/vector_add/vector_add.hpp"

namespace kolmo::check {
namespace {

struct DoubledArgs {
  In x;
  Out y;
  double extra = 0;

  static constexpr auto fields() {
    return std::tuple{Field{"x", &DoubledArgs::x, "...", DTypes::of(DType::f64), "values"},
                      Field{"y", &DoubledArgs::y, "...", DTypes::of(DType::f64), "doubled"},
                      Option{"extra", &DoubledArgs::extra, -1.0, 1.0, "added"}};
  }
};

constexpr Case<DoubledArgs> cases[] = {
    {.name = "n=5", .sizes = {{"...", 5}}, .tolerance = 0x1p-51},
    {.name = "n=5, one more", .sizes = {{"...", 5}}, .tolerance = 0x1p-51, .alias = "doubled_plus_one"}};
constexpr Alias<DoubledArgs> aliases[] = {
    {.name = "doubled_plus_one", .preset = [](DoubledArgs& a) { a.extra = 1; }}};

void cpu(const DoubledArgs& a, void*, Stream&) {
  for (std::int64_t i = 0; i < a.x.size(); ++i) a.y.as<double>()[i] = 2 * a.x.as<double>()[i] + a.extra;
}
void expected(const DoubledArgs& a) {
  for (std::int64_t i = 0; i < a.y.size(); ++i) put(a.y, i, get(a.x, i) + get(a.x, i) + a.extra);
}
double flops(const DoubledArgs& a) { return 2 * double(a.x.size()); }

constexpr OpCode<DoubledArgs> code{.flops = flops, .cpu = cpu, .cases = cases, .aliases = aliases};
constinit const Op<DoubledArgs> doubled{
    {.name = "doubled", .summary = "y = 2 x + extra", .source = "elementary"}, code};
constinit const Op<DoubledArgs> same_name{{.name = "doubled"}, {.flops = flops, .cpu = cpu}};
constinit const Op<DoubledArgs> vector_add_again{{.name = "vector_add"}, {.flops = flops, .cpu = cpu}};
constinit const Op<DoubledArgs> bad_name{{.name = "Doubled twice"}, {.flops = flops, .cpu = cpu}};
constinit const Op<DoubledArgs> no_cpu{{.name = "gpu_only"}, {.flops = flops, .cases = cases}};

constinit const Oracle<DoubledArgs> doubled_oracle{doubled, expected};
constinit const Oracle<DoubledArgs> same_name_oracle{same_name, expected};
constinit const Oracle<DoubledArgs> vector_add_again_oracle{vector_add_again, expected};
constinit const Oracle<DoubledArgs> bad_name_oracle{bad_name, expected};
constinit const Oracle<DoubledArgs> no_cpu_oracle{no_cpu, expected};

/// One test: what is registered stays.
TEST(RegisterOp, AddsToTheCatalogueOnce) {
  const auto before = all_ops();
  const OpEntry& old = find_op("vector_add");
  EXPECT_THROW(find_op("doubled"), InvalidArgument);
  EXPECT_THROW(oracle_of(doubled), Unsupported);

  register_op({.group = "mine", .op = &doubled, .sources = "abc"}, doubled_oracle);
  EXPECT_EQ(all_ops().size(), before.size() + 1);
  EXPECT_EQ(source_hash("doubled", DeviceKind::cuda), "abc");
  EXPECT_EQ(source_hash("vector_add", DeviceKind::cuda).size(), 64u);
  EXPECT_EQ(old.op, &vector_add) << "what was handed out stays";
  EXPECT_EQ(find_op("doubled").group, "mine");
  EXPECT_EQ(find_op("doubled_plus_one").op, &doubled);
  EXPECT_EQ(&oracle_of(doubled), &doubled_oracle);
  int results = 0;
  check_op(find_op("doubled"), Device{}, 2, [&](const Result& r) {
    ++results;
    EXPECT_TRUE(r.ok) << r.aspect << ": " << r.message;
  });
  EXPECT_GT(results, 5);

  EXPECT_THROW(register_op({.op = &same_name}, same_name_oracle), InvalidArgument);
  EXPECT_THROW(register_op({.op = &vector_add_again}, vector_add_again_oracle), InvalidArgument);
  EXPECT_THROW(register_op({.op = &bad_name}, bad_name_oracle), InvalidArgument);
  EXPECT_THROW(register_op({.op = &no_cpu}, doubled_oracle), InvalidArgument) << "another operator's oracle";
  EXPECT_EQ(all_ops().size(), before.size() + 1);
  EXPECT_THROW(oracle_of(same_name), Unsupported);
}

}  // namespace
}  // namespace kolmo::check
