#include "kolmo/check/oracle.hpp"

#include <cmath>
#include <mutex>
#include <string>
#include <vector>

#include "kolmo/base/number_text.hpp"

namespace kolmo::check {
namespace {

template <class F>
void visit_real(DType t, const F& f) {
  visit<double, float, Half, BFloat16, std::int64_t, std::int32_t, std::int16_t, std::int8_t, std::uint64_t,
        std::uint32_t, std::uint16_t, std::uint8_t>(t == DType::boolean ? DType::u8 : t, f);
}

}  // namespace

long double get(const Tensor& t, std::int64_t i) {
  long double value = 0;
  visit_real(t.dtype, [&]<class T> { value = static_cast<long double>(static_cast<const T*>(t.data)[i]); });
  return value;
}

void put(const Tensor& t, std::int64_t i, long double value) {
  visit_real(t.dtype, [&]<class T> {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
      static_cast<T*>(t.data)[i] = T(float(value));
    else
      static_cast<T*>(t.data)[i] = t.dtype == DType::boolean ? T(value != 0) : T(value);
  });
}

std::complex<long double> get_complex(const Tensor& t, std::int64_t i) {
  std::complex<long double> value;
  visit<Complex<double>, Complex<float>>(t.dtype, [&]<class T> {
    const T z = static_cast<const T*>(t.data)[i];
    value = {z.re, z.im};
  });
  return value;
}

void put_complex(const Tensor& t, std::int64_t i, std::complex<long double> value) {
  visit<Complex<double>, Complex<float>>(t.dtype, [&]<class T> {
    using R = decltype(T::re);
    static_cast<T*>(t.data)[i] = {R(value.real()), R(value.imag())};
  });
}

namespace {

struct Added {
  std::mutex mutex;
  std::vector<const OracleBase*> oracles;
};
Added& added() {
  static Added a;
  return a;
}

}  // namespace

void register_op(const OpEntry& entry, const OracleBase& oracle) {
  if (&oracle.op() != entry.op)
    fail<InvalidArgument>("register_op: the oracle of '" + std::string(oracle.op().name) +
                          "' is given for '" + std::string(entry.op->name) + "'");
  const std::lock_guard lock(added().mutex);
  kolmo::register_op(entry);
  added().oracles.push_back(&oracle);
}

const OracleBase& oracle_of(const OpBase& op) {
  for (const OracleBase* oracle : detail::built_in_oracles())
    if (&oracle->op() == &op) return *oracle;
  const std::lock_guard lock(added().mutex);
  for (const OracleBase* oracle : added().oracles)
    if (&oracle->op() == &op) return *oracle;
  fail<Unsupported>(std::string(op.name) + " has no oracle");
}

void expect(bool ok, const std::string& what) {
  if (!ok) fail<Error>(what);
}

void expect_near(double got, double want, double tolerance, const std::string& what) {
  const bool equal = got == want || (std::isnan(got) && std::isnan(want));
  if (equal || std::abs(got - want) <= tolerance * std::max(1.0, std::abs(want))) return;
  fail<Error>(what + ": got " + significant_text(got, 17) + ", want " + significant_text(want, 17) +
              ", apart by " + significant_text(std::abs(got - want), 3) + ", allowed " +
              significant_text(tolerance * std::max(1.0, std::abs(want)), 3));
}

void expect_invalid(const std::function<void()>& f, std::string_view part) {
  try {
    f();
  } catch (const InvalidArgument& e) {
    expect(std::string_view(e.what()).find(part) != std::string_view::npos,
           "the message is '" + std::string(e.what()) + "', expected '" + std::string(part) + "' in it");
    return;
  }
  fail<Error>("nothing was refused; expected '" + std::string(part) + "'");
}

}  // namespace kolmo::check
