#!/usr/bin/env python3
"""A training of a GPT of GPT-2's size (124 million weights) with a watch: memory, overhead, coverage of forecasts and one decay.

  bench/predict_gpt2.py [--steps 400] [--decay 120] [--small] [--json FILE]     needs PyTorch; without --small a GPU

The text is the bytes of Python's own library; the embedding has GPT-2's 50,257 rows, so that sizes and times are GPT-2's, and the loss is
that of bytes. From the 150th step on, every 20th forecasts 100 steps at the constant rate, and the blocks of 10 steps that come are
compared with the 90 % intervals. Then a decay is forecast and run. At last pairs of 20 steps with and without the watch are timed."""
import argparse
import json
import statistics
import sys
import time
from pathlib import Path

import kolmo.predict
import torch
from predict_facts import facts
from torch import nn
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
RATE, WARM, FIRST, EVERY, HORIZONS = 6e-4, 50, 150, 20, (1, 5, 10)  # horizons in blocks of 10 steps


class GPT(nn.Module):
    def __init__(self, width=768, layers=12, heads=12, context=1024, rows=50257):
        super().__init__()
        self.context = context
        self.tokens, self.places = nn.Embedding(rows, width), nn.Embedding(context, width)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, layers, nn.LayerNorm(width), enable_nested_tensor=False)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)

    def loss(self, rows):
        mask = nn.Transformer.generate_square_subsequent_mask(self.context, device=rows.device)
        x = self.blocks(self.tokens(rows[:, :-1]) + self.places.weight, mask, is_causal=True)
        return functional.cross_entropy(functional.linear(x, self.tokens.weight).flatten(0, 1), rows[:, 1:].flatten())


class Training:
    def __init__(self, given):
        from byte_gpt import sources
        self.given, self.cuda = given, torch.cuda.is_available() and not given.small
        self.device = torch.device("cuda" if self.cuda else "cpu")
        torch.manual_seed(0)
        self.text = sources(20_000_000)[0].to(self.device)
        self.model = (GPT(32, 2, 2, 64, 256) if given.small else GPT()).to(self.device)
        self.batch = 4 if given.small else 16
        self.optimizer = torch.optim.AdamW(self.model.parameters(), RATE, betas=(0.9, 0.95), weight_decay=0.1)
        end = given.steps + given.decay
        self.rates = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda s: min(1, (s + 1) / WARM, 1 if s < given.steps else max(0, end - s) / given.decay))
        before = self.allocated()
        self.watch = kolmo.predict.Watch(self.optimizer, average="power:0.1")
        self.average_bytes = self.allocated() - before

    def allocated(self):
        return torch.cuda.memory_allocated() if self.cuda else 0

    def wait(self):
        if self.cuda:
            torch.cuda.synchronize()

    def step(self, watched=True):
        context = self.model.context
        starts = torch.randint(len(self.text) - context - 1, (self.batch, 1), device=self.device)
        with torch.autocast("cuda", torch.bfloat16, enabled=self.cuda):
            loss = self.model.loss(self.text[starts + torch.arange(context + 1, device=self.device)])
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        if watched:
            self.rates.step()
            self.watch.step(loss)

    def timed(self, steps, watched):
        self.wait()
        began = time.perf_counter()
        for _ in range(steps):
            self.step(watched)
        self.wait()
        return (time.perf_counter() - began) / steps


def covered(forecasts, losses):
    """The share of blocks whose mean loss is inside, for each horizon, and the median error of the forecasts."""
    found = {}
    for blocks in HORIZONS:
        seen = [(f, losses[at + 10 * (blocks - 1):at + 10 * blocks].mean()) for at, f in forecasts]
        found[str(10 * blocks)] = {
            "forecasts": len(seen), "covered": sum(f.low[blocks - 1] <= x <= f.high[blocks - 1] for f, x in seen) / len(seen),
            "median_error": statistics.median(abs(f.median[blocks - 1] - x) / x for f, x in seen)}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--decay", type=int, default=120)
    parser.add_argument("--small", action="store_true", help="a small model on the CPU, to try the script")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    training = Training(given)
    watch, forecasts = training.watch, []
    weights = sum(p.numel() for p in training.model.parameters())
    began, fitting = time.perf_counter(), []
    for step in range(1, given.steps + 1):
        training.step()
        if step >= FIRST and step % EVERY == 0 and step + 100 <= given.steps:
            started = time.perf_counter()
            forecasts.append((step, watch.forecast(horizon=100)))
            fitting.append(time.perf_counter() - started)
        if step == 20:
            training.optimizer.zero_grad()
            state = training.allocated()
    losses = watch.columns()["loss"]
    decision = kolmo.predict.forecast(watch.columns(), decide=True, budget=given.steps + 2 * given.decay, horizon=given.decay).decision
    decayed, kept = watch.forecast(decay_at="now", length=given.decay), watch.forecast(horizon=given.decay)
    for _ in range(given.decay):
        training.step()
    training.wait()
    seconds = time.perf_counter() - began
    after = watch.columns()["loss"]
    found = {"weights": weights, "steps": given.steps, "decay": given.decay, "seconds": seconds, "overhead": watch.overhead,
             "forecast_seconds": statistics.median(fitting), "coverage": covered(forecasts, losses),
             "state_bytes_estimated": 4 * 4 * weights, "state_bytes": state, "average_bytes_estimated": 4 * weights, "decision": decision,
             "before": losses[-50:].mean(), "driver": decayed.driver, "forecast": decayed.median[-1], "low": decayed.low[-1], "high": decayed.high[-1],
             "without_decay": kept.median[-1], "after": after[-10:].mean(), "blind_error": abs(kept.median[-1] - after[-10:].mean()),
             "error": abs(decayed.median[-1] - after[-10:].mean())}
    pairs = [(training.timed(20, True), training.timed(20, False)) for _ in range(5 if not given.small else 2)]
    found["step_seconds"] = statistics.median(b for _, b in pairs)
    found["watched_over_bare"] = sorted(a / b for a, b in pairs)
    if training.cuda:
        found["most_bytes"] = torch.cuda.max_memory_allocated()
    record = {"kind": "predict-gpt2", **facts(), "found": found}
    if training.cuda:
        record["machine"] = {**record["machine"], "gpu": torch.cuda.get_device_name()}
    text = json.dumps(record, indent=1, default=float) + "\n"
    print(text)
    if given.json:
        given.json.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
