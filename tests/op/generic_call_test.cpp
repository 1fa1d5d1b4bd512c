// Calls every operator of the catalogue as a binding for another language does: with names, numbers and
// DLPack tensors, without an operator's header.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <variant>

#include "kolmo/check/compare.hpp"
#include "kolmo/check/problem.hpp"
#include "kolmo/op/host_call.hpp"
#include "kolmo/op/registry.hpp"
#include "kolmo/runtime/array.hpp"

namespace kolmo {
namespace {

/// The fields and codes of DLTensor (dlpack.h, version 1), as passed by NumPy, PyTorch and JAX.
struct DlTensor {
  void* data;
  std::int32_t device_type, device_id;  // 1: CPU
  std::int32_t ndim;
  std::uint8_t code, bits;  // 0: int, 1: unsigned, 2: float, 4: bfloat, 5: complex, 6: bool
  std::vector<std::int64_t> shape, strides;
  std::uint64_t byte_offset;
};

DlTensor to_dlpack(const Tensor& t) {
  constexpr DTypes signed_integers = DTypes::of(DType::i64, DType::i32, DType::i16, DType::i8);
  const std::uint8_t code = t.dtype == DType::boolean      ? 6
                            : complexes.has(t.dtype)       ? 5
                            : t.dtype == DType::bf16       ? 4
                            : floats.has(t.dtype)          ? 2
                            : signed_integers.has(t.dtype) ? 0
                                                           : 1;
  return {.data = t.data,
          .device_type = 1,
          .device_id = 0,
          .ndim = t.rank,
          .code = code,
          .bits = std::uint8_t(8 * size_of(t.dtype)),
          .shape = {t.shape().begin(), t.shape().end()},
          .strides = {t.stride.begin(), t.stride.begin() + t.rank},
          .byte_offset = 0};
}

DType dtype_of_code(std::uint8_t code, std::uint8_t bits) {
  for (const DType t : all_dtypes) {
    const DlTensor known = to_dlpack(tensor(nullptr, t, std::array{1}));
    if (known.code == code && known.bits == bits) return t;
  }
  fail<Unsupported>("no such dtype");
}

Tensor from_dlpack(const DlTensor& d) {
  require(d.device_type == 1, "not on the host");
  Tensor t = tensor(static_cast<std::byte*>(d.data) + d.byte_offset, dtype_of_code(d.code, d.bits), d.shape);
  for (std::size_t i = 0; i < d.strides.size(); ++i) t.stride[i] = d.strides[i];
  return t;
}

using Value = std::variant<DlTensor, std::string>;
using Keywords = std::map<std::string, Value>;

const FieldInfo& field(const OpBase& op, const std::string& name) {
  for (const FieldInfo& f : op.fields())
    if (f.name == name) return f;
  fail<InvalidArgument>(std::string(op.name) + ": no argument is called '" + name + "'");
}

/// A model of a binding: `name(**keywords)` returns the required outputs, and the optional ones that are
/// requested, by name. `dtype` is the dtype of outputs that no input determines.
std::map<std::string, Array> call_by_name(const std::string& name, const Keywords& keywords,
                                          const std::vector<std::string>& wanted, DType dtype,
                                          Stream& stream) {
  const OpEntry& entry = find_op(name);
  const OpBase& op = *entry.op;
  std::vector<std::byte> args = op.default_args(name);
  for (const FieldInfo& f : op.fields())
    if (f.kind == FieldKind::out && f.dtypes.has(dtype)) f.tensor(args.data()).dtype = dtype;
  for (const auto& [keyword, value] : keywords) {
    const FieldInfo& f = field(op, keyword);
    if (f.is_tensor())
      f.tensor(args.data()) = from_dlpack(std::get<DlTensor>(value));
    else
      f.set(args.data(), f.parse(std::get<std::string>(value)));
  }
  infer_outputs(op, args.data());
  std::map<std::string, Array> outputs;
  for (const FieldInfo& f : op.fields()) {
    if (f.kind != FieldKind::out) continue;
    Tensor& t = f.tensor(args.data());
    const std::string key(f.name);
    if (f.optional && std::find(wanted.begin(), wanted.end(), key) == wanted.end()) {
      t = Tensor{};
      continue;
    }
    t = (outputs[key] = Array(t.dtype, t.shape())).tensor;
  }
  call_on_host(entry, args.data(), stream);
  return outputs;
}

struct Named {
  std::string name, device;
};
void PrintTo(const Named& n, std::ostream* out) { *out << n.name << " on " << n.device; }
std::vector<Named> all_calls() {
  std::vector<Named> all;
  for (const char* device : {"cpu", "simt", "cuda"})
    for (const OpEntry& e : all_names()) all.push_back({std::string(e.name()), device});
  return all;
}

class GenericCall : public testing::TestWithParam<Named> {};
INSTANTIATE_TEST_SUITE_P(Catalogue, GenericCall, testing::ValuesIn(all_calls()),
                         [](const auto& info) { return info.param.name + "_" + info.param.device; });

int first_case(const OpEntry& entry) {
  const auto cases = entry.op->cases();
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (!cases[i].benchmark_only && entry.has(cases[i])) return int(i);
  return -1;
}

TEST_P(GenericCall, AgreesWithTheOracle) {
  const Device device = parse_device(GetParam().device);
  if (!available(device)) GTEST_SKIP() << GetParam().device << " is not available here";
  const OpEntry& entry = find_op(GetParam().name);
  if (!entry.impl(device.kind))
    GTEST_SKIP() << GetParam().name << " has no implementation for " << GetParam().device;
  const OpBase& op = *entry.op;
  const int index = first_case(entry);
  ASSERT_GE(index, 0) << "every name has a case that tests can run";
  const check::Problem problem(op, op.cases()[std::size_t(index)], std::size_t(index));

  Keywords keywords;
  std::vector<std::string> wanted;
  std::map<std::string, Array> changed;  // holds copies of tensors that are input and output
  for (std::size_t i = 0; i < op.fields().size(); ++i) {
    const FieldInfo& f = op.fields()[i];
    const std::string name(f.name);
    if (!f.is_tensor()) {
      if (!entry.sets(f)) keywords[name] = f.text(f.value(problem.args()));
    } else if (!problem.field(i).given()) {
      continue;
    } else if (f.kind == FieldKind::in) {
      keywords[name] = to_dlpack(problem.field(i));
    } else if (f.kind == FieldKind::inout) {
      Array& copy = changed[name] = Array(problem.field(i).dtype, problem.field(i).shape());
      std::memcpy(copy.tensor.data, problem.field(i).data, copy.tensor.bytes());
      keywords[name] = to_dlpack(copy.tensor);
    } else {
      wanted.push_back(name);
    }
  }
  Stream stream(device);
  auto outputs = call_by_name(GetParam().name, keywords, wanted, problem.info().dtype, stream);
  outputs.merge(changed);

  check::HostTensors got(op.fields().size());
  for (std::size_t i = 0; i < got.size(); ++i)
    if (const auto o = outputs.find(std::string(op.fields()[i].name)); o != outputs.end())
      got[i] = std::move(o->second);
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i].tensor.given(),
              op.fields()[i].is_tensor() && op.fields()[i].is_output() && problem.field(i).given())
        << op.fields()[i].name;
  const check::Comparison result = check::Truth(check::oracle_of(op), problem).compare(problem, got);
  EXPECT_EQ(result.message, "");
  EXPECT_GT(result.finite, 0);
}

TEST(GenericCalls, RefuseNamesThatAreNot) {
  Stream stream;
  EXPECT_THROW(call_by_name("vector_add", {{"w", "1"}}, {}, DType::f64, stream), InvalidArgument);
  EXPECT_THROW(call_by_name("vector_ad", {}, {}, DType::f64, stream), InvalidArgument);
}

}  // namespace
}  // namespace kolmo
