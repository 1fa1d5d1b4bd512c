# cmake -D ROOT=... -D OUTPUT=... -P source_hashes.cmake
# Writes OUTPUT, a source that defines kolmo::detail::built_in_source_hash. A hash is the SHA-256 of the lines
# "<path> <SHA-256 of the file>\n", sorted by path, of one file of kolmo/ops/<group>/<op> and of every file it
# reaches through #include "kolmo/...": for GPUs <op>.cu; for the CPU <op>.cpp, where a header also reaches the
# .cpp beside it.
cmake_minimum_required(VERSION 3.25)

# Sets <result> to the files that `path` includes.
function(includes path result)
  if(NOT DEFINED includes_${path})
    set(names "")
    file(STRINGS ${ROOT}/${path} lines REGEX "^[ \t]*#[ \t]*include[ \t]+\"kolmo/")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE ".*\"(kolmo/[^\"]+)\".*" "\\1" name "${line}")
      list(APPEND names ${name})
    endforeach()
    set(includes_${path} "${names}" CACHE INTERNAL "")
  endif()
  set(${result} ${includes_${path}} PARENT_SCOPE)
endfunction()

function(hash_of file with_sources result)
  set(done "")
  set(open ${file})
  while(open)
    list(POP_FRONT open path)
    if(path IN_LIST done OR NOT EXISTS ${ROOT}/${path})
      continue()
    endif()
    list(APPEND done ${path})
    includes(${path} included)
    list(APPEND open ${included})
    if(with_sources AND path MATCHES "\\.hpp$")
      string(REGEX REPLACE "\\.hpp$" ".cpp" source ${path})
      list(APPEND open ${source})
    endif()
  endwhile()
  list(SORT done)
  set(text "")
  foreach(path IN LISTS done)
    if(NOT DEFINED hash_${path})
      file(SHA256 ${ROOT}/${path} hash)
      set(hash_${path} ${hash} CACHE INTERNAL "")
    endif()
    string(APPEND text "${path} ${hash_${path}}\n")
  endforeach()
  string(SHA256 hash "${text}")
  set(${result} ${hash} PARENT_SCOPE)
endfunction()

file(GLOB headers RELATIVE ${ROOT} ${ROOT}/kolmo/ops/*/*/*.hpp)
list(SORT headers)
set(rows "")
foreach(header IN LISTS headers)
  string(REGEX REPLACE "\\.hpp$" "" stem ${header})
  get_filename_component(op ${stem} NAME)
  get_filename_component(folder ${stem} DIRECTORY)
  if(NOT folder MATCHES "/${op}$")
    continue()
  endif()
  hash_of(${stem}.cpp TRUE cpu)
  set(cuda "")
  if(EXISTS ${ROOT}/${stem}.cu)
    hash_of(${stem}.cu FALSE cuda)
  endif()
  string(APPEND rows "      {\"${op}\", \"${cpu}\", \"${cuda}\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"kolmo/op/source_hash.hpp\"

std::string_view kolmo::detail::built_in_source_hash(std::string_view op, DeviceKind kind) {
  static constexpr struct {
    std::string_view op, cpu, cuda;
  } table[] = {
${rows}      {\"\", \"\", \"\"}};
  for (const auto& row : table)
    if (row.op == op) return kind == DeviceKind::cpu ? row.cpu : row.cuda;
  return {};
}
")
