# kolmo_lib (libkolmo.a, kolmo::kolmo) and kolmo_check (kolmo::check, oracles and validation over the catalogue).

# Floating-point results must not depend on what the compiler fuses.
function(kolmo_options target)
  set(cxx -ffp-contract=off -Wall -Wextra -Wno-missing-field-initializers -Wnon-virtual-dtor)
  if(KOLMO_WERROR)
    list(APPEND cxx -Werror -Wno-error=array-bounds -Wno-error=maybe-uninitialized)  # g++ 12 sees ghosts
  endif()
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:${cxx}>"
    "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-Xcompiler=-ffp-contract=off,-Wall,-Wno-parentheses>")
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
endfunction()

if(KOLMO_SIMT)
  set(SIMT_TESTS ${KOLMO_TESTS} CACHE BOOL "")
  add_subdirectory(simt)
endif()
include(cmake/ops.cmake)

file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} kolmo/*.cpp)
list(FILTER sources EXCLUDE REGEX "^kolmo/(ops|check|runtime/cuda)/")
if(KOLMO_CUDA)
  file(GLOB cuda_sources CONFIGURE_DEPENDS kolmo/runtime/cuda/*.cpp)
  list(FILTER cuda_sources EXCLUDE REGEX "/no_cuda\\.cpp$")
  set_source_files_properties(${cuda_sources} PROPERTIES INCLUDE_DIRECTORIES "${CUDAToolkit_INCLUDE_DIRS}")
else()
  set(cuda_sources kolmo/runtime/cuda/no_cuda.cpp)
endif()
if(KOLMO_SIMT)
  file(GLOB_RECURSE runtime_sources CONFIGURE_DEPENDS kolmo/runtime/*.cpp)
  set_source_files_properties(${runtime_sources} PROPERTIES COMPILE_DEFINITIONS KOLMO_SIMT)
endif()
add_custom_command(OUTPUT version.cpp.always
  BYPRODUCTS ${PROJECT_BINARY_DIR}/version.cpp
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DVERSION=${PROJECT_VERSION}
    -DOUTPUT=${PROJECT_BINARY_DIR}/version.cpp -P ${PROJECT_SOURCE_DIR}/cmake/version.cmake
  COMMENT "" VERBATIM)
set_source_files_properties(version.cpp.always PROPERTIES SYMBOLIC ON)
add_custom_target(kolmo_version DEPENDS version.cpp.always)

add_library(kolmo_lib STATIC ${sources} ${cuda_sources} ${KOLMO_OP_SOURCES} ${PROJECT_BINARY_DIR}/version.cpp)
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
  PRIVATE hwy::hwy hwy::hwy_contrib fmt::fmt SQLite::SQLite3 openblas cpp-httplib OpenSSL::Crypto
    ${CMAKE_DL_LIBS} $<BUILD_INTERFACE:FastFloat::fast_float>)
set_source_files_properties(kolmo/monitor/server.cpp PROPERTIES COMPILE_DEFINITIONS  # as Debian built the library
  "CPPHTTPLIB_OPENSSL_SUPPORT;CPPHTTPLIB_ZLIB_SUPPORT;CPPHTTPLIB_BROTLI_SUPPORT")
if(KOLMO_CUDA)
  target_link_libraries(kolmo_lib PRIVATE $<LINK_ONLY:CUDA::cudart_static>)
endif()
if(KOLMO_SIMT)
  simt_sources(kolmo_lib ${KOLMO_OP_SIMT})
  target_link_libraries(kolmo_lib PRIVATE simt)
endif()
include(cmake/embed.cmake)
include(cmake/kernels.cmake)
file(GLOB assets CONFIGURE_DEPENDS kolmo/flow/report/*.html kolmo/flow/report/*.css kolmo/flow/report/*.js
  kolmo/monitor/page/*)
kolmo_embed(kolmo_lib ${assets})

file(GLOB sources CONFIGURE_DEPENDS kolmo/check/*.cpp)
add_library(kolmo_check STATIC ${sources} ${KOLMO_OP_ORACLES})
kolmo_options(kolmo_check)
set_target_properties(kolmo_check PROPERTIES EXPORT_NAME check)
target_link_libraries(kolmo_check PUBLIC kolmo_lib
  PRIVATE $<BUILD_INTERFACE:Boost::headers> fmt::fmt nlohmann_json::nlohmann_json)
