"""The series that are measured: seeded, standardised beforehand and given to every arm, so that all of them estimate the
same thing from the same numbers."""
import numpy as np

SEED = 20240229


def standardised(columns):
    return (columns - columns.mean(axis=0)) / columns.std(axis=0, ddof=1)


def driven_pair(n: int):
    """[n, 2]: white x, and y_t = 0.5 y_{t-1} + 0.6 x_{t-1} + 0.8 noise."""
    noise = np.random.default_rng([SEED, n]).standard_normal((n, 2))
    y = 0.0
    for t in range(n):
        y = 0.5 * y + 0.8 * noise[t, 1] + (0.6 * noise[t - 1, 0] if t else 0.0)
        noise[t, 1] = y
    return standardised(noise)


def simultaneous(pair):
    """[n - 1, 2]: x_{t-1} beside the y_t that it drives."""
    return standardised(np.column_stack((pair[:-1, 0], pair[1:, 1])))


def ring(variables: int, n: int = 1000):
    """[n, variables]: each variable drives the next one around a ring."""
    values = 0.8 * np.random.default_rng([SEED, variables, n]).standard_normal((n, variables))
    for t in range(1, n):
        values[t] += 0.5 * values[t - 1] + 0.3 * np.roll(values[t - 1], 1)
    return standardised(values)
