#!/usr/bin/env bash
# tools/test.sh release    make test: runs the tests of the release build, with CUDA if a GPU is here, except those with the label
#                          `long`; then lists the operators whose CUDA sources changed since a GPU validated them. CONFORMANCE=0
#                          leaves out the conformance of every case of every operator, which the sanitized build checks too.
# tools/test.sh check      make check: runs the long tests, with CUDA when nvcc is found; all others that can run under
#                          AddressSanitizer and UndefinedBehaviorSanitizer, with every portable kernel variant on the emulated GPU;
#                          ThreadSanitizer's race check of the operators whose CUDA sources changed since their last pass; where
#                          nvcc is found, these compiled for the GPUs that are not on hand; and a minute of fuzzing for each reader.
# The last line says how many tests passed, failed and were skipped.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
jobs=${JOBS:-$(nproc)}
passed=0 failed=0 skipped=0 broken=0

heading() { printf '\n== %s\n' "$*"; started=$SECONDS; }
seconds() {  # seconds <what was done since the last call>: prints how long it took
  printf '%s: %d s\n' "$1" $((SECONDS - started))
  started=$SECONDS
}

build() {  # build <preset> [target...]: shows progress, and the output only of a failed build; python=OFF leaves out the extension
  local preset=$1 log extension=(-DKOLMO_PYTHON=OFF)
  shift
  if [ "${python:-}" != OFF ] && [ "$preset" != tsan ] && [ -x .venv/python/bin/python ]; then  # tools/python_env.sh makes it
    extension=(-DKOLMO_PYTHON=ON "-DPython_EXECUTABLE=$PWD/.venv/python/bin/python")
  fi
  log=$(mktemp)
  if ! { cmake --preset "$preset" "${extension[@]}" && cmake --build --preset "$preset" -j "$jobs" "${@/#/--target=}"; } 2>&1 | tee "$log" |
    python3 tools/progress.py "$preset build" --quiet; then
    grep -vE '^\[[0-9]+/[0-9]+\] ' "$log" | tail -n 60
    echo "the $preset build failed"
    broken=1
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

tally() {  # tally <command...>: adds up "passed failed skipped", the last line of its output; no such line counts as a failure
  local sums
  sums=$("$@" | tail -n 1)
  if [[ $sums =~ ^([0-9]+)\ ([0-9]+)\ ([0-9]+)$ ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2])) skipped=$((skipped + BASH_REMATCH[3]))
  else
    echo "$*: ended without its sums, which counts as a failure"
    failed=$((failed + 1))
  fi
}

run_ctest() {  # run_ctest <preset> [ctest options]
  local preset=$1 report status before=$failed
  shift
  report=$PWD/build/$preset/ctest.xml
  rm -f "$report"
  ctest --test-dir "build/$preset" -j "$jobs" --no-tests=error --output-on-failure --output-junit "$report" "$@" |
    python3 tools/progress.py "$preset tests"
  status=${PIPESTATUS[0]}
  tally python3 tools/junit_sum.py "$report"
  if [ "$status" != 0 ] && [ "$failed" = "$before" ]; then
    echo "ctest ended with status $status and names no failed test, which counts as a failure"
    failed=$((failed + 1))
  fi
}

release() {
  heading "release build and tests"
  if ! tools/python_env.sh --ready; then  # its environment is made while everything but the extension is built
    tools/python_env.sh & local environment=$!
    python=OFF build ci
    wait "$environment" || failed=$((failed + 1))
  fi
  if [ $broken = 0 ] && build ci; then
    seconds "build"
    local without=()
    if [ "${CONFORMANCE:-}" = 0 ]; then without=(-E '^Conformance_'); fi
    run_ctest ci -LE long "${without[@]}"
    seconds "tests"
    tally tools/test_python.sh ci
  fi
  seconds "Python"

  heading "hardware record"
  build/ci/kolmo validate --unverified results
  seconds "record"
}

check() {
  heading "long tests of the release build"
  local preset=ci
  if tools/find_nvcc.sh >/dev/null && ! compgen -G '/dev/nvidia[0-9]*' >/dev/null; then preset=cuda; fi  # with a GPU, `ci` has CUDA
  if build "$preset"; then
    seconds "build with the preset $preset"
    run_ctest "$preset" -L long
  fi
  seconds "long tests"

  heading "AddressSanitizer and UndefinedBehaviorSanitizer"
  if build asan; then
    seconds "build"
    run_ctest asan -LE long
    seconds "tests"
    tally tools/test_python.sh asan
  fi
  seconds "Python"

  heading "ThreadSanitizer: kernels on the emulated GPU, and the runtime"
  local sanitized=(simt_kernels_test simt_bad_test runtime_threads_test)
  if ! python3 tools/race_check.py --pending; then sanitized+=(kolmo); fi
  if build tsan "${sanitized[@]}"; then
    seconds "build"
    tally python3 tools/race_check.py --jobs "$jobs" --seconds "${RACE_SECONDS:-240}"
    seconds "races"
    run_ctest tsan -R '^(simt\.(kernels|bad)|runtime\.threads)$'
  fi
  seconds "tests"

  heading "kernels compiled for the GPUs that are not on hand"
  tally python3 tools/architectures.py --jobs "$jobs" --seconds "${ARCHITECTURE_SECONDS:-120}"
  seconds "compiling"

  heading "fuzzing of the readers"
  if tools/fuzz.sh; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  seconds "fuzzing"
}

case "${1:-release}" in
  release | check) "${1:-release}" ;;
  *) echo "usage: tools/test.sh release|check" >&2; exit 2 ;;
esac
[ $broken = 0 ] || failed=$((failed + 1))
echo
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
