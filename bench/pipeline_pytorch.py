#!/usr/bin/env python3
"""The items of bench_pipeline in a loop of PyTorch's non_blocking copies: adds arms to its record.

    python3 bench/pipeline_pytorch.py RECORD.json

Each slot has a stream, tensors and an event of its own; the loop waits for the oldest, looks at its last element and
starts it again. With one slot nothing overlaps."""
import argparse
import json
import statistics
import time
from pathlib import Path

import torch


class Slot:
    def __init__(self, elements: int):
        self.host_in = torch.empty(elements, pin_memory=True)
        self.host_out = torch.empty(elements, pin_memory=True)
        self.x, self.z = torch.empty(elements, device="cuda"), torch.empty(elements, device="cuda")
        self.stream, self.finished = torch.cuda.Stream(), torch.cuda.Event()

    def start(self, item: int, kernels: int) -> None:
        self.host_in[-1] = item
        with torch.cuda.stream(self.stream):
            self.x.copy_(self.host_in, non_blocking=True)
            for _ in range(kernels):
                torch.add(self.x, self.x, out=self.z)
            self.host_out.copy_(self.z, non_blocking=True)
            self.finished.record()

    def finish(self, item: int) -> None:
        self.finished.synchronize()
        if float(self.host_out[-1]) != 2 * item:
            raise SystemExit("a result is wrong")


def seconds_per_item(slots: list[Slot], kernels: int, items: int) -> float:
    begin = time.perf_counter()
    for i in range(items + len(slots)):
        slot = slots[i % len(slots)]
        if i >= len(slots):
            slot.finish(i - len(slots))
        if i < items:
            slot.start(i, kernels)
    return (time.perf_counter() - begin) / items


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path)
    record = parser.parse_args().record
    result = json.loads(record.read_text(encoding="utf-8"))
    rounds = len(result["results"][0]["seconds_per_item"])
    arms = {n: [Slot(result["bytes"] // 4) for _ in range(n)] for n in (1, 3, 4)}
    samples = {n: [] for n in arms}
    torch.cuda.synchronize()
    for turn in range(-1, rounds):  # the first warms up
        for n, slots in arms.items():
            seconds = seconds_per_item(slots, result["kernels"], result["items"])
            if turn >= 0:
                samples[n].append(seconds)
    for n, seconds in samples.items():
        name = f"PyTorch {torch.__version__}, non_blocking, {n} slot{'s' * (n > 1)}"
        print(f"{name}: {1e6 * statistics.median(seconds):.1f} us an item")
        result["results"].append({"arm": name, "seconds_per_item": seconds})
    record.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
