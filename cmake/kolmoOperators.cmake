# kolmo_add_operators(<target> <folder>): operators outside Kolmo's tree, in folders as CONTRIBUTING.md describes them,
# <folder>/<group>/<name>/<name>.{hpp,cpp,cu} and <name>_oracle.cpp, which include each other as "<group>/<name>/<name>.hpp".
# A folder's lines `extern const Op<...> name;` are its registration; the .cu may be absent. Sources and oracles are
# compiled into the target, which must be an executable or a shared library; when it starts they are in the catalogue.
# The kernels are compiled for the emulated GPU if Kolmo has it and, if Kolmo was built with CUDA and this project has
# the language, by nvcc. Link the target with kolmo::command for the whole command.
include(${CMAKE_CURRENT_LIST_DIR}/ops_of.cmake)

function(kolmo_add_operators target folder)
  get_target_property(type ${target} TYPE)
  if(NOT type MATCHES "EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY|OBJECT_LIBRARY")
    message(FATAL_ERROR "kolmo_add_operators: ${target} is a ${type}, from which the linker drops what registers itself; "
                        "give an executable or a shared library")
  endif()
  cmake_path(ABSOLUTE_PATH folder NORMALIZE)
  kolmo_operator_folders(${folder} dirs)
  set(includes "")
  set(implementations "")
  set(oracles "")
  set(registrations "")
  foreach(dir IN LISTS dirs)
    cmake_path(GET dir PARENT_PATH group)
    cmake_path(GET dir FILENAME name)
    set(stem ${dir}/${name})
    file(GLOB files LIST_DIRECTORIES false CONFIGURE_DEPENDS ${folder}/${dir}/*)
    set(hashes "")
    foreach(file IN LISTS files)
      file(SHA256 ${file} hash)
      string(APPEND hashes "${hash}\n")
    endforeach()
    string(SHA256 hash "${hashes}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
    set(kernels ${files})
    list(FILTER kernels INCLUDE REGEX "\\.cu$")
    list(FILTER files INCLUDE REGEX "\\.cpp$")
    target_sources(${target} PRIVATE ${files})
    kolmo_ops_of(${folder}/${stem}.hpp ops)

    set(kinds cpu)
    if(EXISTS ${folder}/${stem}.cu)
      if(KOLMO_CUDA AND CMAKE_CUDA_COMPILER)
        target_sources(${target} PRIVATE ${kernels})
        list(APPEND kinds cuda)
      endif()
      if(KOLMO_SIMT)
        foreach(kernel IN LISTS kernels)
          cmake_path(GET kernel FILENAME source)
          set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/kolmo_simt/${target}/${dir}/${source})
          kolmo_simt_wrapper(${wrapper} ${dir}/${source} ${ops})
          simt_sources(${target} ${wrapper})
        endforeach()
        list(APPEND kinds simt)
      endif()
    endif()
    string(APPEND includes "#include \"${stem}.hpp\"\n")
    foreach(op IN LISTS ops)
      set(on "")
      foreach(kind cpu cuda simt)
        if(kind IN_LIST kinds)
          string(APPEND implementations "extern const Impl<decltype(arguments_of(${op}))> ${op}_${kind};\n")
          list(APPEND on "&${op}_${kind}")
        else()
          list(APPEND on nullptr)
        endif()
      endforeach()
      list(JOIN on ", " on)
      string(APPEND oracles "extern const Oracle<decltype(arguments_of(${op}))> ${op}_oracle;\n")
      string(APPEND registrations
        "  register_op({.group = \"${group}\", .op = ${op}.operator->(), .on = {${on}}, .sources = \"${hash}\"},\n"
        "              ${op}_oracle);\n")
    endforeach()
  endforeach()

  if(NOT registrations)
    message(FATAL_ERROR "kolmo_add_operators: no <group>/<name>/<name>.hpp is in ${folder}")
  endif()

  set(source ${CMAKE_CURRENT_BINARY_DIR}/kolmo_operators/${target}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT
"#include \"kolmo/check/oracle.hpp\"
@includes@
namespace kolmo {
template <class Args>
Args arguments_of(const Op<Args>&);
@implementations@}
namespace kolmo::check {
@oracles@
static const bool registered = [] {
@registrations@  return true;
}();
}  // namespace kolmo::check
" @ONLY)
  target_sources(${target} PRIVATE ${source})
  target_include_directories(${target} PRIVATE ${folder})
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off;-fno-math-errno;-fno-trapping-math;-fopenmp-simd>"
    "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-Werror=cross-execution-space-call;-Xcompiler=-ffp-contract=off,-Wno-parentheses>")
  target_link_libraries(${target} PRIVATE kolmo::check)
  if(KOLMO_SIMT)
    target_link_libraries(${target} PRIVATE kolmo::simt)
  endif()
  if(KOLMO_CUDA AND NOT CMAKE_CUDA_COMPILER)
    message(STATUS "kolmo_add_operators: the operators of ${target} have no CUDA: this project does not enable the language")
  endif()
endfunction()
