# Writes OUTPUT (version.cpp) with VERSION and the commit of SOURCE, at build time and only when they changed, so
# that nothing else is recompiled after a commit.
cmake_minimum_required(VERSION 3.22)
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
execute_process(COMMAND git -C ${SOURCE} rev-parse --show-toplevel
  OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT status EQUAL 0 OR NOT top STREQUAL SOURCE)
  set(commit unknown)
  if(EXISTS ${SOURCE}/COMMIT)  # tools/wheel.sh writes this file into a source distribution
    file(STRINGS ${SOURCE}/COMMIT commit LIMIT_COUNT 1)
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
"#include \"kolmo/version.hpp\"

std::string_view kolmo::version() { return \"@VERSION@\"; }
std::string_view kolmo::commit() { return \"@commit@\"; }
" @ONLY)
