// Faulty data: reports by an operator's code on any device become one error.
#include <gtest/gtest.h>

#include "kolmo/op/inside.hpp"
#include "kolmo/op/registry.hpp"
#include "kolmo/skeleton/each_item_cpu.hpp"

namespace kolmo {
namespace {

struct RootArgs {
  In x;
  Out y;
  static constexpr auto fields() {
    return std::array{field<&RootArgs::x>("x", "n", reals, "numbers from 0 on"),
                      field<&RootArgs::y>("y", "n", reals, "their roots")};
  }
};
/// An operator that finds the root of every number by Newton's method, with its own scratch memory.
template <class T>
struct Root {
  Status status;
  const T* x;
  T* y;
  std::int64_t n;
  explicit Root(const RootArgs& a) : x(a.x.as<T>()), y(a.y.as<T>()), n(a.y.size()) {}
  std::int64_t items() const { return n; }
  std::int64_t scratch() const { return 2; }
  void operator()(std::int64_t i, T* own) const {
    if (!(x[i] == x[i])) status.report(0, i);
    if (x[i] < 0) status.report(1, i);
    own[0] = x[i], own[1] = x[i] + 1;
    for (int step = 0; step < 60; ++step) own[1] = (own[1] + own[0] / own[1]) / 2;
    y[i] = own[1];
  }
};
using Roots = Items<RootArgs, Root, &RootArgs::x, double, float>;
constexpr std::string_view faults[] = {"x is not a number", "x is below 0"};
constinit const Definition<RootArgs> root{{.name = "root", .faults = faults}, {}};
constinit const Impl<RootArgs> root_cpu = cpu::each_item<Roots, 16>();

class Faults : public testing::Test {
 protected:
  std::string run_all(std::int64_t n = 1000) {
    const RootArgs args{.x = tensor(x_.data(), {n}), .y = tensor(y_.data(), {n})};
    try {
      run(entry_, &args, stream_);
    } catch (const InvalidArgument& e) {
      return e.what();
    }
    return "";
  }
  const OpEntry entry_{.group = "test", .op = &root, .on = {&root_cpu}};
  std::vector<double> x_ = std::vector<double>(1000, 4), y_ = std::vector<double>(1000);
  Stream stream_{Device{}, 4};
};

TEST_F(Faults, RightDataRaiseNothing) {
  EXPECT_EQ(run_all(), "");
  EXPECT_NEAR(y_[999], 2, 1e-12);
}

TEST_F(Faults, TheLowestFaultAndElementIsTold) {
  for (const std::size_t i : {900u, 400u, 777u}) x_[i] = -1;
  EXPECT_EQ(run_all(), "root: x is below 0 at element 400");
  x_[950] = std::nan("");
  EXPECT_EQ(run_all(), "root: x is not a number at element 950");
}

TEST_F(Faults, AreToldOnce) {
  x_[3] = -1;
  EXPECT_NE(run_all(), "");
  x_[3] = 4;
  EXPECT_EQ(run_all(), "");
  EXPECT_NO_THROW(stream_.synchronize());
}

TEST_F(Faults, OfALaunchThatThrowsAreNotToldOfTheNextOne) {
  static constexpr Impl<RootArgs> throws{{.launch = [](const RootArgs&, Arena, Stream& s, int) {
    s.status().report(1, 3);
    fail<Unsupported>("not here");
  }}};
  const OpEntry failing{.group = "test", .op = &root, .on = {&throws}};
  const RootArgs args{.x = tensor(x_.data(), {1000}), .y = tensor(y_.data(), {1000})};
  try {
    run(failing, &args, stream_);
    FAIL() << "it did not throw";
  } catch (const Unsupported& e) {
    EXPECT_STREQ(e.what(), "root: not here");
  }
  EXPECT_NO_THROW(stream_.synchronize());
  EXPECT_EQ(run_all(), "");
}

TEST_F(Faults, AreNotLookedForInTheUncheckedMode) {
  x_[3] = -1;
  stream_.check_data(false);
  EXPECT_EQ(run_all(), "");
  stream_.check_data(true);
  EXPECT_NE(run_all(), "");
}

TEST(Status, KeepsTheEarliestLaunchThenFaultThenIndex) {
  unsigned long long word = Status::none;
  const Status early{&word, 1ull << 48}, late{&word, 2ull << 48};
  late.report(0, 5);
  early.report(3, 9);
  early.report(2, 1ll << 50);
  EXPECT_EQ(word >> 48, 1u);
  EXPECT_EQ(word >> Status::index_bits & 0xFF, 2u);
  EXPECT_EQ(word & ((1ull << Status::index_bits) - 1), (1ull << Status::index_bits) - 1)
      << "as far as it counts";
  Status().report(0, 0);
  EXPECT_FALSE(Status());
}

}  // namespace
}  // namespace kolmo
