# kolmo_embed(<target> <file>...) compiles text files into <target>, so that nothing is looked up at run time.
#
#   include(cmake/embed.cmake)
#   kolmo_embed(kolmo kolmo/flow/report/report.html kolmo/flow/report/report.css kolmo/flow/report/report.js)
#
# Each file becomes `const std::string_view kolmo::assets::<name>` with every character of the file name outside
# [A-Za-z0-9_] replaced by `_` (report.html -> report_html); declare it as `extern` where it is used. Paths are
# relative to the calling CMakeLists.txt. Editing a file rebuilds its generated source. Files are UTF-8 text with no
# line over 8000 bytes.
#
# This file, run as `cmake -D INPUT=... -D OUTPUT=... -D NAME=... -P embed.cmake`, writes one source.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  cmake_minimum_required(VERSION 3.22)
  file(READ "${INPUT}" text)
  string(FIND "${text}" ")KOLMO\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${INPUT}: contains the raw string terminator )KOLMO\"")
  endif()
  set(source "#include <string_view>\n\nnamespace kolmo::assets {\nextern const std::string_view ${NAME};\n")
  string(APPEND source "using namespace std::string_view_literals;\nconst std::string_view ${NAME} =\n")
  string(LENGTH "${text}" left)
  while(left GREATER 0)
    string(SUBSTRING "${text}" 0 8000 chunk)
    if(left GREATER 8000)
      string(FIND "${chunk}" "\n" cut REVERSE)
      if(cut EQUAL -1)
        message(FATAL_ERROR "${INPUT}: a line is longer than 8000 bytes")
      endif()
      math(EXPR cut "${cut} + 1")
      string(SUBSTRING "${chunk}" 0 ${cut} chunk)
    endif()
    string(LENGTH "${chunk}" taken)
    string(SUBSTRING "${text}" ${taken} -1 text)
    string(LENGTH "${text}" left)
    string(APPEND source "    R\"KOLMO(${chunk})KOLMO\"\n")
  endwhile()
  file(WRITE "${OUTPUT}" "${source}    \"\"sv;\n}  // namespace kolmo::assets\n")
  return()
endif()

set(KOLMO_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_FILE}" CACHE INTERNAL "")

function(kolmo_embed target)
  foreach(file IN LISTS ARGN)
    get_filename_component(input "${file}" ABSOLUTE)
    get_filename_component(name "${file}" NAME)
    string(REGEX REPLACE "[^A-Za-z0-9_]" "_" name "${name}")
    set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded/${name}.cpp")
    add_custom_command(
      OUTPUT "${output}"
      COMMAND "${CMAKE_COMMAND}" -D "INPUT=${input}" -D "OUTPUT=${output}" -D "NAME=${name}" -P "${KOLMO_EMBED_SCRIPT}"
      DEPENDS "${input}" "${KOLMO_EMBED_SCRIPT}"
      COMMENT "Embedding ${file}"
      VERBATIM)
    target_sources(${target} PRIVATE "${output}")
  endforeach()
endfunction()
