#!/usr/bin/env python3
"""Cost of an allocate/free pair of PyTorch's CUDA allocator, beside bench_memory: adds arms to its record.

    python3 bench/memory_pytorch.py RECORD.json

The call goes through Python; what an empty call of the same kind costs is measured too and stands beside it."""
import argparse
import json
import statistics
import time
from pathlib import Path

import torch

SIZES = (256, 4 << 10, 64 << 10, 1 << 20, 16 << 20, 1 << 30)


def per_pair(allocate, release, pairs: int, samples: int) -> list[float]:
    """Measures the nanoseconds per pair; returns the sorted samples."""
    times = []
    for sample in range(-samples // 10, samples):
        begin = time.perf_counter_ns()
        for _ in range(pairs):
            release(allocate())
        if sample >= 0:
            times.append((time.perf_counter_ns() - begin) / pairs)
    return sorted(times)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path)
    record = parser.parse_args().record
    result = json.loads(record.read_text(encoding="utf-8"))
    torch.cuda.init()
    stream = torch.cuda.current_stream().cuda_stream
    for size in SIZES:
        def allocate(size=size):
            return torch._C._cuda_cudaCachingAllocator_raw_alloc(size, stream)
        times = per_pair(allocate, torch._C._cuda_cudaCachingAllocator_raw_delete, 64, 400)
        empty = per_pair(lambda: 0, lambda _: None, 64, 400)
        result["pairs"].append({
            "pattern": "pair", "bytes": size, "threads": 1, "arm": f"PyTorch {torch.__version__}",
            "ns_p50": statistics.median(times), "ns_p99": times[len(times) * 99 // 100],
            "ns_of_an_empty_call": statistics.median(empty)})
    record.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
