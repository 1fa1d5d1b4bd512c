# The extension module kolmo._kolmo. When scikit-build-core builds it, it goes into the wheel. In a build folder it lies in
# python/kolmo beside links to the Python sources, so that PYTHONPATH=<build>/python imports the package.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module OPTIONAL_COMPONENTS Development.SABIModule)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_STRIP_TRAILING_WHITESPACE
  OUTPUT_VARIABLE nanobind_ROOT COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)

file(GLOB sources CONFIGURE_DEPENDS python/src/*.cpp)
set(keep_symbols "")
if(KOLMO_SIMT)  # the emulated GPU finds the shared variables of kernels in the symbol table
  set(keep_symbols NOSTRIP)
endif()
nanobind_add_module(kolmo_python NB_STATIC STABLE_ABI NOMINSIZE ${keep_symbols} ${sources})
target_link_libraries(kolmo_python PRIVATE kolmo_command nlohmann_json::nlohmann_json fmt::fmt)
kolmo_options(kolmo_python)
if(NOT KOLMO_SANITIZE)  # nanobind's own assertions cost half a microsecond a call
  foreach(target kolmo_python nanobind-static nanobind-static-abi3)
    if(TARGET ${target})
      target_compile_definitions(${target} PRIVATE NDEBUG)
    endif()
  endforeach()
endif()
set_target_properties(kolmo_python PROPERTIES OUTPUT_NAME _kolmo)
if(KOLMO_SIMT)
  target_link_libraries(kolmo_python PRIVATE kolmo_simt)
endif()
set(package ${PROJECT_BINARY_DIR}/python/kolmo)
set_target_properties(kolmo_python PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${package})
file(GLOB modules CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python/kolmo python/kolmo/*)
list(REMOVE_ITEM modules __pycache__)
file(MAKE_DIRECTORY ${package})
foreach(module IN LISTS modules)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/kolmo/${module} ${package}/${module} SYMBOLIC)
endforeach()

# Writes ops.pyi and _analyses.pyi, the types of the operators and analyses of this build, for editors and type checkers.
set(sanitized "")
if(KOLMO_SANITIZE MATCHES "address")  # an interpreter without AddressSanitizer must load its library first
  foreach(library libasan.so libstdc++.so)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${library} OUTPUT_STRIP_TRAILING_WHITESPACE
      OUTPUT_VARIABLE found COMMAND_ERROR_IS_FATAL ANY)
    list(APPEND preload ${found})
  endforeach()
  list(JOIN preload ":" preload)
  set(sanitized ${CMAKE_COMMAND} -E env LD_PRELOAD=${preload} ASAN_OPTIONS=detect_leaks=0)
endif()
add_custom_command(TARGET kolmo_python POST_BUILD
  COMMAND ${sanitized} ${Python_EXECUTABLE} ${package}/_stubs.py ${package} VERBATIM)
if(SKBUILD)
  # A wheel carries what the extension is linked to. NumPy loads its OpenBLAS at import, too.
  target_link_options(kolmo_python PRIVATE -Wl,--no-as-needed ${OPENBLAS} -Wl,--as-needed)
  install(TARGETS kolmo_python LIBRARY DESTINATION kolmo)
  install(FILES ${package}/ops.pyi ${package}/_analyses.pyi DESTINATION kolmo)
  file(GLOB nanobind_license ${nanobind_ROOT}/../../nanobind-*.dist-info/licenses/LICENSE)
  install(CODE "execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/licenses.sh ${SKBUILD_METADATA_DIR}/licenses
    \"${nanobind_license}\" $<TARGET_FILE:kolmo_python> COMMAND_ERROR_IS_FATAL ANY)")
endif()

# The same package with the operators of examples/own_operators: a new operator needs no edit of Python, which a test shows.
if(KOLMO_TESTS AND NOT KOLMO_SANITIZE)
  include(cmake/kolmoOperators.cmake)
  foreach(part check simt)
    if(TARGET kolmo_${part} AND NOT TARGET kolmo::${part})
      add_library(kolmo::${part} ALIAS kolmo_${part})
    endif()
  endforeach()
  nanobind_add_module(kolmo_python_extended NB_STATIC STABLE_ABI NOMINSIZE ${keep_symbols} $<TARGET_OBJECTS:kolmo_python>)
  target_link_libraries(kolmo_python_extended PRIVATE kolmo_command fmt::fmt)
  kolmo_options(kolmo_python_extended)
  kolmo_add_operators(kolmo_python_extended examples/own_operators/ops)
  set(extended ${PROJECT_BINARY_DIR}/python_extended/kolmo)
  set_target_properties(kolmo_python_extended PROPERTIES OUTPUT_NAME _kolmo LIBRARY_OUTPUT_DIRECTORY ${extended})
  file(MAKE_DIRECTORY ${extended})
  foreach(module IN LISTS modules)
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/kolmo/${module} ${extended}/${module} SYMBOLIC)
  endforeach()
endif()
