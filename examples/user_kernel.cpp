// A kernel of one's own, compiled at run time, as an operator. `example_user_kernel` validates it wherever it
// can run here. With arguments it is the kolmo command with this operator in its catalogue.
#include <cstdio>

#include "kolmo/check/conformance.hpp"
#include "kolmo/command.hpp"
#include "kolmo/op/define.hpp"
#include "kolmo/runtime/kernel.hpp"

using namespace kolmo;

namespace {

struct SaxpyArgs {
  In x;
  InOut y;
  double a = 1;

  static constexpr auto fields() {
    return std::array{
        field<&SaxpyArgs::x>("x", "...", DTypes::of(DType::f32), "summand to be scaled"),
        field<&SaxpyArgs::y>("y", "...", DTypes::of(DType::f32), "summand, then the sum"),
        option<&SaxpyArgs::a>("a", -1e6, 1e6, "factor of x"),
    };
  }
};

constexpr const char* source = R"(
  template <int Items>
  __global__ void saxpy(float a, const float* x, float* y, long long n) {
    const long long first = (blockIdx.x * (long long)blockDim.x + threadIdx.x) * Items;
    for (long long i = first; i < first + Items && i < n; ++i) y[i] += a * x[i];
  }
)";

constexpr Row<int> rows[] = {{"1 element a thread", 1}, {"4 elements a thread", 4}};

void launch(const SaxpyArgs& args, Arena, Stream& stream, int row) {
  static const Kernel kernels[] = {Kernel::from_source(source, "saxpy<1>"),
                                   Kernel::from_source(source, "saxpy<4>")};
  const long long n = args.x.size(), items = 256 * rows[row].config;
  const unsigned blocks = unsigned((n + items - 1) / items);
  kernels[row].launch({blocks}, {256}, 0, stream, float(args.a), args.x.as<float>(), args.y.as<float>(), n);
}

void compute(const SaxpyArgs& args, Arena, Stream&, int) {
  const float a = float(args.a), *x = args.x.as<float>();
  float* y = args.y.as<float>();
  for (std::int64_t i = 0, n = args.x.size(); i < n; ++i) y[i] += a * x[i];
}

// A product and a sum are rounded twice, or once as a fused multiply-add; |a x| stays below 20.
constexpr Case<SaxpyArgs> cases[] = {
    {.name = "n=1000",
     .sizes = {{"...", 1000}},
     .dtype = DType::f32,
     .tolerance = 40 * 0x1p-24,
     .setup = [](SaxpyArgs& args) { args.a = 2.5; }},
    {.name = "n=2^24", .sizes = {{"...", 1 << 24}}, .dtype = DType::f32, .benchmark_only = true},
};

constinit const Definition<SaxpyArgs> definition{
    {.name = "saxpy", .summary = "y = a x + y", .source = "BLAS level 1"},
    {.flops = [](const SaxpyArgs& args) { return 2.0 * double(args.x.size()); }, .cases = cases}};
constinit const Op<SaxpyArgs> saxpy{definition};
constinit const Impl<SaxpyArgs> saxpy_cpu{{.launch = compute}};
constinit const Impl<SaxpyArgs> saxpy_cuda{{.rows = rows, .launch = launch}};

void expected(const SaxpyArgs& args) {
  for (std::int64_t i = 0; i < args.y.size(); ++i)
    check::put(args.y, i, check::get(args.y, i) + static_cast<long double>(args.a) * check::get(args.x, i));
}
constinit const check::Oracle<SaxpyArgs> saxpy_oracle{saxpy, expected};

}  // namespace

int main(int argc, char** argv) {
  check::register_op(
      {.group = "mine", .op = saxpy.operator->(), .on = {&saxpy_cpu, &saxpy_cuda}, .sources = "1"},
      saxpy_oracle);
  if (argc > 1) return command(argc, argv);
  bool ok = true;
  for (const DeviceInfo& device : devices()) {
    if (device.device.kind == DeviceKind::simt) continue;  // a kernel compiled at run time is for real GPUs
    check::check_op(find_op("saxpy"), device.device, 2, [&](const check::Result& r) {
      ok = ok && r.ok;
      if (!r.ok) std::printf("%s, %s: %s\n", r.device.c_str(), r.aspect.c_str(), r.message.c_str());
    });
    std::printf("saxpy was validated on %s\n", to_string(device.device).c_str());
  }
  return ok ? 0 : 1;
}
