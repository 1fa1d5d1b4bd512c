#pragma once
#include <array>

#include "kolmo/op/shape.hpp"

namespace kolmo {

/// Sizes bound to the names in shape strings, and dtypes bound to dtype variables; `batch` holds the extents
/// of "...".
class Dims {
 public:
  std::int64_t operator[](std::string_view name) const;  ///< throws InvalidArgument when unknown
  bool has(std::string_view name) const { return find(name) != nullptr; }
  void set(std::string_view name, std::int64_t size);
  /// The dtype of a variable; null if neither an input nor the operator bound it to one.
  const DType* dtype(std::string_view variable) const;
  void set_dtype(std::string_view variable, DType dtype);
  Extents batch;
  bool batch_known = false;

 private:
  template <class T>
  struct Bound {
    std::string_view name;
    T value{};
  };
  static constexpr int capacity = 24, dtype_capacity = 6;
  const std::int64_t* find(std::string_view name) const;

  std::array<Bound<std::int64_t>, capacity> sizes_;
  std::array<Bound<DType>, dtype_capacity> dtypes_;
  int count_ = 0, dtype_count_ = 0;
};

}  // namespace kolmo
