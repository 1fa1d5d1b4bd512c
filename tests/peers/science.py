"""Information, dynamics, time series and quantum states beside SciPy, scikit-learn, statsmodels, FilterPy, Qiskit and NumPy."""
from __future__ import annotations

import kolmo
import numpy as np
import scipy.sparse
import scipy.special
import scipy.stats
from scipy.spatial import cKDTree

from peers import Pair, peer

SUMS = 1e-12


def simplex(rng, *shape):
    return rng.dirichlet(np.ones(shape[-1]), shape[:-1])


@peer("digamma", "scipy")
def digamma(rng):
    x = np.concatenate([rng.normal(0, 20, 50), 10.0 ** rng.uniform(-8, 8, 50)])
    return [Pair(kolmo.digamma(x), scipy.special.digamma(x), 1e-12)]


@peer("shannon_entropy", "scipy")
def shannon_entropy(rng):
    counts = rng.integers(0, 50, (4, int(rng.integers(2, 30)))) + np.eye(1, dtype=int)[0]
    return [Pair(kolmo.shannon_entropy(counts.astype(np.int64)), scipy.stats.entropy(counts, axis=-1), SUMS)]


@peer("kl_divergence", "scipy")
def kl_divergence(rng):
    p, q = simplex(rng, 3, 9), simplex(rng, 3, 9)
    return [Pair(kolmo.kl_divergence(p, q), scipy.special.rel_entr(p, q).sum(-1), SUMS)]


@peer("mutual_information", "sklearn")
def mutual_information(rng):
    from sklearn.metrics import mutual_info_score
    joint = rng.integers(0, 30, tuple(rng.integers(2, 9, 2))) + 1
    return [Pair(kolmo.ops.mutual_information(joint.astype(np.int64)), np.array(mutual_info_score(None, None, contingency=joint)), 1e-11)]


@peer("conditional_entropy", "scipy")
def conditional_entropy(rng):
    joint = rng.integers(0, 30, tuple(rng.integers(2, 9, 2))) + 1
    want = scipy.stats.entropy(joint.ravel()) - scipy.stats.entropy(joint.sum(1))
    return [Pair(kolmo.conditional_entropy(joint.astype(np.int64)), np.array(want), SUMS)]


@peer("free_energy", "scipy")
def free_energy(rng):
    q, p, likelihood = simplex(rng, 3, 7), simplex(rng, 3, 7), rng.normal(-3, 1, (3, 7))
    return [Pair(kolmo.free_energy(q, p, likelihood), scipy.special.rel_entr(q, p).sum(-1) - (q * likelihood).sum(-1), SUMS)]


@peer("histogram_2d", "numpy")
def histogram_2d(rng):
    x, y = rng.random(500) * 2 - 0.5, rng.random(500)
    bins = [int(n) for n in rng.integers(1, 20, 2)]
    want = np.histogram2d(x, y, bins=bins, range=[(0, 1), (0, 1)])[0].astype(np.int64)
    return [Pair(kolmo.histogram_2d(x, y, bins_x=bins[0], bins_y=bins[1]), want)]


@peer("nearest_neighbors", "sklearn")
def nearest_neighbors(rng):
    from sklearn.neighbors import NearestNeighbors
    x, k = rng.normal(size=(int(rng.integers(20, 300)), int(rng.integers(1, 5)))), int(rng.integers(1, 8))
    distance, index = NearestNeighbors(n_neighbors=k, metric="chebyshev").fit(x).kneighbors()
    got = kolmo.nearest_neighbors(x, k=k, index=True)
    return [Pair(got.distance, distance, 1e-15), Pair(got.index, index)]


def within(points, radius):
    """Counts the points nearer than each radius, including the point itself."""
    return cKDTree(points).query_ball_point(points, np.nextafter(radius, 0), p=np.inf, return_length=True)


def ksg1(x, y, z, k):
    """Kraskov, Stoegbauer, Grassberger 2004, and Frenzel, Pompe 2007, written out with a k-d tree."""
    psi = scipy.special.digamma
    joint = np.concatenate([x, y, *([z] if z is not None else [])], axis=1)
    radius = cKDTree(joint).query(joint, k + 1, p=np.inf)[0][:, -1]
    if z is None:
        return psi(k) + psi(len(x)) - np.mean(psi(within(x, radius)) + psi(within(y, radius)))
    return psi(k) + np.mean(psi(within(z, radius)) - psi(within(np.hstack([x, z]), radius)) - psi(within(np.hstack([y, z]), radius)))


@peer("ksg_mutual_information", "scipy")
def ksg_mutual_information(rng):
    n, k = int(rng.integers(30, 400)), int(rng.integers(1, 7))
    x = rng.normal(size=(n, int(rng.integers(1, 3))))
    y = x[:, :1] * rng.random() + rng.normal(size=(n, int(rng.integers(1, 3))))
    return [Pair(kolmo.ksg_mutual_information(x[None], y, k=k), np.array([[ksg1(x, y, None, k)]]), 1e-10)]


@peer("ksg_conditional_mutual_information", "scipy")
def ksg_conditional_mutual_information(rng):
    n, k = int(rng.integers(30, 400)), int(rng.integers(1, 7))
    z = rng.normal(size=(n, int(rng.integers(1, 3))))
    x, y = z[:, :1] + rng.normal(size=(n, 1)), z[:, :1] - rng.normal(size=(n, 1))
    return [Pair(kolmo.ksg_conditional_mutual_information(x[None], y, z, k=k), np.array([[[ksg1(x, y, z, k)]]]), 1e-10)]


@peer("ksg_transfer_entropy", "scipy")
def ksg_transfer_entropy(rng):
    n, k, history, lag = int(rng.integers(60, 400)), int(rng.integers(1, 7)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    s, d = rng.normal(size=n), rng.normal(size=n).cumsum()
    first = max(history, lag)
    rows = np.arange(first, n)
    past = np.stack([d[rows - 1 - i] for i in range(history)], axis=1)
    got = kolmo.ksg_transfer_entropy(s[None, None], d[None], history=history, lag=lag, k=k)
    return [Pair(got, np.array([[ksg1(s[rows - lag, None], d[rows, None], past, k)]]), 1e-10)]


@peer("entropy_production", "numpy")
def entropy_production(rng):
    w, p = rng.random((5, 5)) + 0.01, simplex(rng, 5)
    flux = p[:, None] * w
    want = sum((flux[i, j] - flux[j, i]) * np.log(flux[i, j] / flux[j, i]) for i in range(5) for j in range(i))
    return [Pair(kolmo.entropy_production(w, p), np.array(want), SUMS)]


@peer("kuramoto_evolution", "scipy")
def kuramoto_evolution(rng):
    from scipy.integrate import RK45
    n, dt = int(rng.integers(2, 20)), 0.01
    theta, omega, coupling = rng.uniform(-3, 3, n), rng.normal(size=n), rng.random() * 3

    def rate(_, x):
        return omega + coupling / n * np.sin(x[None, :] - x[:, None]).sum(1)

    x = theta  # the classical scheme of fourth order; SciPy's integrator, far more exact, bounds its error below
    for _ in range(10):
        a = rate(0, x)
        b = rate(0, x + dt / 2 * a)
        c = rate(0, x + dt / 2 * b)
        x = x + dt / 6 * (a + 2 * b + 2 * c + rate(0, x + dt * c))
    exact = RK45(rate, 0, theta, 10 * dt, rtol=1e-10, atol=1e-12)
    while exact.status == "running":
        exact.step()
    got = kolmo.kuramoto_evolution(theta, omega, strength=coupling, dt=dt, steps=10)
    pairs = [Pair(got, x, 1e-13), Pair(got, exact.y, 1e-7)]
    sparse, arguments = compressed_rows(rng, n)
    for m, given in ((sparse, arguments), (sparse.toarray(), {"adjacency": sparse.toarray()})):
        x = theta
        for _ in range(10):
            sine, cosine = m @ np.sin(x), m @ np.cos(x)
            x = x + dt * (omega + coupling / n * (np.cos(x) * sine - np.sin(x) * cosine))
        pairs.append(Pair(kolmo.kuramoto_evolution(theta, omega, **given, strength=coupling, dt=dt, steps=10, method="euler"), x, 1e-13))
    return pairs


@peer("order_parameter", "numpy")
def order_parameter(rng):
    theta = rng.uniform(-9, 9, (3, int(rng.integers(2, 60))))
    mean, got = np.exp(1j * theta).mean(-1), kolmo.order_parameter(theta)
    return [Pair(got.r, np.abs(mean), 1e-13), Pair(got.psi, np.angle(mean), 1e-10)]


def compressed_rows(rng, n):
    """A random sparse matrix, in which some elements appear twice and add up; and the arguments that hold it."""
    offsets = np.concatenate([[0], np.sort(rng.integers(0, 3 * n, n - 1)), [3 * n]])
    columns, values = rng.integers(0, n, 3 * n), rng.normal(size=3 * n)
    return scipy.sparse.csr_array((values, columns, offsets), (n, n)), {"offsets": offsets, "columns": columns, "values": values}


@peer("reservoir_update", "scipy")
def reservoir_update(rng):
    n, k, leak = int(rng.integers(2, 40)), int(rng.integers(1, 5)), float(rng.random())
    u, s, w_in, w, bias = (rng.normal(size=x) for x in ((3, k), (3, n), (n, k), (n, n), (n,)))
    sparse, arguments = compressed_rows(rng, n)
    return [Pair(kolmo.reservoir_update(u, s, w_in, bias=bias, leak=leak, **given), (1 - leak) * s + leak * np.tanh(u @ w_in.T + (m @ s.T).T + bias), SUMS)
            for m, given in ((w, {"weights": w}), (sparse, arguments))]


@peer("dendritic_integration", "scipy")
def dendritic_integration(rng):
    b, i = (int(n) for n in rng.integers(1, 8, 2))
    x, w = rng.normal(size=(3, b, i)), rng.normal(size=(4, b, i))
    threshold, steepness, magnesium, reversal, gain, decay, saturation = (float(v) for v in rng.uniform(0.1, 2, 7))
    drive = np.einsum("sbi,nbi->snb", x, w)
    wants = {"sigmoid": scipy.special.expit(steepness * (drive - threshold)),
             "nmda": -(drive - reversal) * scipy.special.expit(0.062 * drive - np.log(magnesium / 3.57)),
             "back_propagation": drive + gain * np.exp(-decay * np.arange(b)) * np.maximum(drive.sum(-1, keepdims=True) - threshold, 0),
             "multiplicative": saturation * np.tanh((np.prod(1 + x[:, None] * w[None], axis=-1) - 1) / saturation)}
    pairs = []
    for kind, want in wants.items():
        got = kolmo.dendritic_integration(x, w, branches=True, nonlinearity=kind, threshold=threshold, steepness=steepness, magnesium=magnesium,
                                          reversal=reversal, gain=gain, decay=decay, saturation=saturation)
        pairs += [Pair(got.branches, want, SUMS, 10), Pair(got.soma, want.sum(-1), SUMS, 10)]
    return pairs


@peer("time_delayed_embedding", "numpy")
def time_delayed_embedding(rng):
    x, m, tau = rng.normal(size=(2, 100)), int(rng.integers(1, 6)), int(rng.integers(1, 6))
    want = np.lib.stride_tricks.sliding_window_view(x, (m - 1) * tau + 1, axis=-1)[..., ::-1][..., ::tau]
    return [Pair(kolmo.time_delayed_embedding(x, dimension=m, tau=tau), want)]


@peer("ar_forecast", "statsmodels")
def ar_forecast(rng):
    from statsmodels.regression.linear_model import burg, yule_walker
    x, order = rng.normal(size=300).cumsum() * 0.1 + rng.normal(size=300), int(rng.integers(1, 6))
    pairs = []
    for fit, peer_fit in (("yule_walker", lambda: yule_walker(x, order, method="mle")), ("burg", lambda: burg(x, order))):
        got, (coefficients, spread) = kolmo.ar_forecast(x, order=order, fit=fit, horizon=3), peer_fit()
        noise = spread**2 if fit == "yule_walker" else spread
        pairs += [Pair(got.coefficients, coefficients, 1e-9), Pair(got.noise_variance, np.array(noise), 1e-9)]
        past = list((x - x.mean())[-order:])
        for _ in range(3):
            past.append(np.dot(coefficients, past[:-order - 1:-1]))
        pairs.append(Pair(got.forecast, np.array(past[-3:]) + x.mean(), 1e-9))
    return pairs + least_squares(x, order, int(rng.integers(0, 3)), ("constant", "none")[int(rng.integers(0, 2))])


def least_squares(x, order, difference, trend):
    from statsmodels.tsa.ar_model import AutoReg
    w = np.diff(x, difference)
    fitted = AutoReg(w, order, trend=trend[0]).fit()
    ahead = fitted.get_prediction(len(w), len(w) + 3)
    got = kolmo.ar_forecast(x, order=order, horizon=4, difference=difference, trend=trend, upper=True, constant=True)
    want = np.array(ahead.predicted_mean)
    for d in range(difference - 1, -1, -1):
        want = np.diff(x, d)[-1] + np.cumsum(want)
    params = np.r_[got.constant, got.coefficients] if trend == "constant" else got.coefficients
    pairs = [Pair(params, fitted.params, 1e-9), Pair(got.noise_variance, np.array(fitted.sigma2), 1e-9), Pair(got.forecast, want, 1e-9)]
    return pairs if difference else [*pairs, Pair(got.upper, np.array(ahead.conf_int())[:, 1], 1e-9)]


def matrices(rng, n, m):
    def positive(k):
        a = rng.normal(size=(k, k))
        return a @ a.T + np.eye(k)
    return rng.normal(size=(n, n)) / np.sqrt(n), positive(n), positive(n), rng.normal(size=(m, n)), positive(m)


@peer("kalman_filter_step", "filterpy")
def kalman_filter_step(rng):
    from filterpy.kalman import KalmanFilter
    n, m = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    transition, covariance, noise, observation, measurement = matrices(rng, n, m)
    f = KalmanFilter(n, m)
    f.x, f.P, f.F, f.Q, f.H, f.R = rng.normal(size=(n, 1)), covariance.copy(), transition, noise, observation, measurement
    x, z = f.x[:, 0].copy(), rng.normal(size=m)
    f.predict(), f.update(z)
    got = kolmo.kalman_filter_step(x, covariance, z, transition, noise, observation, measurement, gain=True, log_likelihood=True)
    return [Pair(got.x_next, f.x[:, 0], 1e-10), Pair(got.covariance_next, f.P, 1e-10), Pair(got.gain, f.K, 1e-10),
            Pair(got.log_likelihood, np.array(f.log_likelihood), 1e-10)]


@peer("uncertainty_propagation", "filterpy")
def uncertainty_propagation(rng):
    from filterpy.kalman import predict
    n, horizon = int(rng.integers(1, 6)), int(rng.integers(1, 6))
    transition, covariance, noise, *_ = matrices(rng, n, 1)
    x = rng.normal(size=n)
    got, mean, p = kolmo.uncertainty_propagation(x, covariance, transition, noise, horizon=horizon), x, covariance
    pairs = []
    for h in range(horizon):
        mean, p = predict(mean, p, transition, noise)
        pairs += [Pair(got.mean[h], mean, SUMS), Pair(got.variance[h], np.diag(p), SUMS)]
    return [*pairs, Pair(got.covariance_end, p, SUMS)]


def gate(name, draw):
    @peer(name, "qiskit")
    def problem(rng):
        from qiskit.quantum_info import Statevector
        q = int(rng.integers(2, 6))
        state = rng.normal(size=2**q) + 1j * rng.normal(size=2**q)
        state /= np.linalg.norm(state)
        options, circuit = draw(rng, q)
        return [Pair(getattr(kolmo, name)(state, **options), Statevector(state).evolve(circuit).data, 1e-14)]


def on_some(method, **more):
    def draw(rng, q):
        from qiskit import QuantumCircuit
        circuit, chosen = QuantumCircuit(q), [int(i) for i in rng.permutation(q)[:int(rng.integers(1, q + 1))]]
        angle = {"angle": float(rng.uniform(-3, 3))} if more else {}
        for i in chosen:
            getattr(circuit, method)(*angle.values(), i)
        return {"qubits": chosen, **angle}, circuit
    return draw


def controlled(rng, q):
    from qiskit import QuantumCircuit
    circuit, order = QuantumCircuit(q), [int(i) for i in rng.permutation(q)]
    controls = order[1:int(rng.integers(2, q + 1))]
    circuit.mcx(controls, order[0])
    return {"control": controls, "target": order[0]}, circuit


gate("hadamard", on_some("h"))
gate("pauli_x", on_some("x"))
gate("phase_gate", on_some("p", angle=True))
gate("cnot", controlled)


@peer("quantum_measurement", "qiskit")
def quantum_measurement(rng):
    from qiskit.quantum_info import Statevector
    q = int(rng.integers(1, 6))
    state = rng.normal(size=2**q) + 1j * rng.normal(size=2**q)
    state /= np.linalg.norm(state)
    chosen = sorted(int(i) for i in rng.permutation(q)[:int(rng.integers(1, q + 1))])
    got = kolmo.quantum_measurement(state, qubits=chosen, probabilities=True, seed=int(rng.integers(1000)))
    want = Statevector(state).probabilities(chosen)
    kept = np.array([sum(((i >> c) & 1) << place for place, c in enumerate(chosen)) == int(got.outcome[0]) for i in range(2**q)])
    collapsed = np.where(kept, state, 0) / np.sqrt(want[int(got.outcome[0])])
    return [Pair(got.probabilities, want, 1e-13), Pair(got.probability, np.array(want[int(got.outcome[0])]), 1e-13), Pair(got.collapsed, collapsed, 1e-13)]
