"""Weights of other layouts."""
import kolmo
import numpy as np
import pytest

K, N = 3, 4


def cho_weights(rng, *leading):
    return [rng.normal(size=(*leading, *shape)) for _ in range(3) for shape in ((N, K), (N, N), (N,))]


def logistic(a):
    return 1 / (1 + np.exp(-a))


def cho_step(x, h, wz, uz, bz, wr, ur, br, wn, un, bn):
    """Computes one step of one state, an element at a time."""
    def part(w, u, b, h, i):
        return sum(w[i, j] * x[j] for j in range(K)) + sum(u[i, j] * h[j] for j in range(N)) + b[i]

    r = [logistic(part(wr, ur, br, h, i)) for i in range(N)]
    z = [logistic(part(wz, uz, bz, h, i)) for i in range(N)]
    c = [np.tanh(part(wn, un, bn, [r[j] * h[j] for j in range(N)], i)) for i in range(N)]
    return [(1 - z[i]) * h[i] + z[i] * c[i] for i in range(N)]


def test_weights_of_cho_give_the_steps_of_cho():
    rng = np.random.default_rng(0)
    weights, x, h = cho_weights(rng), rng.normal(size=(5, K)), rng.normal(size=N)
    states = kolmo.gru_forward(x, h, *kolmo.gru_weights(*weights), reset="before")
    assert np.allclose(kolmo.gru_cell(x[0], h, *kolmo.gru_weights(*weights), reset="before"), states[0], rtol=1e-14)
    for step, state in zip(x, states, strict=True):
        h = cho_step(step, h, *weights)
        assert np.allclose(state, h, rtol=0, atol=1e-14)


def test_members_keep_their_axis():
    weights = cho_weights(np.random.default_rng(1), 2)
    both, second = kolmo.gru_weights(*weights), kolmo.gru_weights(*[w[1] for w in weights])
    assert both.weight_ih.shape == (2, 3 * N, K)
    assert all(np.array_equal(b[1], s) for b, s in zip(both, second, strict=True))


def test_a_wrong_shape_is_named():
    weights = cho_weights(np.random.default_rng(2))
    weights[4] = weights[4].T[:-1]
    with pytest.raises(kolmo.InvalidArgument, match=r"gru_weights: ur is \(3, 4\), expected \(4, 4\)"):
        kolmo.gru_weights(*weights)


def test_tensors_stay_tensors():
    torch = pytest.importorskip("torch")
    made = kolmo.gru_weights(*[torch.from_numpy(w) for w in cho_weights(np.random.default_rng(3))])
    assert all(isinstance(w, torch.Tensor) for w in made)
