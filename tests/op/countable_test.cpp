// Shapes whose number of bytes is above 2^63 - 1 are refused before anything is counted or computed.
#include <gtest/gtest.h>

#include <limits>

#include "kolmo/op/bind.hpp"
#include "kolmo/op/registry.hpp"

namespace kolmo {
namespace {

/// An operator whose outputs are larger than the input.
struct GrowArgs {
  In x;
  Out y, more;
  std::int64_t copies = 1;
  static constexpr auto fields() {
    using A = GrowArgs;
    return std::array{field<&A::x>("x", "n ...", reals, "input"),
                      field<&A::y>("y", "copies n", reals, "copies"),
                      field<&A::more>("more", "copies+1", reals, "others"),
                      option<&A::copies>("copies", 0, std::numeric_limits<std::int64_t>::max(), "how many")};
  }
};

int calls = 0;
constinit const Definition<GrowArgs> grow{{.name = "grow"}, {.flops = [](const GrowArgs&) { return 0.0; }}};
constinit const Impl<GrowArgs> grow_cpu{{.launch = [](const GrowArgs&, Arena, Stream&, int) { ++calls; }}};

constexpr std::int64_t two_32 = std::int64_t(1) << 32, two_60 = std::int64_t(1) << 60;

class Countable : public testing::Test {
 protected:
  /// Makes a tensor whose strides are not computed from its extents.
  Tensor shaped(std::initializer_list<std::int64_t> extents, int at = 0) {
    Tensor t{memory_ + at, DType::f64, {}, 0, {}, {}};
    for (const std::int64_t e : extents)
      t.extent[std::size_t(t.rank)] = e, t.stride[std::size_t(t.rank++)] = 1;
    return t;
  }
  template <class Call>
  std::string refusal(const Call& call) {
    calls = 0;
    try {
      call();
    } catch (const InvalidArgument& e) {
      EXPECT_EQ(calls, 0) << "it ran all the same";
      return e.what();
    }
    return "";
  }
  std::string run_refusal(const GrowArgs& args) {
    return refusal([&] { run(entry_, &args, stream_); });
  }
  std::string inferred_refusal(GrowArgs args) {
    return refusal([&] { infer_outputs(grow, &args); });
  }
  GrowArgs right() { return {.x = shaped({2}), .y = shaped({1, 2}, 2), .more = shaped({2}, 4)}; }

  double memory_[8] = {};
  const OpEntry entry_{"test", &grow, {&grow_cpu}};
  Stream stream_{Device{}};
};

TEST_F(Countable, RefusesInputs) {
  GrowArgs args = right();
  args.x = shaped({two_32, two_32});
  const std::string many =
      "grow: x of shape (4294967296, 4294967296) and dtype f64 has more than 2^63 - 1 bytes";
  EXPECT_EQ(run_refusal(args), many);
  EXPECT_EQ(inferred_refusal(args), many);
  args.x = shaped({two_60});
  EXPECT_EQ(run_refusal(args),
            "grow: x of shape (1152921504606846976) and dtype f64 has more than 2^63 - 1 bytes");
  args.x = shaped({0, two_32, two_32});
  EXPECT_EQ(run_refusal(args),
            "grow: x of shape (0, 4294967296, 4294967296) and dtype f64 has more than 2^63 - 1 bytes");
}

TEST_F(Countable, RefusesOutputs) {
  GrowArgs args = right();
  args.y = shaped({two_32, two_32});
  EXPECT_EQ(run_refusal(args),
            "grow: y of shape (4294967296, 4294967296) and dtype f64 has more than 2^63 - 1 bytes");
  args.y = shaped({-1, 2});
  EXPECT_EQ(run_refusal(args), "grow: y is (-1, 2) f64 on cpu, expected contiguous (1, 2) f64 on cpu");
}

TEST_F(Countable, RefusesOutputsThatWouldBeTooLarge) {
  GrowArgs args = right();
  args.x = shaped({two_32, 0}), args.copies = two_32;
  const std::string many =
      "grow: y of shape (4294967296, 4294967296) and dtype f64 has more than 2^63 - 1 bytes";
  EXPECT_EQ(run_refusal(args), many);
  EXPECT_EQ(inferred_refusal(args), many);
  args.x = shaped({1}), args.copies = two_60 - 1;
  EXPECT_EQ(inferred_refusal(args),
            "grow: more of shape (1152921504606846976) and dtype f64 has more than 2^63 - 1 bytes");
  args.copies = two_60 - 2;
  EXPECT_EQ(inferred_refusal(args), "") << "the most that can be counted";
  args.x = shaped({0}), args.copies = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(inferred_refusal(args),
            "grow: y of shape (9223372036854775807, 0) and dtype f64 has more than 2^63 - 1 bytes");
}

TEST_F(Countable, RunsWhatIsRight) {
  EXPECT_EQ(run_refusal(right()), "");
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace kolmo
