#!/bin/sh
# Builds the libFuzzer targets of tests/fuzz and runs each for FUZZ_SECONDS (60) from its corpus. Fails on a crash, a
# leak, undefined behaviour or an input that takes more than 10 s, and prints the file that reproduces it.
# BUILD names the build folder (build/fuzz), CLANG the compiler.
set -eu
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-60}
build=${BUILD:-build/fuzz}
clang=${CLANG:-$(command -v clang++-14 || command -v clang++-19 || command -v clang++ || true)}
[ -n "$clang" ] || { echo "fuzz: no clang++; install clang-14 and libclang-rt-14-dev" >&2; exit 1; }
launcher=$(command -v ccache || true)
export CCACHE_NOHASHDIR=1  # so that another copy of the tree shares the cache

mkdir -p "$build"
# The readers fill arrays in the runtime's memory, so that the runtime is compiled too, except sources that the readers do not
# reach and the version, which the build generates.
printf '#include <string_view>\nnamespace kolmo { std::string_view %s() { return "fuzz"; } std::string_view %s() { return "fuzz"; } }\n' \
  version commit >"$build/version.cpp"
unused='blas|cuda_libraries|event_cost|f16c|kernel|nvrtc|memory/(mapped|pinned)|row_stream'
sources=$(find kolmo/base kolmo/io kolmo/runtime/*.cpp kolmo/runtime/cpu kolmo/runtime/memory kolmo/monitor/memory \
  kolmo/runtime/cuda/no_cuda.cpp kolmo/flow/infer/checkpoint.cpp kolmo/flow/infer/network_record.cpp cli/table.cpp cli/top_view.cpp \
  kolmo/tune/clocks.cpp kolmo/tune/profile.cpp kolmo/tune/profile_json.cpp kolmo/tune/space.cpp \
  kolmo/tune/store.cpp kolmo/tune/store_bundle.cpp -name '*.cpp' | grep -vE "/($unused)\.cpp$")
objects=
for source in $sources "$build/version.cpp" tests/fuzz/*_fuzz.cpp; do
  object=$build/$(echo "$source" | tr / _ | sed 's/cpp$/o/')
  case $source in tests/*) ;; *) objects="$objects $object" ;; esac
  echo "$source -o $object"
done >"$build/sources"
# shellcheck disable=SC2086  # an empty launcher must give no argument
xargs -P "${JOBS:-$(nproc)}" -n 3 $launcher "$clang" -std=c++20 -O1 -g -I. -fsanitize=fuzzer-no-link,address,undefined \
  -fno-sanitize-recover=all -c <"$build/sources"

running=''
pids=''
# shellcheck disable=SC2086  # pids is a list
trap 'kill $pids 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM
for source in tests/fuzz/*_fuzz.cpp; do
  name=$(basename "$source" _fuzz.cpp)
  # shellcheck disable=SC2086  # objects is a list
  "$clang" -fsanitize=fuzzer,address,undefined "$build/tests_fuzz_${name}_fuzz.o" $objects -lz -lcrypto -lsqlite3 -lfmt -lhwy -o "$build/$name"
  rm -rf "$build/corpus_$name" && mkdir "$build/corpus_$name"
  "$build/$name" "$build/corpus_$name" "tests/fuzz/corpus/$name" -max_total_time="$seconds" -timeout=10 \
    -max_len=4096 -print_final_stats=1 -artifact_prefix="$build/$name-" >"$build/$name.log" 2>&1 &
  running="$running $name:$!" pids="$pids $!"
done

failed=0
for job in $running; do
  name=${job%:*}
  if wait "${job#*:}"; then
    echo "fuzz: $name: $(awk '/number_of_executed_units/ {print $2}' "$build/$name.log") inputs, no failure"
  else
    echo "fuzz: $name failed; the end of $build/$name.log:" >&2
    tail -n 40 "$build/$name.log" >&2
    failed=1
  fi
done
trap - EXIT
exit $failed
