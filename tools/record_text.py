"""The text of a record under version control, as kolmo/io/record_text.hpp writes it: the members of its three outer levels stand on
lines of their own, what is deeper on one line, and so does a container of plain values."""
import json


def record_text(value, level: int = 0) -> str:
    members = list(value.values()) if isinstance(value, dict) else value
    flat = not isinstance(value, (dict, list)) or not any(isinstance(member, (dict, list)) for member in members)
    if level >= 4 or not isinstance(value, (dict, list)) or (level and flat):
        return json.dumps(value, separators=(",", ":"))
    keys = [json.dumps(key) + ": " for key in value] if isinstance(value, dict) else [""] * len(value)
    lines = [" " * (level + 1) + key + record_text(member, level + 1) for key, member in zip(keys, members, strict=True)]
    first, last = "{}" if isinstance(value, dict) else "[]"
    text = first + "\n" + ",\n".join(lines) + "\n" + " " * level + last
    return text if level else text + "\n"
