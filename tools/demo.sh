#!/usr/bin/env bash
# make demo: who drives whom in US macroeconomic data since 1959, and in a simulated system whose links are known.
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

run() {
  printf '\n$ kolmo %s\n' "$*"
  build/demo/kolmo "$@"
}

run devices
run network examples/data/macrodata.csv --columns realgdp,realcons,realinv,realdpi,cpi,m1,tbilrate,unemp \
  --transform log-difference --max-lag 4 --surrogates 2000 --seed 1 \
  --out out/macro.json --report out/macro.html --graph out/macro.graphml
run network examples/data/coupled_logistic.csv --max-lag 3 --surrogates 1000 --seed 1 \
  --out out/simulated.json --report out/simulated.html

printf '\nThe links that drive the simulated system: '
python3 - examples/data/coupled_logistic.truth.json <<'PYTHON'
import json, sys
links = json.load(open(sys.argv[1]))["links"]
print(", ".join(f"x{link['source']} -> x{link['target']}" for link in links))
PYTHON
echo 'Reports: out/macro.html and out/simulated.html'
