"""Results as small HTML tables, for notebooks."""
from __future__ import annotations

from html import escape
from typing import Any

MOST = 20


def p_text(p: float | None, at_floor: bool) -> str:
    """The p-value with 3 digits; one that no surrogate reached is a bound."""
    return "" if p is None or p != p else f"{'&le; ' if at_floor else ''}{p:.3g}"


def _row(cells: list[Any], tag: str = "td") -> str:
    return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"


def _warnings(found: Any) -> str:
    return "".join(f"<p><b>{escape(name)}</b>: {escape(text)}</p>" for name, text in found)


def estimate_html(document: dict[str, Any], warnings: Any) -> str:
    """The object that ``kolmo mi --json`` and the like print."""
    d = document
    head, row = ["measure", escape(d["units"])], [escape(d["measure"]), f"{d['value']:.6g}"]
    if d["test"]:
        head.append("p-value")
        row.append(p_text(d["p_value"], d["p_at_floor"]))
    if d["surrogates"]:
        corrected, deviation = d["value"] - d["surrogate_mean"], d["surrogate_std"] or 0
        head += ["bias-corrected", "z", "surrogates"]
        row += [f"{corrected:.4g}", f"{corrected / deviation:.3g}" if deviation > 0 else "nan", d["surrogates"]]
    head.append("samples")
    row.append(d["samples"])
    return f"<table><thead>{_row(head, 'th')}</thead><tbody>{_row(row)}</tbody></table>{_warnings(warnings)}"


def _storage_html(d: dict[str, Any]) -> str:
    """The own past of each variable, of a network of measure "ais"."""
    head, rows = ["variable", "lags", escape(d["units"]), "p-value"], []
    for t in d["targets"]:
        lags = ", ".join(str(lag) for lag in sorted(past["lag"] for past in t["own_past"]))
        value = t["active_information_storage"]
        rows.append(_row([escape(t["target"]), lags or "none", "" if value is None else f"{value:.4g}", p_text(t["p_value"], t["p_at_floor"])]))
    stored = sum(bool(t["own_past"]) for t in d["targets"])
    return (f"<p>own past of {stored} of {len(rows)} variables significant at alpha = {d['options'].get('alpha')}</p>"
            f"<table><thead>{_row(head, 'th')}</thead><tbody>{''.join(rows)}</tbody></table><p><i>{escape(d['caution'])}</i></p>")


def network_html(document: dict[str, Any], warnings: Any) -> str:
    """The document that ``kolmo network --out`` writes."""
    d = document
    if d["options"].get("measure") == "ais":
        return _storage_html(d) + _warnings(warnings)
    tested = d["options"].get("surrogates") != 0 or "test" in d["options"]
    links = [link for link in d["links"] if link["significant"] or not tested]
    links.sort(key=lambda link: -(link["value"] if link["value"] is not None else float("-inf")))
    head = ["source", "target", "lag", escape(d["units"])] + (["p-value", "adjusted"] if tested else [])
    rows = []
    for link in links[:MOST]:
        row = [escape(link["source"]), escape(link["target"]), link["lag"], f"{link['value']:.4g}"]
        if tested:
            row += [p_text(link["p_value"], link["p_at_floor"]), f"{link['p_adjusted']:.3g}"]
        rows.append(_row(row))
    what = (f"{len(links)} of {len(d['links'])} links significant at alpha = {d['options'].get('alpha')}, correction "
            f"{escape(str(d['options'].get('correction')))}" if tested else f"{len(links)} links, none of them tested")
    if len(links) > MOST:
        what += f"; the {MOST} largest"
    return (f"<p>{what}</p><table><thead>{_row(head, 'th')}</thead><tbody>{''.join(rows)}</tbody></table>"
            f"<p><i>{escape(d['caution'])}</i></p>{_warnings(warnings)}")
