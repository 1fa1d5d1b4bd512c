#!/bin/sh
# Builds the libFuzzer targets of tests/fuzz and runs each for FUZZ_SECONDS (60) from its corpus.
# Fails on a crash, a leak, undefined behaviour or an input that takes over 10 s, and says which file reproduces it.
# BUILD names the build folder (build/fuzz), CLANG the compiler.
set -eu
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-60}
build=${BUILD:-build/fuzz}
clang=${CLANG:-$(command -v clang++-14 || command -v clang++ || true)}
[ -n "$clang" ] || { echo "fuzz: no clang++; install clang-14 and libclang-rt-14-dev" >&2; exit 1; }
launcher=$(command -v ccache || true)

mkdir -p "$build"
objects=
for source in kolmo/base/tensor.cpp kolmo/io/*.cpp tests/fuzz/*_fuzz.cpp; do
  object=$build/$(echo "$source" | tr / _ | sed 's/cpp$/o/')
  $launcher "$clang" -std=c++20 -O1 -g -I. -fsanitize=fuzzer-no-link,address,undefined \
    -fno-sanitize-recover=all -c "$source" -o "$object"
  case $source in tests/*) ;; *) objects="$objects $object" ;; esac
done

running=
for source in tests/fuzz/*_fuzz.cpp; do
  name=$(basename "$source" _fuzz.cpp)
  # shellcheck disable=SC2086  # a list of files
  "$clang" -fsanitize=fuzzer,address,undefined "$build/tests_fuzz_${name}_fuzz.o" $objects -o "$build/$name"
  rm -rf "$build/corpus_$name" && mkdir "$build/corpus_$name"
  "$build/$name" "$build/corpus_$name" "tests/fuzz/corpus/$name" -max_total_time="$seconds" -timeout=10 \
    -max_len=4096 -print_final_stats=1 -artifact_prefix="$build/$name-" >"$build/$name.log" 2>&1 &
  running="$running $name:$!"
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
exit $failed
