# One folder per operator: kolmo/ops/<group>/<op>/<op>.{hpp,cpp,cu} and <op>_test.cpp. The folder is the
# registration; nothing is listed by hand. Sets
#   KOLMO_OP_SOURCES     operators, the generated catalogue and the hashes of the sources, for the library
#   KOLMO_OP_CUDA        their kernels, with CUDA
#   KOLMO_OP_SIMT        generated wrappers that compile each .cu for the emulated GPU
#   KOLMO_OP_ORACLES     oracles and their generated table, for kolmo_check
file(GLOB specs CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} kolmo/ops/*/*/*.cpp)
file(GLOB kernels CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} kolmo/ops/*/*/*.cu)
list(SORT specs)
set(KOLMO_OP_SOURCES "")
set(KOLMO_OP_CUDA "")
set(KOLMO_OP_SIMT "")
set(KOLMO_OP_ORACLES "")
set(includes "")
set(declarations "")
set(rows "")
set(oracle_declarations "")
set(oracle_rows "")
foreach(spec IN LISTS specs)
  get_filename_component(op ${spec} NAME_WE)
  get_filename_component(dir ${spec} DIRECTORY)
  string(REGEX REPLACE "^kolmo/ops/" "" key ${dir})
  if(NOT key MATCHES "^([a-z0-9_]+)/${op}$")
    continue()  # <op>_test.cpp, or helpers of an operator: compiled below
  endif()
  set(group ${CMAKE_MATCH_1})
  file(GLOB parts CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${dir}/*.cpp)
  set(test ${dir}/${op}_test.cpp)
  if(NOT test IN_LIST parts)
    message(FATAL_ERROR "${dir}: ${op}_test.cpp with the operator's oracle is missing")
  endif()
  list(REMOVE_ITEM parts ${test})
  list(APPEND KOLMO_OP_SOURCES ${parts})
  list(APPEND KOLMO_OP_ORACLES ${test})
  string(APPEND includes "#include \"${dir}/${op}.hpp\"\n")
  string(APPEND oracle_declarations "extern const Oracle<decltype(arguments_of(${op}))> ${op}_oracle;\n")
  string(APPEND oracle_rows "    &${op}_oracle,\n")

  set(cuda nullptr)
  set(simt nullptr)
  if("${dir}/${op}.cu" IN_LIST kernels)
    if(KOLMO_CUDA)
      list(APPEND KOLMO_OP_CUDA ${dir}/${op}.cu)
      string(APPEND declarations "extern const CudaImpl ${op}_cuda;\n")
      set(cuda "&${op}_cuda")
    endif()
    if(KOLMO_SIMT)
      set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/simt/${op}.cu)
      file(CONFIGURE OUTPUT ${wrapper} CONTENT
"#define @op@_cuda @op@_simt
#include \"@dir@/@op@.cu\"
" @ONLY)
      list(APPEND KOLMO_OP_SIMT ${wrapper})
      string(APPEND declarations "extern const CudaImpl ${op}_simt;\n")
      set(simt "&${op}_simt")
    endif()
  endif()
  string(APPEND rows "    {\"${group}\", &${op}, ${cuda}, ${simt}},\n")
endforeach()

file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/op_table.cpp CONTENT
"#include \"kolmo/op/registry.hpp\"
@includes@
namespace kolmo {
@declarations@
static constexpr OpEntry table[] = {
@rows@};
std::span<const OpEntry> detail::built_in_ops() { return table; }
}  // namespace kolmo
" @ONLY)
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/oracle_table.cpp CONTENT
"#include \"kolmo/check/oracle.hpp\"
@includes@
namespace kolmo::check {
template <class Args>
Args arguments_of(const Op<Args>&);
@oracle_declarations@
static constexpr const OracleBase* table[] = {
@oracle_rows@};
std::span<const OracleBase* const> detail::built_in_oracles() { return table; }
}  // namespace kolmo::check
" @ONLY)
list(APPEND KOLMO_OP_SOURCES ${CMAKE_CURRENT_BINARY_DIR}/op_table.cpp)
file(GLOB_RECURSE hashed CONFIGURE_DEPENDS kolmo/*.hpp kolmo/*.cuh kolmo/*.cpp)
set(hashes ${CMAKE_CURRENT_BINARY_DIR}/source_hashes.cpp)
add_custom_command(OUTPUT ${hashes}
  COMMAND ${CMAKE_COMMAND} -D ROOT=${CMAKE_CURRENT_SOURCE_DIR} -D OUTPUT=${hashes}
    -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/source_hashes.cmake
  DEPENDS ${kernels} ${hashed} cmake/source_hashes.cmake
  COMMENT "Hashing the sources of operators" VERBATIM)
list(APPEND KOLMO_OP_SOURCES ${hashes})
list(APPEND KOLMO_OP_ORACLES ${CMAKE_CURRENT_BINARY_DIR}/oracle_table.cpp)
