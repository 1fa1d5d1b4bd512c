# Every operator or family of operators has a folder: kolmo/ops/<group>/<folder>/<folder>.{hpp,cpp,cu} and <folder>_oracle.cpp, and any further
# .cpp and .cu. The lines `extern const Op<...> name;` of the header are the registration; nothing is listed by hand. This file sets
#   KOLMO_OP_SOURCES     operators, the generated catalogue and the hashes of the sources, for the library
#   KOLMO_OP_CUDA        the CUDA sources of their kernels, in a build with CUDA
#   KOLMO_OP_SIMT        generated wrappers that compile each .cu for the emulated GPU, and KOLMO_OP_SIMT_TABLE, which
#                        puts them into the catalogue, for kolmo_simt
#   KOLMO_OP_ORACLES     oracles and their generated table, for kolmo_check
include(cmake/ops_of.cmake)

kolmo_operator_folders(${CMAKE_CURRENT_SOURCE_DIR}/kolmo/ops folders)
file(GLOB kernels CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} kolmo/ops/*/*/*.cu)
set(KOLMO_OP_SOURCES "")
set(KOLMO_OP_CUDA "")
set(KOLMO_OP_SIMT "")
set(KOLMO_OP_ORACLES "")
set(includes "")
set(declarations "")
set(rows "")
set(simt_declarations "")
set(simt_rows "")
set(oracle_declarations "")
set(oracle_rows "")
foreach(folder IN LISTS folders)
  cmake_path(GET folder PARENT_PATH group)
  cmake_path(GET folder FILENAME stem)
  set(dir kolmo/ops/${folder})
  kolmo_ops_of(${CMAKE_CURRENT_SOURCE_DIR}/${dir}/${stem}.hpp ops)
  file(GLOB parts CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${dir}/*.cpp)
  set(oracle ${dir}/${stem}_oracle.cpp)
  list(REMOVE_ITEM parts ${oracle})
  list(APPEND KOLMO_OP_SOURCES ${parts})
  list(APPEND KOLMO_OP_ORACLES ${oracle})
  string(APPEND includes "#include \"${dir}/${stem}.hpp\"\n")
  set(on_gpu "")
  if("${dir}/${stem}.cu" IN_LIST kernels)
    set(on_gpu TRUE)
    set(sources ${kernels})
    list(FILTER sources INCLUDE REGEX "^${dir}/")
    if(KOLMO_CUDA)
      list(APPEND KOLMO_OP_CUDA ${sources})
    endif()
    if(KOLMO_SIMT)
      foreach(source IN LISTS sources)
        cmake_path(GET source FILENAME name)
        set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/simt/${group}/${name})
        kolmo_simt_wrapper(${wrapper} ${source} ${ops})
        list(APPEND KOLMO_OP_SIMT ${wrapper})
      endforeach()
    endif()
  endif()
  foreach(op IN LISTS ops)
    string(APPEND declarations "extern const Impl<decltype(arguments_of(${op}))> ${op}_cpu;\n")
    set(cuda nullptr)
    if(on_gpu AND KOLMO_CUDA)
      string(APPEND declarations "extern const Impl<decltype(arguments_of(${op}))> ${op}_cuda;\n")
      set(cuda "&${op}_cuda")
    endif()
    if(on_gpu AND KOLMO_SIMT)
      string(APPEND simt_declarations "extern const Impl<decltype(arguments_of(${op}))> ${op}_simt;\n")
      string(APPEND simt_rows "    {&${op}, &${op}_simt},\n")
    endif()
    string(APPEND rows "    {\"${group}\", &${op}, {&${op}_cpu, ${cuda}}},\n")
    string(APPEND oracle_declarations "extern const Oracle<decltype(arguments_of(${op}))> ${op}_oracle;\n")
    string(APPEND oracle_rows "    &${op}_oracle,\n")
  endforeach()
endforeach()

file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/op_table.cpp CONTENT
"#include \"kolmo/op/registry.hpp\"
@includes@
namespace kolmo {
template <class Args>
Args arguments_of(const Op<Args>&);
@declarations@
static constexpr detail::BuiltInOp table[] = {
@rows@};
std::span<const detail::BuiltInOp> detail::built_in_ops() { return table; }
}  // namespace kolmo
" @ONLY)
if(KOLMO_SIMT)
  set(KOLMO_OP_SIMT_TABLE ${CMAKE_CURRENT_BINARY_DIR}/simt_table.cpp)
  file(CONFIGURE OUTPUT ${KOLMO_OP_SIMT_TABLE} CONTENT
"#include \"kolmo/op/registry.hpp\"
#include \"kolmo/runtime/backend.hpp\"
@includes@
namespace kolmo {
template <class Args>
Args arguments_of(const Op<Args>&);
@simt_declarations@
static constexpr detail::SimtRow table[] = {
@simt_rows@};
std::span<const detail::SimtRow> detail::simt_rows() { return table; }
std::unique_ptr<Backend> make_simt_backend() { return make_host_backend(DeviceKind::simt); }
}  // namespace kolmo
" @ONLY)
endif()
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
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_custom_command(OUTPUT ${hashes}
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/cmake/source_hashes.py ${CMAKE_CURRENT_SOURCE_DIR} ${hashes}
  DEPENDS ${kernels} ${hashed} cmake/source_hashes.py
  COMMENT "Hashing the sources of operators" VERBATIM)
list(APPEND KOLMO_OP_SOURCES ${hashes})
file(GLOB shared_oracles CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} kolmo/knn/*_oracle.cpp)
list(APPEND KOLMO_OP_ORACLES ${shared_oracles} ${CMAKE_CURRENT_BINARY_DIR}/oracle_table.cpp)
