"""Converts weights of other layouts to those that the operators take."""
from __future__ import annotations

from typing import Any, NamedTuple

from kolmo._arrays import _library
from kolmo._kolmo import InvalidArgument


class GruWeights(NamedTuple):
    """What `gru_cell`, `gru_forward` and `rssm_rollout` take after their states, with reset="before"."""
    weight_ih: Any
    weight_hh: Any
    bias_ih: Any


def gru_weights(wz: Any, uz: Any, bz: Any, wr: Any, ur: Any, br: Any, wn: Any, un: Any, bn: Any) -> GruWeights:
    """Weights of a GRU as Cho et al. write it, for operators that are called with reset="before":

        z = s(Wz x + Uz h + bz), r = s(Wr x + Ur h + br), c = tanh(Wn x + Un (r h) + bn), h' = (1 - z) h + z c

    `wz wr wn` are (..., n, k), `uz ur un` (..., n, n) and `bz br bn` (..., n), of NumPy, PyTorch, CuPy or JAX. The results have the
    rows of r, z, n in this order; those of z are negated, since h' = (1 - z) n + z h here: 1 - s(a) is s(-a)."""
    n = bz.shape[-1]
    for names, arrays, want in (("wz wr wn", (wz, wr, wn), (*bz.shape, wz.shape[-1])), ("uz ur un", (uz, ur, un), (*bz.shape, n)),
                                ("bz br bn", (bz, br, bn), tuple(bz.shape))):
        for name, array in zip(names.split(), arrays, strict=True):
            if tuple(array.shape) != want:
                raise InvalidArgument(f"gru_weights: {name} is {tuple(array.shape)}, expected {want}")
    joined = _library(wz).concatenate
    return GruWeights(joined([wr, -wz, wn], -2), joined([ur, -uz, un], -2), joined([br, -bz, bn], -1))
