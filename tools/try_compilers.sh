#!/usr/bin/env bash
# tools/try_compilers.sh [COMPILER...]: builds the library and the command for the CPU of this machine with each of these compilers,
# and validates every operator there. Without names: with every g++ from 11 to 14 and clang++ from 14 to 19 that is installed, but
# for the one that build/ci was built with. Fails if a build or an operator fails, and without names also if no g++ 12 or no clang is
# installed. The builds stay in build/compilers.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
jobs=${JOBS:-$(nproc)}
failed=0

version_of() { "$1" -dumpfullversion -dumpversion 2>/dev/null || true; }  # clang knows -dumpversion alone, and ignores the former

compilers=("$@")
if [ $# = 0 ]; then
  declare -A seen
  of_ci=
  if [ -x build/ci/kolmo ]; then of_ci=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' build/ci/CMakeCache.txt); fi
  for name in ${of_ci:+"$of_ci"} g++ clang++ g++-{11..14} clang++-{14..19}; do
    command -v "$name" >/dev/null || continue
    major=$(version_of "$name") major=${major%%.*} kind=g++
    if [[ $name == *clang* ]]; then kind=clang; fi
    if [ -n "${seen[$kind-$major]:-}" ]; then continue; fi
    seen[$kind-$major]=$name seen[$kind]=$name
    if [ "$name" = "$of_ci" ]; then
      echo "try_compilers: $kind $major built build/ci"
    else
      compilers+=("$name")
    fi
  done
  for needed in g++-12 clang; do
    if [ -z "${seen[$needed]:-}" ]; then
      echo "try_compilers: no $needed is installed" >&2
      failed=1
    fi
  done
fi

processor_seconds() { times | awk -F '[ms ]+' 'NR == 2 {printf "%.0f", 60 * ($1 + $3) + $2 + $4}'; }  # of children that have ended

for name in "${compilers[@]}"; do
  folder=build/compilers/$(basename "$name") log=build/compilers/$(basename "$name").log before=$(processor_seconds)
  mkdir -p build/compilers
  if cmake -S . -B "$folder" -G Ninja -DCMAKE_CXX_COMPILER="$name" -DKOLMO_CUDA=OFF -DKOLMO_TESTS=OFF -DKOLMO_UNITY=ON -DKOLMO_NATIVE=ON >"$log" 2>&1 &&
    cmake --build "$folder" -j "$jobs" --target kolmo >>"$log" 2>&1 &&
    "$folder/kolmo" validate --device cpu --aspect result >>"$log" 2>&1; then
    echo "try_compilers: $name $(version_of "$name"): $(tail -n 1 "$log"), $(grep -c ' warning: ' "$log") warnings, $(($(processor_seconds) - before)) s of processors"
  else
    grep -E 'error|FAILED' "$log" | head -n 20 >&2
    echo "try_compilers: $name $(version_of "$name") failed; all it said is in $log" >&2
    failed=1
  fi
done
exit $failed
