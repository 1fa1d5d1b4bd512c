#!/usr/bin/env bash
# make demo: who drives whom in US macroeconomic data since 1959, and in a simulated network whose truth is known.
set -euo pipefail
cd "$(dirname "$0")/.."
out=out
mkdir -p $out

echo "Building Kolmo (the first time takes a few minutes)"
log=$(mktemp)
if ! { cmake --preset ci && cmake --build --preset ci --target kolmo -j "${JOBS:-$(nproc)}"; } >"$log" 2>&1; then
  tail -n 40 "$log"
  exit 1
fi
rm -f "$log"
kolmo=build/ci/kolmo

run() {
  printf '\n$ kolmo'
  printf ' %s' "${@/#/}"
  printf '\n'
  $kolmo "$@"
}

run devices
echo "demo data follow"
