"""How often an arm is measured, with how many surrogates, and when it is skipped: from what it took at smaller sizes."""
import math


def repeats(first_sample: float) -> int:
    """How many calls to make in all, after a first one of so many seconds."""
    for most, calls in ((0.1, 15), (0.5, 7), (1.5, 5), (6, 3)):
        if first_sample < most:
            return calls
    return 1


def predicted(known: dict[int, float], size: int):
    """Seconds at `size` by the power law through the two largest of the sizes measured; None if none was."""
    if not known:
        return None
    sizes = sorted(known)[-2:]
    exponent = 1.5
    if len(sizes) == 2:
        exponent = math.log(known[sizes[1]] / known[sizes[0]]) / math.log(sizes[1] / sizes[0])
    return known[sizes[-1]] * (size / sizes[-1]) ** min(max(exponent, 1.0), 2.0)


def affordable_surrogates(wanted: int, each: float, budget: float, lanes: int, limit: float) -> int:
    """Surrogates to make in one call, 0 for none at all. Fewer than wanted fill whole vectors of `lanes` together with
    the observed estimate, as many would; a peer makes at least two."""
    if wanted * each <= budget:
        return wanted
    fewest = max(lanes - 1, 2)
    count = max(int(budget / each) // lanes * lanes - (lanes > 1), fewest)
    return count if count * each <= limit else 0
