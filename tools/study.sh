#!/usr/bin/env bash
# tools/study.sh [TEXT]    make study: false positives and power of every kind of surrogates, and what networks find of known systems;
#                          writes its result and the tables of docs. With TEXT only the cells named by it, as study.py --only.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset release
cmake --build --preset release -j "${JOBS:-$(nproc)}" --target kolmo
python3 bench/surrogates/study.py build/release/kolmo bench/results/surrogates.json --jobs "${JOBS:-$(nproc)}" --only "${1:-}"
python3 bench/surrogates/page.py bench/results/surrogates.json docs
