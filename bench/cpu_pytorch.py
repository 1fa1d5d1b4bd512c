"""Operators beside PyTorch's on the CPU: pairs of samples in turn, on the same cores and data, results compared first.

cpu_pytorch.py OUT.json [PART OF A NAME]  with kolmo and torch importable (PYTHONPATH=build/ci/python)"""
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import kolmo
import machine
import numpy as np
import torch
import torch.nn.functional as f

# The pairs of samples, and the seconds of a sample and of the rest between samples. The rest is needed because threads of OpenMP spin
# on for some milliseconds after a call of PyTorch.
SAMPLES, SECONDS, REST = 15, 0.02, 0.02
RNG = np.random.default_rng(0)
Call = Callable[[], object]
CASES: dict[str, Callable[[], tuple[Call, Call, float]]] = {}  # each returns Kolmo's call, PyTorch's and the difference allowed, which is NaN for random draws


def case(name: str):
    def keep(make: Callable[[], tuple[Call, Call, float]]) -> None:
        CASES[name] = make
    return keep


def normal(*shape: int, dtype=np.float32) -> np.ndarray:
    return RNG.standard_normal(shape).astype(dtype)


def tensors(*arrays: np.ndarray) -> list[torch.Tensor]:
    return [torch.from_numpy(a) for a in arrays]


def elementwise() -> None:
    shapes = {"2^22 f32": (1 << 22, np.float32), "2^20 f64": (1 << 20, np.float64), "1000 f32": (1000, np.float32)}
    unary = {"elementwise_exp": torch.exp, "sigmoid": torch.sigmoid, "tanh": torch.tanh, "relu": lambda x, out: torch.clamp(x, min=0, out=out),
             "gelu": lambda x, out: f.gelu(x), "digamma": torch.digamma}
    binary = {"vector_add": torch.add, "elementwise_multiply": torch.mul}
    for size, (n, dtype) in shapes.items():
        for name, theirs in {**unary, **binary}.items():
            if name == "digamma" and dtype != np.float64:
                continue

            @case(f"{name} {size}")
            def make(name=name, theirs=theirs, n=n, dtype=dtype):
                arrays = [np.abs(normal(n, dtype=dtype)) + 1] if name == "digamma" else [normal(n, dtype=dtype) for _ in range(1 + (name in binary))]
                out, own, inputs = torch.empty(n, dtype=torch.from_numpy(arrays[0]).dtype), np.empty_like(arrays[0]), tensors(*arrays)
                return lambda: getattr(kolmo, name)(*arrays, own), lambda: theirs(*inputs, out=out), 1e-5

    for ours, source, goal in (("fp16_to_fp32", np.float16, torch.float32), ("fp32_to_fp16", np.float32, torch.float16)):
        @case(f"{ours} 2^22")
        def convert(ours=ours, source=source, goal=goal):
            x, own = normal(1 << 22, dtype=source), np.empty(1 << 22, np.float32 if goal == torch.float32 else np.float16)
            given, out = torch.from_numpy(x), torch.empty(1 << 22, dtype=goal)
            return lambda: getattr(kolmo, ours)(x, own), lambda: out.copy_(given), 0


def rows() -> None:
    @case("broadcast_add 4096 x 1024 f32")
    def _():
        x, b = normal(4096, 1024), normal(1024)
        own, (tx, tb), out = np.empty_like(x), tensors(x, b), torch.empty(4096, 1024)
        return lambda: kolmo.broadcast_add(x, b, own), lambda: torch.add(tx, tb, out=out), 1e-6

    for n, k in ((1024, 1024), (64, 65536), (65536, 32)):
        x = normal(n, k)

        @case(f"softmax {n} x {k} f32")
        def _(x=x):
            own, (tx,), out = np.empty_like(x), tensors(x), torch.empty(x.shape)
            return lambda: kolmo.softmax(x, own), lambda: torch.softmax(tx, -1, out=out), 1e-5

        @case(f"layer_norm {n} x {k} f32")
        def _(x=x):
            own, (tx,) = np.empty_like(x), tensors(x)
            scale, shift = normal(x.shape[1]), normal(x.shape[1])
            ts, th = tensors(scale, shift)
            return lambda: kolmo.layer_norm(x, scale, shift, own), lambda: f.layer_norm(tx, (x.shape[1],), ts, th), 1e-4

        @case(f"reduce_sum {n} x {k} f32")
        def _(x=x):
            own, (tx,), out = np.empty(x.shape[0], np.float32), tensors(x), torch.empty(x.shape[0])
            return lambda: kolmo.reduce_sum(x, own), lambda: torch.sum(tx, -1, out=out), 1e-2

        @case(f"normalize l2 {n} x {k} f32")
        def _(x=x):
            own, (tx,), out = np.empty_like(x), tensors(x), torch.empty(x.shape)
            return lambda: kolmo.normalize(x, own, norm="l2"), lambda: f.normalize(tx, dim=-1, out=out), 1e-5

    @case("batch_norm 4096 x 512 f32")
    def _():
        x, mean, variance = normal(4096, 512), normal(512), np.abs(normal(512)) + 1  # Kolmo takes these in f64
        statistics_of = mean.astype(np.float64), variance.astype(np.float64)
        own, (tx, tm, tv) = np.empty_like(x), tensors(x, mean, variance)
        return lambda: kolmo.batch_norm(x, *statistics_of, out=own), lambda: f.batch_norm(tx, tm, tv), 1e-4

    @case("dot_product 2^22 f32")
    def _():
        x, y = normal(1 << 22), normal(1 << 22)
        tx, ty = tensors(x, y)
        return lambda: kolmo.dot_product(x, y), lambda: torch.dot(tx, ty), 1

    @case("contiguous_copy 2048 x 2048 transposed f32")
    def _():
        x, own, out = normal(2048, 2048), np.empty((2048, 2048), np.float32), torch.empty(2048, 2048)
        turned = torch.from_numpy(x).t()
        return lambda: kolmo.contiguous_copy(x.T, own), lambda: out.copy_(turned), 0

    @case("embedding_lookup 16384 rows of 256 from 50000 f32")
    def _():
        table, index = normal(50000, 256), RNG.integers(0, 50000, 16384)
        own, (tt, ti) = np.empty((16384, 256), np.float32), tensors(table, index)
        return lambda: kolmo.embedding_lookup(table, index, own), lambda: f.embedding(ti, tt), 0


def entropies() -> None:
    for n, k in ((65536, 32), (1024, 2048)):
        p, q = (RNG.dirichlet(np.ones(k), n) for _ in range(2))
        logs = normal(n, k, dtype=np.float64)
        tp, tq, tl = tensors(p, q, logs)

        @case(f"shannon_entropy {n} x {k} f64")
        def _(p=p, tp=tp):
            return lambda: kolmo.shannon_entropy(p), lambda: torch.special.entr(tp).sum(-1), 1e-9

        @case(f"kl_divergence {n} x {k} f64")
        def _(p=p, q=q, tp=tp, tq=tq):
            return lambda: kolmo.kl_divergence(p, q), lambda: torch.xlogy(tp, tp / tq).sum(-1), 1e-9

        @case(f"free_energy {n} x {k} f64")
        def _(p=p, q=q, logs=logs, tp=tp, tq=tq, tl=tl):
            return lambda: kolmo.free_energy(p, q, logs), lambda: (torch.xlogy(tp, tp / tq) - tp * tl).sum(-1), 1e-9


def products() -> None:
    for m, n, k, dtype in ((64, 64, 64, np.float32), (512, 512, 512, np.float32), (1024, 1024, 1024, np.float32), (512, 512, 512, np.float64),
                           (1, 2048, 2048, np.float32), (16, 2048, 2048, np.float32)):
        @case(f"matmul {m} {n} {k} f{np.dtype(dtype).itemsize * 8}")
        def _(m=m, n=n, k=k, dtype=dtype):
            a, b = normal(m, k, dtype=dtype), normal(k, n, dtype=dtype)
            own, (ta, tb) = np.empty((m, n), dtype), tensors(a, b)
            out = torch.empty(m, n, dtype=ta.dtype)
            return lambda: kolmo.matmul(a, b, out=own), lambda: torch.mm(ta, tb, out=out), 1e-2

    @case("matmul 64 of 64 64 64 f32")
    def _():
        a, b = normal(64, 64, 64), normal(64, 64, 64)
        own, (ta, tb), out = np.empty_like(a), tensors(a, b), torch.empty(64, 64, 64)
        return lambda: kolmo.matmul(a, b, out=own), lambda: torch.bmm(ta, tb, out=out), 1e-3

    for batch in (1, 1024):
        @case(f"linear {batch} rows of 1024 to 1024, f32")
        def _(batch=batch):
            x, w, b = normal(batch, 1024), normal(1024, 1024), normal(1024)
            own, (tx, tw, tb) = np.empty((batch, 1024), np.float32), tensors(x, w, b)
            return lambda: kolmo.linear(x, w, b, own), lambda: f.linear(tx, tw, tb), 1e-2

    for name, shape, kernel, options in (("8 of 64 x 56 x 56, 64 of 3 x 3", (8, 64, 56, 56), (64, 64, 3, 3), {"padding": 1}),
                                         ("8 of 256 x 28 x 28, 512 of 1 x 1", (8, 256, 28, 28), (512, 256, 1, 1), {}),
                                         ("8 of 3 x 224 x 224, 64 of 7 x 7, stride 2", (8, 3, 224, 224), (64, 3, 7, 7), {"padding": 3, "stride": 2})):
        @case(f"conv2d {name}, f32")
        def _(shape=shape, kernel=kernel, options=options):
            x, w = normal(*shape), normal(*kernel)
            tx, tw = tensors(x, w)
            own = np.empty(tuple(f.conv2d(tx, tw, **options).shape), np.float32)
            return lambda: kolmo.conv2d(x, w, out=own, **{o: [v] for o, v in options.items()}), lambda: f.conv2d(tx, tw, **options), 1e-2

    for causal in ("none", "upper_left"):
        @case(f"attention B1 H8 S1024 D64 f32{', causal' * (causal != 'none')}")
        def _(causal=causal):
            q, k, v = (normal(1, 8, 1024, 64) for _ in range(3))
            own, t = np.empty_like(q), tensors(q, k, v)
            return (lambda: kolmo.attention(q, k, v, out=own, causal=causal),
                    lambda: f.scaled_dot_product_attention(*t, is_causal=causal != "none"), 1e-4)


def recurrent() -> None:
    for gates, name in ((4, "lstm_cell"), (3, "gru_cell")):
        for batch in (1, 128):
            @case(f"{name} {batch} states of 512, f32")
            def _(gates=gates, name=name, batch=batch):
                states = [normal(batch, 512) for _ in range(gates - 1)]  # x, h and, for an LSTM, c
                weights = [normal(gates * 512, 512) / 16 for _ in range(2)]
                bias = [normal(gates * 512) for _ in range(2)]
                cell = (torch.nn.LSTMCell if gates == 4 else torch.nn.GRUCell)(512, 512)
                with torch.no_grad():
                    for parameter, value in zip(cell.parameters(), weights + bias, strict=True):
                        parameter.copy_(torch.from_numpy(value))
                given = tensors(*states)
                theirs = (lambda: cell(given[0], (given[1], given[2]))[0]) if gates == 4 else lambda: cell(*given)
                return lambda: getattr(kolmo, name)(*states, *weights, *bias)[0 if gates == 4 else slice(None)], theirs, 1e-3

    @case("gru_forward 50 steps of 256 units, f32")
    def _():
        gru, x = torch.nn.GRU(256, 256, batch_first=True), normal(1, 50, 256)
        weights = [p.detach().numpy() for p in gru.parameters()]
        h, (tx,) = np.zeros((1, 256), np.float32), tensors(x)
        return lambda: kolmo.gru_forward(x, h, *weights)[0], lambda: gru(tx)[0], 1e-4


def draws() -> None:
    nan = float("nan")
    for name, method in (("random_uniform", "uniform_"), ("random_normal", "normal_")):
        for dtype in (np.float32, np.float64):
            @case(f"{name} 2^20 f{np.dtype(dtype).itemsize * 8}")
            def _(name=name, method=method, dtype=dtype):
                own, out = np.empty(1 << 20, dtype), torch.empty(1 << 20, dtype=torch.float32 if dtype == np.float32 else torch.float64)
                return lambda: getattr(kolmo, name)(own, n=1 << 20, seed=1), lambda: getattr(out, method)(), nan

    @case("categorical_sample 1000 draws from each of 64 rows of 1000 f32")
    def _():
        w = np.abs(normal(64, 1000))
        (tw,) = tensors(w)
        return lambda: kolmo.categorical_sample(w, n=1000, seed=1), lambda: torch.multinomial(tw, 1000, replacement=True), nan

    @case("histogram_2d 2^20, 10 x 10 bins f64")
    def _():
        x, y = RNG.random(1 << 20), RNG.random(1 << 20)
        both = torch.from_numpy(np.stack([x, y], 1))
        return (lambda: kolmo.histogram_2d(x, y), lambda: torch.histogramdd(both, [10, 10], range=[0.0, 1.0, 0.0, 1.0])[0], 0)


def seconds(call: Call, calls: int, clock: Callable[[], float] = time.perf_counter) -> float:
    started = clock()
    for _ in range(calls):
        call()
    return (clock() - started) / calls


def measured(name: str, ours: Call, theirs: Call, allowed: float, clock: Callable[[], float] = time.perf_counter) -> dict:
    for got, want in [(ours(), theirs())] if allowed == allowed else []:
        got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
        worst = float(np.max(np.abs(got - want) / np.maximum(1, np.abs(want))))
        if not worst <= allowed:
            raise SystemExit(f"{name}: Kolmo and PyTorch differ by {worst:.3g}, over {allowed:g}")
    counts = [max(1, round(SECONDS / max(seconds(call, 2, clock), 1e-7))) for call in (ours, theirs)]
    samples: list[list[float]] = [[], []]
    for _ in range(SAMPLES):
        for place, call in enumerate((ours, theirs)):
            time.sleep(REST)
            call()
            samples[place].append(seconds(call, counts[place], clock) * 1e6)
    ratios = [t / k for k, t in zip(*samples, strict=True)]
    return {"case": name, "kolmo_us": samples[0], "pytorch_us": samples[1], "ratio": statistics.median(ratios)}


def main(out: str, part: str = "") -> None:
    for family in (elementwise, rows, entropies, products, recurrent, draws):
        family()
    torch.set_num_threads(os.cpu_count() or 1)
    results = []
    with torch.inference_mode():
        for name, make in CASES.items():
            if part in name:
                results.append(measured(name, *make()))
                print(f"{results[-1]['ratio']:6.2f}  {name}", flush=True)
    middle = statistics.median(r["ratio"] for r in results)
    record = {"kind": "cpu_pytorch", "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": kolmo._kolmo.commit(),
              "machine": {"cpu": machine.cpu_model(), "cores": os.cpu_count(), "system": platform.platform()},
              "versions": {"kolmo": kolmo.__version__, "torch": torch.__version__, "numpy": np.__version__, "python": platform.python_version()},
              "median_ratio": middle, "results": results}
    Path(out).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"{middle:6.2f}  PyTorch's time / Kolmo's, median of {len(results)} cases; below 0.5: "
          + (", ".join(r["case"] for r in results if r["ratio"] < 0.5) or "none"))


if __name__ == "__main__":
    main(*sys.argv[1:])
