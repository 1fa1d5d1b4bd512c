#!/usr/bin/env bash
# make bench: Kolmo beside scikit-learn and infomeasure, in one run (bench/run.py; arguments are passed on).
set -euo pipefail
cd "$(dirname "$0")/.."

tools/python_env.sh
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { cmake --preset ci -DKOLMO_PYTHON=ON "-DPython_EXECUTABLE=$PWD/.venv/python/bin/python" &&
  cmake --build --preset ci --target kolmo kolmo_python bench_plain_lanes -j "${JOBS:-$(nproc)}"; } >"$log" 2>&1; then
  tail -n 40 "$log"
  exit 1
fi

venv=.venv/bench
if [ ! -x $venv/bin/python ] || ! $venv/bin/python -c 'import infomeasure, sklearn' 2>/dev/null; then
  python3 -m venv $venv
  $venv/bin/pip install -q --disable-pip-version-check scikit-learn infomeasure
fi
PYTHONPATH=build/ci/python exec $venv/bin/python bench/run.py --kolmo build/ci/kolmo "$@"
