# The target kolmo_headers compiles every header alone. `make lint` builds it. Headers named *-inl.hpp are bodies that are
# included once per vector target and are no headers in this sense.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} kolmo/*.hpp cli/*.hpp simt/*.hpp)
list(FILTER headers EXCLUDE REGEX "-inl\\.hpp$|^simt/tests/")
set(sources "")
foreach(header IN LISTS headers)
  set(source ${PROJECT_BINARY_DIR}/headers/${header}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "#include \"@header@\"\n" @ONLY)
  list(APPEND sources ${source})
endforeach()
add_library(kolmo_headers OBJECT EXCLUDE_FROM_ALL ${sources})
kolmo_options(kolmo_headers)
target_compile_options(kolmo_headers PRIVATE -O0)
target_link_libraries(kolmo_headers PRIVATE kolmo_lib CLI11::CLI11 fmt::fmt SQLite::SQLite3 hwy::hwy
  Boost::headers FastFloat::fast_float)
