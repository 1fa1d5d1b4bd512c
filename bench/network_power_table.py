"""The table of docs/surrogates.md, from the record of bench/network_power.py."""


def network_power(record: dict) -> str:
    lines = ["| network | options | links found | true ones among them | surrogates of a link | smallest p of a true one |", "|---|---|---|---|---|---|"]
    for r in record["runs"]:
        system, rows = r["system"].replace("--rows ", "rows ").rsplit(" rows ", 1)
        options = f"`{r['options']}`" if r["options"] else "none: lags 1 to 5"
        name = "ring of 20" if system.startswith("ring") else "`var`, 100 variables"
        rows += " rows" if r.get("device", record["device"]) == record["device"] else f" rows, on a {r['device'].upper()}"
        lines.append(f"| {name}, {rows} | {options} | {r['significant']} | "
                     f"{r['true_and_significant']} of {r['true']} | {r['surrogates_a_link']:.0f} | {r['smallest_p']:.2g} |")
    return "\n".join(lines) + "\n"
