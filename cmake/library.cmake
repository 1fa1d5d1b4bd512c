# kolmo_lib (libkolmo.a, kolmo::kolmo), kolmo_check (kolmo::check, oracles and validation over the catalogue) and, with
# KOLMO_SIMT, kolmo_simt (kolmo::simt). A program that links kolmo_simt has the device `simt`, the emulated GPU.

# Multiplications and additions are not fused (-ffp-contract=off): results would depend on where the compiler does it. Nobody reads
# errno or floating-point exceptions; if the compiler had to keep them right, it could not compute several elements at once.
function(kolmo_options target)
  set(cxx -ffp-contract=off -fno-math-errno -fno-trapping-math -fopenmp-simd -Wall -Wextra -Wno-missing-field-initializers -Wnon-virtual-dtor)
  if(KOLMO_WERROR)
    list(APPEND cxx -Werror -Wno-error=array-bounds -Wno-error=maybe-uninitialized)  # g++ 12 gives these warnings for correct code
  endif()
  if(NOT KOLMO_SANITIZE AND NOT KOLMO_NATIVE AND CMAKE_BUILD_TYPE STREQUAL "Release")  # as distributions build
    list(APPEND cxx -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong)
    target_link_options(${target} PRIVATE -Wl,-z,relro,-z,now)
  endif()
  # Places in messages are those in the tree, on every machine.
  set(places -fmacro-prefix-map=${PROJECT_BINARY_DIR}/= -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
  list(APPEND cxx ${places})
  if(KOLMO_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND cxx -Wno-subobject-linkage)  # g++ takes an included source for a header
  endif()
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:${cxx}>"
    "$<$<COMPILE_LANGUAGE:CUDA>:${places};--expt-relaxed-constexpr;-Werror=cross-execution-space-call;-Xcompiler=-ffp-contract=off,-Wall,-Wno-parentheses>")
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
endfunction()

if(KOLMO_SIMT)
  set(SIMT_TESTS ${KOLMO_TESTS} CACHE BOOL "")
  add_subdirectory(simt)
endif()
include(cmake/ops.cmake)

file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} kolmo/*.cpp)
list(FILTER sources EXCLUDE REGEX "^kolmo/(ops|check|runtime/cuda)/|_oracle\\.cpp$")
if(KOLMO_CUDA)
  file(GLOB cuda_sources CONFIGURE_DEPENDS kolmo/runtime/cuda/*.cpp)
  list(FILTER cuda_sources EXCLUDE REGEX "/no_cuda\\.cpp$")
  set_source_files_properties(${cuda_sources} PROPERTIES INCLUDE_DIRECTORIES "${CUDAToolkit_INCLUDE_DIRS}")
else()
  set(cuda_sources kolmo/runtime/cuda/no_cuda.cpp)
endif()
add_custom_command(OUTPUT version.cpp.always
  BYPRODUCTS ${PROJECT_BINARY_DIR}/version.cpp
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DVERSION=${PROJECT_VERSION}
    -DOUTPUT=${PROJECT_BINARY_DIR}/version.cpp -P ${PROJECT_SOURCE_DIR}/cmake/version.cmake
  COMMENT "" VERBATIM)
set_source_files_properties(version.cpp.always PROPERTIES SYMBOLIC ON)
add_custom_target(kolmo_version DEPENDS version.cpp.always)

# Replaces the sources in the list by generated files that each include up to 14 sources of one folder, so that the compiler reads
# their headers once. They include by relative paths, so that another copy of the tree shares the cache of ccache.
function(kolmo_unite list name)
  set(united "")
  set(folders "")
  foreach(source IN LISTS ${list})
    cmake_path(GET source PARENT_PATH folder)
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    if(NOT source MATCHES "^(kolmo|cli)/" OR folder STREQUAL "kolmo/op" OR definitions)
      list(APPEND united ${source})  # generated, or shares local names with its neighbours (kolmo/op), or has macros of its own
    else()
      string(MAKE_C_IDENTIFIER ${folder} folder)
      list(APPEND folders ${folder})
      list(APPEND in_${folder} ${source})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    set(part 0)
    while(in_${folder})
      list(SUBLIST in_${folder} 0 14 sources)
      list(REMOVE_ITEM in_${folder} ${sources})
      set(text "")
      foreach(source IN LISTS sources)
        string(APPEND text "#include \"${source}\"\n")
      endforeach()
      set(file ${PROJECT_BINARY_DIR}/unity/${name}/${folder}_${part}.cpp)
      file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
      list(APPEND united ${file})
      math(EXPR part "${part} + 1")
    endwhile()
  endforeach()
  set(${list} ${united} PARENT_SCOPE)
endfunction()

# Adds sources to a library as a part of their own, which may have other compiler flags than the rest of the library.
function(kolmo_part library name)
  add_library(${name} OBJECT ${ARGN})
  kolmo_options(${name})
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_link_libraries(${name} PRIVATE Threads::Threads nlohmann_json::nlohmann_json hwy::hwy fmt::fmt SQLite::SQLite3
    OpenSSL::Crypto ZLIB::ZLIB FastFloat::fast_float Boost::headers)
  target_sources(${library} PRIVATE $<TARGET_OBJECTS:${name}>)
endfunction()

# The sources that Highway compiles once for each instruction set, or with KOLMO_NATIVE only for that of this machine.
set(vector_sources "")
file(GLOB_RECURSE candidates CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} kolmo/*.cpp)
foreach(source IN LISTS candidates)
  file(STRINGS ${source} found REGEX "hwy/foreach_target\\.h" LIMIT_COUNT 1)
  if(found)
    list(APPEND vector_sources ${source})
  endif()
endforeach()
# Sources that read and write files, reports and records are compiled with less optimisation, which saves compile time.
set(light ${sources})
list(FILTER light INCLUDE REGEX "^kolmo/((io|monitor|tune)/|flow/(report|result|infer/(checkpoint|network_record)|estimate/progress)|\
runtime/(memory/)?trace\\.cpp)")
list(REMOVE_ITEM sources ${light} ${vector_sources})
list(REMOVE_ITEM KOLMO_OP_SOURCES ${vector_sources})
if(KOLMO_UNITY)
  kolmo_unite(sources core)
  kolmo_unite(light light)
endif()

add_library(kolmo_lib STATIC ${cuda_sources} ${PROJECT_BINARY_DIR}/version.cpp)
add_library(kolmo::kolmo ALIAS kolmo_lib)
add_dependencies(kolmo_lib kolmo_version)
set_target_properties(kolmo_lib PROPERTIES OUTPUT_NAME kolmo EXPORT_NAME kolmo
  CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
kolmo_options(kolmo_lib)
target_compile_features(kolmo_lib PUBLIC cxx_std_20)
target_include_directories(kolmo_lib PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(kolmo_lib
  PUBLIC Threads::Threads nlohmann_json::nlohmann_json
  PRIVATE hwy::hwy hwy::hwy_contrib fmt::fmt SQLite::SQLite3 microhttpd OpenSSL::Crypto ZLIB::ZLIB ${CMAKE_DL_LIBS})
kolmo_part(kolmo_lib kolmo_core ${sources})
kolmo_part(kolmo_lib kolmo_light ${light})
target_compile_options(kolmo_light PRIVATE $<$<CONFIG:Release>:-O1>)
target_precompile_headers(kolmo_light PRIVATE <nlohmann/json.hpp>)
kolmo_part(kolmo_lib kolmo_ops ${KOLMO_OP_SOURCES})
target_compile_options(kolmo_ops PRIVATE $<$<CONFIG:Release>:-O3>)  # the loops over runtime/cpu/vectors.hpp need it
target_precompile_headers(kolmo_ops PRIVATE <kolmo/op/registry.hpp>)
kolmo_part(kolmo_lib kolmo_vectors ${vector_sources})
if(KOLMO_NATIVE)
  target_compile_options(kolmo_vectors PRIVATE -march=native)
  target_compile_definitions(kolmo_vectors PRIVATE HWY_COMPILE_ONLY_STATIC)
endif()
if(KOLMO_CUDA)
  target_link_libraries(kolmo_lib PRIVATE $<LINK_ONLY:CUDA::cudart_static>)
endif()
include(cmake/embed.cmake)
include(cmake/kernels.cmake)
file(GLOB assets CONFIGURE_DEPENDS kolmo/flow/report/*.html kolmo/flow/report/*.css kolmo/flow/report/*.js
  kolmo/predict/report/*.html kolmo/monitor/page/*)
kolmo_embed(kolmo_lib ${assets})

file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} kolmo/check/*.cpp)
list(REMOVE_ITEM sources ${vector_sources})
if(KOLMO_UNITY)
  kolmo_unite(sources check)
endif()
add_library(kolmo_check STATIC ${sources})
kolmo_options(kolmo_check)
set_target_properties(kolmo_check PROPERTIES EXPORT_NAME check)
target_link_libraries(kolmo_check PUBLIC kolmo_lib
  PRIVATE $<BUILD_INTERFACE:Boost::headers> fmt::fmt nlohmann_json::nlohmann_json)
target_compile_options(kolmo_check PRIVATE $<$<CONFIG:Release>:-O1>)
kolmo_part(kolmo_check kolmo_oracles ${KOLMO_OP_ORACLES})
target_compile_options(kolmo_oracles PRIVATE $<$<CONFIG:Release>:$<IF:$<BOOL:${KOLMO_NATIVE}>,-O0,-O1>>)
target_precompile_headers(kolmo_oracles PRIVATE <kolmo/check/oracle.hpp>)

if(KOLMO_SIMT)
  add_library(kolmo_simt OBJECT ${KOLMO_OP_SIMT_TABLE})  # OBJECT: the linker would take nothing from an archive
  simt_sources(kolmo_simt ${KOLMO_OP_SIMT})
  kolmo_options(kolmo_simt)
  set_target_properties(kolmo_simt PROPERTIES EXPORT_NAME simt CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(kolmo_simt PUBLIC kolmo_lib simt)
endif()
