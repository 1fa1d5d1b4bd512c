# The program kolmo, and the library kolmo_command (kolmo::command), which is kolmo without main(), for programs that add operators.
file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} cli/*.cpp)
list(REMOVE_ITEM sources cli/main.cpp)
if(KOLMO_UNITY)
  kolmo_unite(sources command)
endif()
add_library(kolmo_command STATIC ${sources})
set_target_properties(kolmo_command PROPERTIES EXPORT_NAME command)
target_link_libraries(kolmo_command PUBLIC kolmo_check
  PRIVATE $<BUILD_INTERFACE:CLI11::CLI11> nlohmann_json::nlohmann_json fmt::fmt)
kolmo_options(kolmo_command)
# The command computes nothing itself but calls the library, so that little optimisation is enough.
target_compile_options(kolmo_command PRIVATE $<$<CONFIG:Release>:$<IF:$<BOOL:${KOLMO_NATIVE}>,-O0,-O1>>)
target_precompile_headers(kolmo_command PRIVATE <CLI/CLI.hpp> <nlohmann/json.hpp>)  # halves its compile time

add_executable(kolmo cli/main.cpp)
target_link_libraries(kolmo PRIVATE kolmo_command)
kolmo_options(kolmo)
if(KOLMO_SIMT)
  target_link_libraries(kolmo PRIVATE kolmo_simt)
endif()
