#include "kolmo/ops/quantum/quantum_measurement/quantum_measurement.hpp"

#include <gtest/gtest.h>

#include <array>

#include "kolmo/base/complex.hpp"
#include "kolmo/op/define.hpp"

namespace kolmo {
namespace {

double bytes_read(std::int64_t states, std::int64_t n, const Integers& qubits) {
  Complex<float> unread;
  QuantumMeasurementArgs a;
  a.state = tensor(&unread, DType::c64, std::array{states, n});
  a.qubits = qubits;
  infer_outputs(quantum_measurement, &a);
  return cost(quantum_measurement, &a).bytes_read;
}

// The amplitudes of the outcome are read again once the norm is known, but for 113 MB of each state, which a device may hold.
TEST(QuantumMeasurement, CostCountsWhatNoDeviceHoldsUntilTheNormIsKnown) {
  const double state = 8.0 * (1 << 26), half = state / 2;
  EXPECT_EQ(bytes_read(1, 1 << 26, {25}), state + half - 113e6);
  EXPECT_EQ(bytes_read(2, 1 << 26, {25}), 2 * (state + half - 113e6));
  EXPECT_EQ(bytes_read(1, 1 << 26, {25, 0}), state + half / 2 - 113e6);
  EXPECT_EQ(bytes_read(1, 1 << 26, {}), state);
  EXPECT_EQ(bytes_read(64, 1 << 20, {3}), state);
}

}  // namespace
}  // namespace kolmo
