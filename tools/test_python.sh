#!/usr/bin/env bash
# tools/test_python.sh <preset> [pytest options]: runs python/tests with the extension of build/<preset>; under sanitizers without
# PyTorch, Dask and tests marked `slow`, and with few examples. The last line is "passed failed skipped"; all else goes to stderr.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
preset=$1 report=$PWD/build/$1/pytest.xml python=$PWD/.venv/python/bin/python
shift
if [ ! -x "$python" ]; then
  if [ "${PYTHON_TESTS:-}" = 0 ]; then
    echo "skipped: the Python package, as PYTHON_TESTS=0 says" >&2
    echo "0 0 1"
  else
    echo "test_python: there is no .venv/python, which tools/python_env.sh makes" >&2
    echo "0 1 0"
  fi
  exit
fi
sanitized=()
if [ "$preset" = asan ]; then  # an interpreter without AddressSanitizer must load its library first
  sanitized=(ASAN_OPTIONS=detect_leaks=0 "LD_PRELOAD=$(g++ -print-file-name=libasan.so):$(g++ -print-file-name=libstdc++.so)")
  set -- -m 'not slow' -k 'not torch and not distributed' --hypothesis-profile=few "$@"
fi
rm -f "$report"
env "${sanitized[@]}" PYTHONPATH="$PWD/build/$preset/python" KOLMO_COMMAND="$PWD/build/$preset/kolmo" \
  PYTHONDEVMODE=1 "$python" -m pytest -q -n "${JOBS:-$(nproc)}" --dist loadfile --junitxml="$report" "$@" >&2
status=$?
sums=$(python3 tools/junit_sum.py "$report")
if [ $status != 0 ] && [[ $sums == *" 0 "* ]]; then
  echo "pytest ended with status $status and names no failed test, which counts as a failure" >&2
  sums="0 1 0"
fi
echo "$sums"
