#include <algorithm>
#include <cmath>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/training/weights_average/weights_average.hpp"

namespace kolmo::check {
namespace {
using A = WeightsAverageArgs;

void expected(const A& a) {
  const auto k = static_cast<long double>(a.step);
  const std::int64_t n = a.weights.size();
  for (std::int64_t j = 0; j < a.memory.size(); ++j) {
    const long double memory = get(a.memory, j), kept = get(a.power, j) != 0 ? std::pow(1 - 1 / k, memory + 1)
                                                                             : std::min(memory, 1 - 1 / k);
    for (std::int64_t i = 0; i < n; ++i)
      put(a.averages, j * n + i, kept * get(a.averages, j * n + i) + (1 - kept) * get(a.weights, i));
  }
}

/// Averages of numbers that join one after the other.
struct Averages {
  bool power[3] = {true, true, false};
  double memory[3] = {0, 2, 0.75}, average[3] = {NAN, NAN, NAN};
  void join(float w, std::int64_t step, Stream& s) {
    call(weights_average,
         {.weights = tensor(&w, {1}),
          .power = tensor(power, {3}),
          .memory = tensor(memory, {3}),
          .averages = tensor(average, {3, 1}),
          .step = step},
         s);
  }
};

constexpr Fact facts[] = {
    {"a gamma of 0 gives the mean of 1, 2, 3, ... 8, and a gamma of 2 nearly the mean with weights k^2",
     [](Stream& s) {
       Averages a;
       double sum = 0, by_power = 0;
       for (int k = 1; k <= 8; ++k) {
         a.join(float(k), k, s);
         sum += k;
         by_power += (k * k * k - (k - 1) * (k - 1) * (k - 1)) * k;  // k^3 - (k - 1)^3, exactly
         expect_near(a.average[0], sum / k, 1e-14, "mean");
         expect_near(a.average[1], by_power / (k * k * k), 1e-14, "power average");
       }
     }},
    {"an exponential average is the mean for 1 / (1 - decay) steps, then decays",
     [](Stream& s) {
       Averages a;
       const float w[] = {1, 3, 5, 7, 20};
       const double want[] = {1, 2, 3, 4, 8};
       for (int k = 0; k < 5; ++k) {
         a.join(w[k], k + 1, s);
         expect_near(a.average[2], want[k], 1e-14, "average");
       }
     }},
    {"weights that do not change are their own average, whatever was there before step 1",
     [](Stream& s) {
       Averages a;
       for (int k = 1; k <= 100; ++k) a.join(0.3f, k, s);
       for (const double v : a.average) expect(v == double(0.3f), "average");
     }},
    {"a gamma below 0 and a decay above 1 are faults",
     [](Stream& s) {
       const auto join = [&](int j, double memory) {
         Averages a;
         a.memory[j] = memory, a.join(1, 2, s), s.synchronize();
       };
       const std::string fault =
           "weights_average: memory holds a gamma below 0, or a decay outside of 0 to 1";
       expect_invalid([&] { join(0, -1); }, fault);
       expect_invalid([&] { join(2, 1.5); }, fault);
       expect_invalid([&] { join(1, NAN); }, fault);
     }},
};

}  // namespace

extern constinit const Oracle<A> weights_average_oracle{weights_average, expected, facts};

}  // namespace kolmo::check
