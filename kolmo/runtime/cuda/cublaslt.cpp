#include "kolmo/runtime/cuda/cublaslt.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <library_types.h>

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "kolmo/runtime/cuda_libraries.hpp"
#include "kolmo/runtime/launch_log.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo::cuda {
namespace {

// The part of cuBLASLt's interface that is used. The constants are those of cublasLt.h, which have not
// changed since CUDA 11.
using Status = int;
using Opaque = void*;  // for handles, descriptors, layouts and preferences
struct Algorithm {
  std::uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  std::size_t workspace;
  Status state;
  float waves;
  int reserved[4];
};
enum ComputeType : int { compute_f32 = 68, compute_f64 = 70 };
enum DescriptorAttribute : int {
  transpose_left = 3,
  transpose_right = 4,
  epilogue = 7,
  bias_pointer = 8,
  bias_type = 26
};
enum LayoutAttribute : int { batch_count = 5, batch_stride = 6 };
enum PreferenceAttribute : int {
  max_workspace = 1,
  reductions = 3,
  alignment_left = 5,
  alignment_right,
  alignment_c,
  alignment_y
};
enum Epilogue : std::uint32_t { plain = 1, with_relu = 2, with_bias = 4, with_gelu_tanh = 32 };
// Excludes reductions that round partial sums to the type of the output.
constexpr std::uint32_t reductions_in_f32 = 2;

struct Library {
  Status (*create)(Opaque*);
  Status (*make_descriptor)(Opaque*, ComputeType, cudaDataType_t scale);
  Status (*free_descriptor)(Opaque);
  Status (*set_descriptor)(Opaque, DescriptorAttribute, const void*, std::size_t);
  Status (*make_layout)(Opaque*, cudaDataType_t, std::uint64_t rows, std::uint64_t columns,
                        std::int64_t stride);
  Status (*free_layout)(Opaque);
  Status (*set_layout)(Opaque, LayoutAttribute, const void*, std::size_t);
  Status (*make_preference)(Opaque*);
  Status (*free_preference)(Opaque);
  Status (*set_preference)(Opaque, PreferenceAttribute, const void*, std::size_t);
  Status (*find)(Opaque handle, Opaque descriptor, Opaque a, Opaque b, Opaque c, Opaque d, Opaque preference,
                 int asked, Heuristic*, int* found);
  Status (*multiply)(Opaque handle, Opaque descriptor, const void* alpha, const void* a, Opaque layout_a,
                     const void* b, Opaque layout_b, const void* beta, const void* c, Opaque layout_c,
                     void* d, Opaque layout_d, const Algorithm*, void* workspace, std::size_t, cudaStream_t);
};

struct Opened {
  VendorLibrary report;
  std::optional<Library> functions;  ///< empty if the library or one of its functions is missing
};

const Opened& opened() {
  static const Opened opened = [] {
    CudaLibrary so = open_cuda_library("libcublasLt.so.13");
    Opened o;
    if (so.handle) {
      Library l{};
      const auto get = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(so.handle, name));
        if (!function) so.problem = so.path + " has no " + name;
      };
      get(l.create, "cublasLtCreate");
      get(l.make_descriptor, "cublasLtMatmulDescCreate");
      get(l.free_descriptor, "cublasLtMatmulDescDestroy");
      get(l.set_descriptor, "cublasLtMatmulDescSetAttribute");
      get(l.make_layout, "cublasLtMatrixLayoutCreate");
      get(l.free_layout, "cublasLtMatrixLayoutDestroy");
      get(l.set_layout, "cublasLtMatrixLayoutSetAttribute");
      get(l.make_preference, "cublasLtMatmulPreferenceCreate");
      get(l.free_preference, "cublasLtMatmulPreferenceDestroy");
      get(l.set_preference, "cublasLtMatmulPreferenceSetAttribute");
      get(l.find, "cublasLtMatmulAlgoGetHeuristic");
      get(l.multiply, "cublasLtMatmul");
      if (so.problem.empty()) o.functions = l;
    }
    o.report = {"cuBLASLt", so.problem.empty() ? so.path : "", so.problem};
    if (const auto version = o.functions ? dlsym(so.handle, "cublasLtGetVersion") : nullptr) {
      const std::size_t v = reinterpret_cast<std::size_t (*)()>(version)();
      o.report.name += " " + std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." +
                       std::to_string(v % 100);
    }
    return o;
  }();
  return opened;
}
const Library* library() { return opened().functions ? &*opened().functions : nullptr; }

void check(Status status, const char* doing) {
  if (status) fail<DeviceError>(std::string("cuBLASLt: error ") + std::to_string(status) + " while " + doing);
}

/// Owns an object that the library created, and calls the matching function to release it.
class Owned {
 public:
  template <class Make, class... A>
  Owned(Status (*free)(Opaque), Make make, A... arguments) : free_(free) {
    check(make(&it_, arguments...), "describing a product");
  }
  Owned(Owned&& other) noexcept : free_(other.free_), it_(std::exchange(other.it_, nullptr)) {}
  Owned& operator=(Owned&&) = delete;
  ~Owned() {
    if (it_) free_(it_);
  }
  Opaque get() const { return it_; }

 private:
  Status (*free_)(Opaque);
  Opaque it_ = nullptr;
};

cudaDataType_t native(DType t) {
  switch (t) {
    case DType::f64:
      return CUDA_R_64F;
    case DType::f16:
      return CUDA_R_16F;
    case DType::bf16:
      return CUDA_R_16BF;
    default:
      return CUDA_R_32F;
  }
}

/// A call in the library's terms. The library uses column-major order, so it sees every matrix transposed and
/// computes y^T = op(b)^T op(a)^T. Its left factor is b, and the bias runs along the columns of b, as it
/// requires.
struct Description {
  const Library& library;
  const Owned descriptor, left, right, c, y;

  Description(const Library& l, const VendorMatmul& x)
      : library(l),
        descriptor(l.free_descriptor, l.make_descriptor, x.dtype == DType::f64 ? compute_f64 : compute_f32,
                   x.dtype == DType::f64 ? CUDA_R_64F : CUDA_R_32F),
        left(matrix(x.dtype, x.transpose_b ? x.k : x.n, x.transpose_b ? x.n : x.k, x.batch)),
        right(matrix(x.dtype, x.transpose_a ? x.m : x.k, x.transpose_a ? x.k : x.m, x.batch)),
        c(matrix(x.c ? x.dtype : x.output, x.n, x.m, x.batch)),
        y(matrix(x.output, x.n, x.m, x.batch)) {
    set(transpose_left, std::int32_t(x.transpose_b));
    set(transpose_right, std::int32_t(x.transpose_a));
    std::uint32_t end = 0;
    if (x.activation == Activation::relu) end = with_relu;
    if (x.activation == Activation::gelu_tanh) end = with_gelu_tanh;
    if (x.bias) {
      end |= with_bias;
      set(bias_pointer, x.bias);
      set(bias_type, std::int32_t(native(x.dtype)));
    }
    set(epilogue, end ? end : std::uint32_t(plain));
  }

 private:
  Owned matrix(DType dtype, std::int64_t rows, std::int64_t columns, std::int64_t batch) const {
    Owned layout(library.free_layout, library.make_layout, native(dtype), rows, columns, rows);
    const auto count = std::int32_t(batch);
    const std::int64_t stride = rows * columns;
    check(library.set_layout(layout.get(), batch_count, &count, sizeof count), "describing a batch");
    check(library.set_layout(layout.get(), batch_stride, &stride, sizeof stride), "describing a batch");
    return layout;
  }
  template <class T>
  void set(DescriptorAttribute attribute, T value) const {
    check(library.set_descriptor(descriptor.get(), attribute, &value, sizeof value), "describing a product");
  }
};

/// The largest power of two, at most 256, that divides an address.
std::uint32_t alignment(const void* p) {
  const auto address = reinterpret_cast<std::uintptr_t>(p) | 256;
  return std::uint32_t(address & -address);
}

/// A device's library handle, and the algorithms found for it.
class Algorithms {
 public:
  Algorithms(const Library& l, int device) : l_(l), device_(device) {}

  Opaque handle() {
    const std::scoped_lock lock(mutex_);
    return made();
  }

  std::optional<Algorithm> find(const VendorMatmul& x) {
    const Key key{std::int64_t(x.dtype),
                  std::int64_t(x.output),
                  x.batch,
                  x.m,
                  x.n,
                  x.k,
                  x.transpose_a,
                  x.transpose_b,
                  std::int64_t(x.activation),
                  x.bias ? alignment(x.bias) : 0,
                  x.c ? alignment(x.c) : 0,
                  alignment(x.a),
                  alignment(x.b),
                  alignment(x.y)};
    const std::scoped_lock lock(mutex_);
    if (const auto known = found_.find(key); known != found_.end()) return known->second;
    if (found_.size() >= 4096) found_.clear();
    return found_[key] = ask(x);
  }

 private:
  using Key = std::array<std::int64_t, 14>;

  std::optional<Algorithm> ask(const VendorMatmul& x) {
    const Opaque handle = made();
    const Description d(l_, x);
    const Owned preference(l_.free_preference, l_.make_preference);
    const auto prefer = [&](PreferenceAttribute attribute, auto value) {
      check(l_.set_preference(preference.get(), attribute, &value, sizeof value), "choosing an algorithm");
    };
    prefer(max_workspace, std::uint64_t(vendor_matmul_workspace));
    prefer(reductions, reductions_in_f32);
    prefer(alignment_left, alignment(x.b));
    prefer(alignment_right, alignment(x.a));
    prefer(alignment_c, alignment(x.c ? x.c : x.y));
    prefer(alignment_y, alignment(x.y));
    Heuristic best{};
    int count = 0;
    const Status status = l_.find(handle, d.descriptor.get(), d.left.get(), d.right.get(), d.c.get(),
                                  d.y.get(), preference.get(), 1, &best, &count);
    if (status || count == 0 || best.state) return {};
    return best.algorithm;
  }

  Opaque made() {
    if (handle_) return handle_;
    int before = 0;
    cudaGetDevice(&before);
    cudaSetDevice(device_);
    const Status status = l_.create(&handle_);
    cudaSetDevice(before);
    check(status, "starting it");
    return handle_;
  }

  const Library& l_;
  const int device_;
  Opaque handle_ = nullptr;
  std::mutex mutex_;
  std::map<Key, std::optional<Algorithm>> found_;
};

/// Like its device, the object is never destroyed.
Algorithms& algorithms(const Library& l, int device) {
  static std::mutex mutex;
  static auto& all = *new std::map<int, Algorithms>;
  const std::scoped_lock lock(mutex);
  return all.try_emplace(device, l, device).first->second;
}

}  // namespace

const VendorLibrary* vendor_library() { return &opened().report; }

bool vendor_matmul_fits(const VendorMatmul& x) {
  const Library* l = library();
  constexpr std::int64_t limit = (std::int64_t(1) << 31) - 1;
  return l && x.k > 0 && x.activation != Activation::gelu && x.batch <= limit &&
         algorithms(*l, x.device).find(x).has_value();
}

void vendor_matmul(const VendorMatmul& x, void* workspace, Stream& stream) {
  if (LaunchLog::current()) return;  // only this program's own kernels are logged
  const Library* l = library();
  if (!l) fail<Unsupported>("cuBLASLt: " + opened().report.problem);
  Algorithms& device = algorithms(*l, x.device);
  const auto algorithm = device.find(x);
  if (!algorithm) fail<Unsupported>("cuBLASLt has no algorithm for this product");
  const Description d(*l, x);
  const float factors[] = {float(x.alpha), x.c ? float(x.beta) : 0};
  const double factors_f64[] = {x.alpha, x.c ? x.beta : 0};
  const bool f64 = x.dtype == DType::f64;
  const void *alpha = &factors[0], *beta = &factors[1];
  if (f64) alpha = &factors_f64[0], beta = &factors_f64[1];
  check(l->multiply(device.handle(), d.descriptor.get(), alpha, x.b, d.left.get(), x.a, d.right.get(), beta,
                    x.c ? x.c : x.y, d.c.get(), x.y, d.y.get(), &*algorithm, workspace,
                    vendor_matmul_workspace, static_cast<cudaStream_t>(stream.native())),
        "multiplying");
}

}  // namespace kolmo::cuda
