"""Figures of a network by matplotlib."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from kolmo._kolmo import InvalidArgument

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Document = dict[str, Any]  # what `kolmo network --out` writes


def draw(document: Document, kind: str | None, ax: Axes | None, **options: Any) -> Axes:
    """`kind` is "network", "time", "matrix" or "profiles"; `options` are those of the function of that name."""
    storage = document["options"].get("measure") == "ais"
    kind = kind or ("time" if storage else "network")
    kinds: dict[str, Callable[..., Axes]] = {"network": graph, "time": time_graph, "matrix": matrix, "profiles": profiles}
    if kind not in kinds:
        raise InvalidArgument(f"kind: {kind!r} is none of {', '.join(kinds)}")
    if storage and kind != "time":
        raise InvalidArgument(f"kind: {kind!r} shows links, and measure 'ais' has none; 'time' shows each variable's own past")
    if ax is None:
        import matplotlib.pyplot as plt

        size = max(4.0, min(12.0, 2.5 + 0.35 * len(document["variables"])))
        sizes = {"profiles": (6.4, 4.0), "time": (6.4, 1.2 + 0.45 * len(document["variables"]))}
        ax = plt.subplots(figsize=sizes.get(kind, (size * 1.15, size)), layout="constrained")[1]
    return kinds[kind](document, ax, **options)


def _strength(link: dict[str, Any]) -> float:
    """The bias-corrected value, or the value itself without surrogates."""
    value = link["value"] if link["bias_corrected"] is None else link["bias_corrected"]
    return np.nan if value is None else value


def _shown(document: Document) -> list[dict[str, Any]]:
    """Significant links; all where none was tested."""
    options, links = document["options"], document["links"]
    tested = options.get("surrogates") != 0 or "test" in options
    return [link for link in links if link["significant"] or not tested]


def _lag(document: Document, lag: int) -> str:
    """A lag in rows, or in time where the step between rows is known."""
    step = document.get("time_step")
    return f"{lag * step['step']:.6g} {step['unit']}" if step else str(lag)


def _what(document: Document) -> str:
    corrected = any(link["bias_corrected"] is not None for link in document["links"])
    return f"transfer entropy{', bias-corrected' if corrected else ''} ({document['units']})"


def graph(document: Document, ax: Axes, cmap: str = "viridis_r") -> Axes:
    """Variables on a circle; an arrow for each significant link, its colour and width by strength, with its lag: in rows, or
    in time if the network has `dt`."""
    import matplotlib as mpl

    names = document["variables"]
    links = sorted(_shown(document), key=_strength)
    angle = np.pi / 2 - 2 * np.pi * np.arange(len(names)) / len(names)
    at = np.column_stack([np.cos(angle), np.sin(angle)])
    strengths = np.array([_strength(link) for link in links])
    top = float(np.nanmax(strengths, initial=0)) or 1.0
    scale = mpl.cm.ScalarMappable(mpl.colors.Normalize(0, top), cmap)
    radius = min(0.16, 0.9 * np.pi / max(len(names), 6))
    wide = 1.3 + 0.07 * min(20, max(map(len, names)))  # room for names beside the circle
    ax.set(xlim=(-wide, wide), ylim=(-1.35, 1.35), aspect="equal")
    for link, strength in zip(links, strengths):
        a, b = at[link["source_index"]], at[link["target_index"]]
        share = float(np.clip(np.nan_to_num(strength) / top, 0, 1))
        shrink = radius * 1.1 * 72 * _inches(ax)
        arrow = mpl.patches.FancyArrowPatch(
            a, b, connectionstyle="arc3,rad=0.12", arrowstyle="-|>", mutation_scale=10 + 8 * share,
            linewidth=0.8 + 3 * share, color=scale.to_rgba(strength), shrinkA=shrink, shrinkB=shrink)
        ax.add_patch(arrow)
        if len(links) <= 40:
            d = b - a
            bend = (a + b) / 2 + 0.12 * np.array([d[1], -d[0]])  # the arc's control point
            ax.annotate(_lag(document, link["lag"]), 0.36 * a + 0.48 * bend + 0.16 * b, fontsize=8, ha="center", va="center",
                        bbox={"boxstyle": "round,pad=0.15", "facecolor": ax.get_facecolor(), "edgecolor": "none"})
    for name, (x, y) in zip(names, at):
        ax.add_patch(mpl.patches.Circle((x, y), radius, facecolor="white", edgecolor="0.25", linewidth=1.2, zorder=3))
        ax.annotate(name, (x * (1 + 1.6 * radius), y * (1 + 1.6 * radius)), zorder=4, fontsize=9,
                    va="center", ha="center" if abs(x) < 0.3 else "left" if x > 0 else "right")
    ax.set_axis_off()
    if links:
        ax.figure.colorbar(scale, ax=ax, label=_what(document), shrink=0.7)
    else:
        ax.set_title("no significant link", fontsize=10)
    return ax


def time_graph(document: Document, ax: Axes, cmap: str = "viridis_r") -> Axes:
    """Variables at lags, from left to right in time, and an arrow to the next value for each lag of a significant link: every lag
    that was chosen, or of a pairwise network the strongest. Grey arrows are of the target's own past, where that was chosen."""
    import matplotlib as mpl

    names, links = document["variables"], sorted(_shown(document), key=_strength)
    arrows: list[tuple[int, int, int, Document | None]] = [
        (target["target_index"], target["target_index"], past["lag"], None)
        for target in document["targets"] for past in target.get("own_past", [])]
    arrows += [(link["source_index"], link["target_index"], lag, link) for link in links for lag in link.get("lags") or [link["lag"]]]
    oldest = max([arrow[2] for arrow in arrows], default=1)
    top = float(np.nanmax(np.array([_strength(link) for link in links]), initial=0)) or 1.0
    scale = mpl.cm.ScalarMappable(mpl.colors.Normalize(0, top), cmap)
    for lag in range(oldest + 1):
        ax.plot([-lag] * len(names), range(len(names)), "o", color="0.6" if lag else "0.1", markersize=4 if lag else 7, zorder=3)
    for source, target, lag, link in arrows:
        share = float(np.clip(np.nan_to_num(_strength(link)) / top, 0, 1)) if link else 0.0
        ax.add_patch(mpl.patches.FancyArrowPatch(
            (-lag, source), (0, target), connectionstyle=f"arc3,rad={-0.15 if source == target or not lag else 0}", arrowstyle="-|>",
            mutation_scale=9 + 6 * share, linewidth=0.8 + 2.5 * share, color=scale.to_rgba(np.array(_strength(link))) if link else "0.7",
            shrinkA=2, shrinkB=5))
    ax.set_yticks(range(len(names)), names)
    ax.set_xticks(range(-oldest, 1), [*(_lag(document, -lag) for lag in range(oldest, 0, -1)), "next"])
    ax.set(xlim=(-oldest - 0.3, 0.3), ylim=(len(names) - 0.5, -0.7), xlabel="rows" if "time_step" not in document else None)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    if links:
        ax.figure.colorbar(scale, ax=ax, label=_what(document))
    elif document["links"]:
        ax.set_title("no significant link", fontsize=10)
    return ax


def _inches(ax: Axes) -> float:
    """Inches of a unit of the axes."""
    box = ax.get_window_extent()
    return float(min(box.width / np.ptp(ax.get_xlim()), box.height / np.ptp(ax.get_ylim())) / ax.figure.dpi)


def matrix(document: Document, ax: Axes, cmap: str = "viridis") -> Axes:
    """Strength by source (row) and target (column); dots mark significant links."""
    names = document["variables"]
    grid = np.full((len(names), len(names)), np.nan)
    for link in document["links"]:
        grid[link["source_index"], link["target_index"]] = _strength(link)
    image = ax.imshow(grid, cmap=cmap, vmin=min(0.0, np.nanmin(grid, initial=0)))
    links = [link for link in document["links"] if link["significant"]]
    rows, columns = [link["source_index"] for link in links], [link["target_index"] for link in links]
    ax.plot(columns, rows, "o", color="white", markeredgecolor="0.2", markersize=5)
    ticks = range(len(names))
    slanted: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if max(map(len, names)) > 3 else {}
    ax.set_xticks(ticks, names, **slanted)
    ax.set_yticks(ticks, names)
    ax.set(xlabel="target", ylabel="source")
    if len(rows):
        ax.set_title("o: significant", fontsize=10, loc="right")
    ax.figure.colorbar(image, ax=ax, label=_what(document), shrink=0.85)
    return ax


def profiles(document: Document, ax: Axes, links: list[tuple[str, str]] | None = None, most: int = 8) -> Axes:
    """Values by lag of the given pairs (source, target), by default of the `most` strongest links; a dot marks the
    largest, and a dashed line the 95 % quantile of the surrogates of it."""
    pairs = {(link["source"], link["target"]): link for link in document["links"]}
    if links is None:
        chosen = sorted(_shown(document), key=_strength, reverse=True)[:most]
    else:
        missing = [pair for pair in links if pair not in pairs]
        if missing:
            raise InvalidArgument(f"links: there is no link {missing[0]!r}")
        chosen = [pairs[pair] for pair in links]
    step = document.get("time_step")
    scale = step["step"] if step else 1
    for link in chosen:
        lags = [point["lag"] * scale for point in link["profile"]]
        values = [np.nan if point["value"] is None else point["value"] for point in link["profile"]]
        line, = ax.plot(lags, values, label=f"{link['source']} \N{RIGHTWARDS ARROW} {link['target']}")
        ax.plot(link["lag"] * scale, link["value"], "o", color=line.get_color())
        if link["surrogate_q95"] is not None:
            ax.axhline(link["surrogate_q95"], color=line.get_color(), linestyle="--", linewidth=0.8, alpha=0.6)
    if scale == 1:
        ax.locator_params(axis="x", integer=True)
    ax.set(xlabel=f"lag ({step['unit'] if step else 'rows'})", ylabel=f"transfer entropy ({document['units']})")
    if chosen:
        ax.legend(fontsize=8)
    else:
        ax.set_title("no significant link", fontsize=10)
    return ax
