// Several problems in one call, compared with the same problems one by one. Their sizes lead to different
// ways of computing, and the total size would lead to yet another.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kolmo/ops/info/ksg_conditional_mutual_information/ksg_conditional_mutual_information.hpp"

namespace kolmo {
namespace {

std::vector<double> together(const std::vector<std::int64_t>& offsets, bool conditional, int threads) {
  const std::int64_t n = offsets.back(), t = std::int64_t(offsets.size()) - 1, e = 9;
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> x(static_cast<std::size_t>(n)), y(x), z(x), value(static_cast<std::size_t>(t * e));
  std::vector<double> alone(value);
  for (auto* column : {&x, &y, &z})
    for (double& v : *column) v = normal(random);
  std::vector<std::int64_t> at = offsets;
  Stream stream({}, threads);
  KsgConditionalMutualInformationArgs a{.x = tensor(x.data(), {1, n, 1}), .y = tensor(y.data(), {n, 1})};
  if (conditional) a.z = tensor(z.data(), {n, 1});
  a.segments = tensor(at.data(), {t + 1}), a.value = tensor(value.data(), {t, 1, e}), a.surrogates = e - 1;
  ksg_conditional_mutual_information(a, stream);

  for (std::int64_t i = 0; i < t; ++i) {
    const std::int64_t begin = offsets[std::size_t(i)], m = offsets[std::size_t(i) + 1] - begin;
    std::int64_t number[] = {i};
    auto one = a;
    one.x = tensor(x.data() + begin, {1, m, 1}), one.y = tensor(y.data() + begin, {m, 1});
    if (conditional) one.z = tensor(z.data() + begin, {m, 1});
    one.segments = {}, one.streams = tensor(number, {1, 1});
    one.value = tensor(alone.data() + i * e, {1, 1, e});
    ksg_conditional_mutual_information(one, stream);
  }
  EXPECT_EQ(value, alone);
  return value;
}

TEST(Segments, GiveWhatEachProblemGivesAlone) {
  const std::vector<std::int64_t> offsets{0, 900, 1000, 1900, 7400, 8000};
  for (const bool conditional : {false, true})
    EXPECT_EQ(together(offsets, conditional, 1), together(offsets, conditional, 2));
}

TEST(Segments, AreRefusedWhenOneIsTooShort) {
  double x[20] = {}, value[2];
  std::int64_t offsets[] = {0, 16, 20};
  Stream stream;
  try {
    ksg_conditional_mutual_information({.x = tensor(x, {1, 20, 1}),
                                        .y = tensor(x, {20, 1}),
                                        .segments = tensor(offsets, {3}),
                                        .value = tensor(value, {2, 1, 1})},
                                       stream);
    FAIL() << "accepted";
  } catch (const InvalidArgument& e) {
    EXPECT_NE(std::string(e.what()).find("segments leave too few rows for k and theiler at element 1"),
              std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace kolmo
