# cmake -D ROOT=... -D OUTPUT=... -P cuda_hashes.cmake
# Writes OUTPUT, a source that defines kolmo::check::cuda_hash. The hash of kolmo/ops/<group>/<op>/<op>.cu is
# the SHA-256 of the lines "<path> <SHA-256 of the file>\n", sorted by path, of that file and of every file it
# reaches through #include "kolmo/...".
cmake_minimum_required(VERSION 3.25)

function(closure file result)
  set(done "")
  set(open ${file})
  while(open)
    list(POP_FRONT open path)
    if(path IN_LIST done OR NOT EXISTS ${ROOT}/${path})
      continue()
    endif()
    list(APPEND done ${path})
    file(STRINGS ${ROOT}/${path} lines REGEX "^[ \t]*#[ \t]*include[ \t]+\"kolmo/")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE ".*\"(kolmo/[^\"]+)\".*" "\\1" included "${line}")
      list(APPEND open ${included})
    endforeach()
  endwhile()
  list(SORT done)
  set(${result} ${done} PARENT_SCOPE)
endfunction()

file(GLOB kernels RELATIVE ${ROOT} ${ROOT}/kolmo/ops/*/*/*.cu)
list(SORT kernels)
set(rows "")
foreach(kernel IN LISTS kernels)
  get_filename_component(op ${kernel} NAME_WE)
  closure(${kernel} files)
  set(text "")
  foreach(path IN LISTS files)
    if(NOT DEFINED hash_${path})
      file(SHA256 ${ROOT}/${path} hash_${path})
    endif()
    string(APPEND text "${path} ${hash_${path}}\n")
  endforeach()
  string(SHA256 hash "${text}")
  string(APPEND rows "      {\"${op}\", \"${hash}\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"kolmo/check/cuda_hash.hpp\"

std::string_view kolmo::check::cuda_hash(std::string_view op) {
  static constexpr struct {
    std::string_view op, hash;
  } table[] = {
${rows}      {\"\", \"\"}};
  for (const auto& row : table)
    if (row.op == op) return row.hash;
  return {};
}
")
