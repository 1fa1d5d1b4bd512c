#pragma once
#include <map>
#include <string>
#include <vector>

#include "kolmo/op/define.hpp"

namespace kolmo {

/// A call without its data: enough to make up a call that costs as much.
struct CallShape {
  std::map<std::string, DType> dtypes;         ///< dtypes of the dtype variables, "T" and others
  std::map<std::string, std::int64_t> sizes;   ///< extents by name; that of "..." is the product
  std::vector<std::string> given;              ///< optional tensors, in the order of the fields
  std::map<std::string, std::string> options;  ///< by name, in the notation of the command

  friend bool operator==(const CallShape&, const CallShape&) = default;
};

/// The shape of a call whose arguments are well-formed and on `device`.
CallShape shape_of_call(const OpBase& op, const void* args, Device device);
/// Sets the options of a call. Throws InvalidArgument, naming the operator, for one that it does not have.
void set_options(const OpBase& op, const CallShape& call, void* args);

}  // namespace kolmo
