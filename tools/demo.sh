#!/usr/bin/env bash
# make demo: who drives whom in a gas furnace, where it is known, and in a simulated system whose links are known.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p out

echo "Building Kolmo: the first time this takes a few minutes."
if { [ -e /dev/dxg ] || compgen -G '/dev/nvidia[0-9]*' >/dev/null; } && ! tools/find_nvcc.sh >/dev/null; then
  echo "A GPU is here and no nvcc was found, so the CPU computes; CUDA=1 make demo fetches a CUDA toolkit first."
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { cmake --preset demo && cmake --build --preset demo --target kolmo -j "${JOBS:-$(nproc)}"; } >"$log" 2>&1; then
  tail -n 40 "$log"
  exit 1
fi
tools/show_demo.sh build/demo/kolmo
