# kolmo_add_operators(<target> <folder>): operators outside Kolmo's tree, each in four files as CONTRIBUTING.md
# describes, <folder>/<group>/<op>/<op>.{hpp,cpp,cu} and <op>_test.cpp, which include each other as "<group>/<op>/<op>.hpp".
# Their sources and oracles are compiled into the target, which must be an executable or a shared library; when it
# starts they are in the catalogue. The kernels are compiled for the emulated GPU if Kolmo has it and, if Kolmo was built
# with CUDA and this project has the language, by nvcc. Link the target with kolmo::command for the whole command.
function(kolmo_add_operators target folder)
  get_target_property(type ${target} TYPE)
  if(NOT type MATCHES "EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY|OBJECT_LIBRARY")
    message(FATAL_ERROR "kolmo_add_operators: ${target} is a ${type}, from which the linker drops what registers itself; "
                        "give an executable or a shared library")
  endif()
  cmake_path(ABSOLUTE_PATH folder NORMALIZE)
  file(GLOB tests CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/*/*/*_test.cpp)
  if(NOT tests)
    message(FATAL_ERROR "kolmo_add_operators: no <group>/<op>/<op>_test.cpp is in ${folder}")
  endif()
  set(includes "")
  set(declarations "")
  set(oracles "")
  set(registrations "")
  foreach(test IN LISTS tests)
    string(REGEX REPLACE "_test\\.cpp$" "" stem ${test})  # <group>/<op>/<op>
    cmake_path(GET stem PARENT_PATH dir)
    cmake_path(GET dir PARENT_PATH group)
    cmake_path(GET stem FILENAME op)
    file(GLOB files CONFIGURE_DEPENDS ${folder}/${dir}/*)
    set(hashes "")
    foreach(file IN LISTS files)
      file(SHA256 ${file} hash)
      string(APPEND hashes "${hash}\n")
    endforeach()
    string(SHA256 hash "${hashes}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
    list(FILTER files INCLUDE REGEX "\\.cpp$")
    target_sources(${target} PRIVATE ${files})

    set(cuda nullptr)
    set(simt nullptr)
    if(EXISTS ${folder}/${stem}.cu)
      if(KOLMO_CUDA AND CMAKE_CUDA_COMPILER)
        target_sources(${target} PRIVATE ${folder}/${stem}.cu)
        string(APPEND declarations "extern const CudaImpl ${op}_cuda;\n")
        set(cuda "&${op}_cuda")
      endif()
      if(KOLMO_SIMT)
        set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/kolmo_simt/${target}/${op}.cu)
        file(CONFIGURE OUTPUT ${wrapper} CONTENT "#define @op@_cuda @op@_simt\n#include \"@stem@.cu\"\n" @ONLY)
        simt_sources(${target} ${wrapper})
        string(APPEND declarations "extern const CudaImpl ${op}_simt;\n")
        set(simt "&${op}_simt")
      endif()
    endif()
    string(APPEND includes "#include \"${stem}.hpp\"\n")
    string(APPEND oracles "extern const Oracle<decltype(arguments_of(${op}))> ${op}_oracle;\n")
    string(APPEND registrations
      "  register_op({.group = \"${group}\", .op = &${op}, .cuda = ${cuda}, .simt = ${simt}, .sources = \"${hash}\"},\n"
      "              ${op}_oracle);\n")
  endforeach()

  set(source ${CMAKE_CURRENT_BINARY_DIR}/kolmo_operators/${target}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT
"#include \"kolmo/check/oracle.hpp\"
@includes@
namespace kolmo {
@declarations@}
namespace kolmo::check {
template <class Args>
Args arguments_of(const Op<Args>&);
@oracles@
static const bool registered = [] {
@registrations@  return true;
}();
}  // namespace kolmo::check
" @ONLY)
  target_sources(${target} PRIVATE ${source})
  target_include_directories(${target} PRIVATE ${folder})
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>
    "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-Xcompiler=-ffp-contract=off,-Wno-parentheses>")
  target_link_libraries(${target} PRIVATE kolmo::check)
  if(KOLMO_SIMT)
    target_link_libraries(${target} PRIVATE kolmo::simt)
  endif()
  if(KOLMO_CUDA AND NOT CMAKE_CUDA_COMPILER)
    message(STATUS "kolmo_add_operators: the operators of ${target} have no CUDA: this project does not enable the language")
  endif()
endfunction()
