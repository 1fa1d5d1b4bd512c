"""Random numbers beside randomgen's Philox4x32-10, whose words NumPy turns into uniform and normal numbers and draws."""
from __future__ import annotations

import kolmo
import numpy as np
import torch
from randomgen import Philox

from peers import Pair, peer
from peers.neural import pick

SIGNIFICAND_BITS = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}


def place(rng):
    """Draws a seed, a place in its sequence, and how many numbers to take from there on."""
    return int(rng.integers(0, 2**64, dtype=np.uint64)), int(rng.integers(0, 2 ** int(rng.integers(1, 60)))), int(rng.integers(1, 400))


def words(seed, offset, n, bits):
    """Elements offset ... offset + n - 1 of the sequence of words of 32 or 64 bits, high half first."""
    per_block = 128 // bits
    first = offset // per_block
    raw = Philox(key=seed, counter=(first - 1) % 2**128, number=4, width=32).random_raw(4 * (n // per_block + 2))  # the generator counts before it draws
    if bits == 64:
        raw = raw[0::2] << np.uint64(32) | raw[1::2]
    return raw[offset - first * per_block:][:n]


@peer("random_uniform", "randomgen")
def random_uniform(rng):
    dtype, bits = pick(rng, *SIGNIFICAND_BITS.items())
    seed, offset, n = place(rng)
    low = float(rng.integers(-8, 8))
    high, width = low + float(rng.integers(0, 9)), 64 if dtype == "f64" else 32
    u = np.ldexp((words(seed, offset, n, width) >> np.uint64(width - bits)).astype(np.longdouble), -bits)
    got = kolmo.random_uniform(n=n, dtype=dtype, seed=seed, offset=offset, low=low, high=high)
    # Product and sum are rounded to 2^-53 or 2^-24, of numbers up to 16, and the result to `bits` bits.
    rounding = 2.0 ** (-53 if dtype == "f64" else -24)
    return [Pair(torch.as_tensor(got).double().numpy(), (low + (high - low) * u).astype(float), 2.0**-bits, 32 * rounding * 2.0**bits)]


@peer("random_normal", "randomgen")
def random_normal(rng):
    dtype, bits = pick(rng, *SIGNIFICAND_BITS.items())
    seed, offset, n = place(rng)
    mean, deviation = float(rng.normal()), float(rng.uniform(0.1, 3))
    first, width = offset // 2 * 2, 64 if dtype == "f64" else 32
    w = words(seed, first, n + 3, width)
    a, b = w[0::2][:n // 2 + 1], w[1::2]
    if width == 64:
        a, b = a >> np.uint64(12), b >> np.uint64(12)
    cells = 52 if width == 64 else 32
    u = np.ldexp((a | np.uint64(1)).astype(np.longdouble), -cells)
    angle = 2 * np.longdouble(np.pi) * np.ldexp(2 * b[:len(a)].astype(np.longdouble) + 1, -cells - 1)
    radius = np.sqrt(-2 * np.log(u))
    z = np.stack([radius * np.cos(angle), radius * np.sin(angle)], -1).ravel()[offset - first:][:n]
    got = kolmo.random_normal(n=n, dtype=dtype, seed=seed, offset=offset, mean=mean, deviation=deviation)
    # z is within 1e-15 or 4e-7 of the radius, at most 8.5; its product and sum are rounded to 2^-53 or 2^-24, the result to `bits` bits.
    error = (1e-15 if dtype == "f64" else 4e-7) * 8.5 * deviation + (8.5 * deviation + abs(mean)) * 2.0 ** (-53 if dtype == "f64" else -24)
    return [Pair(torch.as_tensor(got).double().numpy(), (mean + deviation * z).astype(float), 2.0**-bits, error * 2.0**bits)]


@peer("categorical_sample", "randomgen")
def categorical_sample(rng):
    seed, offset, n = place(rng)
    rows, k = int(rng.integers(1, 4)), int(rng.integers(1, 300))
    weight = rng.integers(0, 2**20, (rows, k)).astype(pick(rng, np.float64, np.float32))  # sums of such weights are exact
    weight[:, int(rng.integers(k))] += 1  # not all of them 0
    u = np.ldexp((words(seed, offset, rows * n, 64) >> np.uint64(11)).astype(float), -53).reshape(rows, n)
    sums = np.cumsum(weight.astype(float), -1)
    want = np.stack([np.searchsorted(sums[r], u[r] * sums[r, -1], "right") for r in range(rows)])
    return [Pair(kolmo.categorical_sample(weight, n=n, seed=seed, offset=offset), want)]
