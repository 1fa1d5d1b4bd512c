#!/usr/bin/env bash
# tools/study.sh [TEXT]    make study: false positives and power of every kind of surrogates, and what networks find of known systems,
#                          beside tigramite in an environment of its own; writes its results and the tables of docs. With TEXT only the
#                          cells named by it, as study.py --only.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)} python=.venv/study/bin/python
cmake --preset release
cmake --build --preset release -j "$jobs" --target kolmo
python3 bench/surrogates/study.py build/release/kolmo bench/results/surrogates.json --jobs "$jobs" --only "${1:-}"
python3 bench/surrogates/page.py bench/results/surrogates.json docs
if [ -x .venv/python/bin/python ] && [ -d build/ci/python ]; then  # make test makes both
  PYTHONPATH=build/ci/python .venv/python/bin/python bench/neighbors/study.py bench/results/neighbors.json
  python3 bench/neighbors/page.py bench/results/neighbors.json docs/choosing.md
  PYTHONPATH=build/ci/python .venv/python/bin/python bench/neighbors/scaling.py bench/results/neighbors_scaling.json
  python3 bench/neighbors/scaling_page.py bench/results/neighbors_scaling.json docs/choosing.md
fi
PYTHON_TESTS=without-torch tools/python_env.sh .venv/study bench/networks/requirements.txt
data=${KOLMO_TEST_DATA:-../shared/data}/multivariate  # with what IDTxl found; without it these cells stay as they are
given=()
if [ -d "$data" ]; then given=(--data "$data"); fi
"$python" bench/networks/study.py build/release/kolmo bench/results/networks.json --jobs "$jobs" --only "${1:-}" "${given[@]}"
python3 bench/networks/page.py bench/results/networks.json docs/multivariate.md
