#!/usr/bin/env bash
# make test: every test of the release build (with CUDA when nvcc is found), then all of it again that can run
# under ASan and UBSan, with every portable kernel variant on the emulated GPU, then ThreadSanitizer's race check of
# the operators whose CUDA sources changed since their last pass. The last line sums up.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
jobs=${JOBS:-$(nproc)}
passed=0 failed=0 skipped=0 broken=0

heading() { printf '\n== %s\n' "$*"; }
seconds() { printf '(%d s)\n' $((SECONDS - started)); }

build() {  # build <preset> [target...]: quiet unless it fails
  local preset=$1 log
  shift
  log=$(mktemp)
  if ! { cmake --preset "$preset" && cmake --build --preset "$preset" -j "$jobs" "${@/#/--target=}"; } >"$log" 2>&1; then
    grep -vE '^\[[0-9]+/[0-9]+\] ' "$log" | tail -n 60
    echo "the $preset build failed"
    broken=1
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

count() {  # count <junit file>: adds its results to the sums
  local p f s
  read -r p f s < <(python3 tools/junit_sum.py "$1")
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

run_ctest() {  # run_ctest <preset> [ctest options]
  local preset=$1 report
  shift
  report=$PWD/build/$preset/ctest.xml
  rm -f "$report"
  ctest --test-dir "build/$preset" -j "$jobs" --output-on-failure --output-junit "$report" "$@" |
    grep -vE '^ *Start +[0-9]+:|^ *[0-9]+/[0-9]+ Test .*( Passed |\*\*\*Skipped)|\(Skipped\)$|did not run:$|^Test project|^Internal|^$'
  count "$report"
}

started=$SECONDS
heading "release build and tests"
if build ci; then seconds && run_ctest ci; fi
seconds

started=$SECONDS
heading "AddressSanitizer and UndefinedBehaviorSanitizer"
if build asan; then seconds && run_ctest asan; fi
seconds

started=$SECONDS
heading "ThreadSanitizer: kernels on the emulated GPU, and the runtime"
read -r p f s < <(python3 tools/race_check.py --jobs "$jobs")
passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
if build tsan simt_kernels_test simt_bad_test runtime_threads_test; then
  run_ctest tsan -R '^(simt\.(kernels|bad)|runtime\.threads)$'
fi
seconds

heading "hardware record"
build/ci/kolmo validate --unverified results/h200

[ $broken = 0 ] || failed=$((failed + 1))
echo
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
