#!/usr/bin/env python3
"""A small GPT on bytes of Python's own sources, watched: what a decay would bring is forecast, and then tried.

  examples/byte_gpt.py [--steps 900] [--decay 300] [--json FILE]     needs PyTorch; a few minutes on a CPU

Trains at a constant rate, forecasts the loss at the end of a decay that starts now, decays, and prints what came of it beside the average
of the weights. A tenth of the files is held out for validation."""
import argparse
import json
import os
import platform
from datetime import datetime, timezone
from pathlib import Path

import kolmo.predict
import numpy as np
import torch
from kolmo import _kolmo
from torch import nn
from torch.nn import functional

CONTEXT, WIDTH, LAYERS, HEADS, BATCH = 64, 64, 2, 4, 16


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.first(x)).view(b, t, 3, HEADS, d // HEADS).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(b, t, d))
        return x + self.down(functional.gelu(self.up(self.second(x))))


class ByteGPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.bytes, self.places = nn.Embedding(256, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks, self.norm = nn.Sequential(*(Block() for _ in range(LAYERS))), nn.LayerNorm(WIDTH)
        for m in self.modules():
            if isinstance(m, (nn.Linear, nn.Embedding)):
                nn.init.normal_(m.weight, std=0.02)

    def loss(self, rows):
        x = self.bytes(rows[:, :-1]) + self.places.weight
        scores = functional.linear(self.norm(self.blocks(x)), self.bytes.weight)
        return functional.cross_entropy(scores.flatten(0, 1), rows[:, 1:].flatten())


def sources(limit=3_000_000):
    """The modules of the standard library, in order of their names: bytes to train on, and rows to validate on."""
    kept = [[], []]
    for number, path in enumerate(sorted(Path(os.__file__).parent.glob("*.py"))):
        kept[number % 10 == 9].append(path.read_bytes())
    train, held = (torch.from_numpy(np.frombuffer(b"\n".join(k)[:limit], np.uint8).copy()).long() for k in kept)
    starts = torch.linspace(0, len(held) - CONTEXT - 2, 96).long()
    return train, torch.stack([held[s:s + CONTEXT + 1] for s in starts])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=900, help="at a constant rate")
    parser.add_argument("--decay", type=int, default=300, help="steps of the decay")
    parser.add_argument("--json", help="write what is printed to this file")
    given = parser.parse_args()
    torch.manual_seed(0)
    train, held = sources()
    model = ByteGPT()
    optimizer = torch.optim.AdamW(model.parameters(), 2e-3, betas=(0.9, 0.95), weight_decay=0.05)
    rates = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, (step + 1) / 50, max(0, given.steps + given.decay - step) / given.decay))
    watch = kolmo.predict.Watch(optimizer, average="power:0.1")

    def validate():
        with torch.no_grad():
            return model.loss(held).item()

    def advance(steps):
        for _ in range(steps):
            loss = model.loss(train[torch.randint(len(train) - CONTEXT - 1, (BATCH, 1)) + torch.arange(CONTEXT + 1)])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            rates.step()
            watch.step(loss)

    advance(given.steps)
    found = {"steps": given.steps, "decay": given.decay, "before": validate()}
    with watch.averaged():
        found["average"] = validate()
    here = watch.columns()["loss"][-50:].mean()
    forecast, kept = watch.forecast(decay_at="now", length=given.decay), watch.forecast(horizon=given.decay)
    found |= {"training_before": here, "driver": forecast.driver, "forecast": forecast.median[-1], "low": forecast.low[-1], "high": forecast.high[-1],
              "forecast_without_decay": kept.median[-1]}
    advance(given.decay)
    found |= {"training_after": watch.columns()["loss"][-50:].mean(), "after": validate(), "overhead": watch.overhead}
    with watch.averaged():
        found["average_after"] = validate()
    print(f"step {given.steps}: training loss {here:.3f}, validation {found['before']:.3f}, of the average {found['average']:.3f}")
    print(f"forecast of {given.decay} steps of decay, by {found['driver']}: {found['forecast']:.3f} ({found['low']:.3f} to {found['high']:.3f}); without decay "
          f"{found['forecast_without_decay']:.3f}")
    print(f"step {watch.steps}: training loss {found['training_after']:.3f}, validation {found['after']:.3f}, of the average {found['average_after']:.3f}")
    print(f"the watch took {100 * watch.overhead:.2f} % of the time")
    if given.json:
        facts = {"date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": _kolmo.commit(), "machine": platform.processor() or
                 platform.machine(), "versions": {"kolmo": kolmo.__version__, "torch": torch.__version__, "python": platform.python_version()}}
        Path(given.json).write_text(json.dumps({"kind": "byte-gpt", **facts, "found": found}, indent=1, default=float) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
