#!/usr/bin/env bash
# make bench-runtime: the tuner, the pools, the pipeline and the monitor on one device, each with all samples in its own
# file. DEVICE=cuda selects the GPU; OUT is the folder of the files; BUILD names an existing build.
set -euo pipefail
cd "$(dirname "$0")/.."
device=${DEVICE:-cpu}
out=${OUT:-bench/results/runtime-$device}
programs=(kolmo bench_busy bench_memory bench_monitor bench_pipeline bench_tuner)

if [ -z "${BUILD:-}" ]; then
  BUILD=build/ci
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  if ! { cmake --preset ci && cmake --build --preset ci -j "${JOBS:-$(nproc)}" "${programs[@]/#/--target=}"; } >"$log" 2>&1; then
    tail -n 40 "$log"
    exit 1
  fi
fi
mkdir -p "$out"
failed=0
measure() {  # measure <title> <program> <arguments...>
  printf '\n== %s\n' "$1"
  shift
  "$BUILD/$1" "${@:2}" || failed=1
}

store=$(mktemp -d)
export KOLMO_TUNING=off  # each measurement takes the default variants unless it says otherwise
measure "tuner: look-up, and search on modelled and recorded spaces" bench_tuner --record "$out/tuner_search.json"
measure "tuner: what tuning gains over naive, default, occupancy's choice and the vendor's library" \
  kolmo tune --device "$device" --budget "${TUNE_BUDGET:-900}" --store "$store" --record "$out/tuning.json"
measure "memory: a pair of allocate and free, and replays against the bounds" \
  bench_memory --device "$device" --record "$out/memory.json"
measure "pipeline: efficiency when full, latency at 50 to 90 % load against 10 ms" \
  kolmo pipeline --device "$device" --record "$out/pipeline.json"
measure "pipeline: beside the same work written by hand" \
  bench_pipeline --device "$device" --record "$out/pipeline_peers.json"
measure "busy: a full pipeline and products of matrices, second by second" \
  bench_busy --device "$device" --record "$out/busy.json"
measure "monitor: throughput with the recorder off and on" bench_monitor --device "$device" --record "$out/monitor.json"
rm -rf "$store"
printf '\n%s\n' "$out"
exit $failed
