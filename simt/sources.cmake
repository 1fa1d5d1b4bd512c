set(SIMT_DIR ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "")

# Adds .cu files to a target that links simt, simt_asan or simt_tsan, compiled as C++. Each goes through a generated file
# that includes it, so that the same directory may compile the same .cu with nvcc for another target.
function(simt_sources target)
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file NORMALIZE)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE name)
    string(REPLACE "../" "" name ${name})
    set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/simt_sources/${target}/${name}.cpp)
    set(root ${CMAKE_BINARY_DIR})
    cmake_path(IS_PREFIX root ${file} generated)
    if(NOT generated)
      set(root ${CMAKE_SOURCE_DIR})
    endif()
    # The wrapper names the source by a relative path, so that another copy of the tree shares the cache of ccache.
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${root} OUTPUT_VARIABLE included)
    file(CONFIGURE OUTPUT ${wrapper} CONTENT "#include \"simt/simt.hpp\"\n#include \"@included@\"\n" @ONLY)
    set_source_files_properties(${wrapper} PROPERTIES
      INCLUDE_DIRECTORIES ${SIMT_DIR}/shim
      COMPILE_OPTIONS "-iquote;${root};-fno-strict-aliasing;-ffp-contract=off;-Wno-unknown-pragmas;-Wno-tsan;--param=asan-instrumentation-with-call-threshold=0")
    target_sources(${target} PRIVATE ${wrapper})
  endforeach()
endfunction()
