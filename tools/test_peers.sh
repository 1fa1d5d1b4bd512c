#!/usr/bin/env bash
# tools/test_peers.sh [OPTIONS]    make test-peers: operators beside PyTorch, SciPy, scikit-learn, scikit-image, statsmodels, FilterPy, GUDHI, Ripser,
#                                  Qiskit, Brian2 and randomgen, 50 random problems each, the values of docs/moving_over.md, and the callbacks
#                                  for Lightning, transformers and Optuna, in an environment of its own. Options: python -m peers --help.
# Needs the Python package of the release build (make test builds it).
set -euo pipefail
cd "$(dirname "$0")/.."
venv=.venv/peers
tools/python_env.sh "$venv" tests/peers/requirements.txt
build=${KOLMO_BUILD:-build/ci}
if [ ! -x "$venv/bin/python" ] || [ ! -d "$build/python" ]; then
  echo "test_peers: there is no $venv, or no Python package in $build, which make test builds" >&2
  exit 1
fi
export PYTHONPATH=$PWD/$build/python:$PWD/tests
"$venv/bin/python" -W ignore -m peers "$@"
"$venv/bin/python" bench/gpu_pytorch.py --check  # checks its calls against the PyTorch that is here
"$venv/bin/python" -m pytest -q -p no:cacheprovider python/tests/test_moving_over.py python/tests/test_torch_libraries.py
