"""Records of what passed a check: a JSON file that is committed holds for each name the hash of the sources with which it passed, so
that the check is repeated only for what changed since."""
import json
import threading
from pathlib import Path


class Passed:
    def __init__(self, file: Path, now: dict[str, str]):
        """`now` holds the hashes of the sources as they are; other names in the file are forgotten."""
        self._file, self._now, self._writing = file, now, threading.Lock()
        kept = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
        self._kept = {name: sources for name, sources in kept.items() if name in now}
        self.pending = [name for name, sources in now.items() if self._kept.get(name) != sources]

    def note(self, name: str, good: bool) -> None:
        """Called after each, so that an interrupted check keeps what passed."""
        with self._writing:
            self._kept.pop(name, None)
            if good:
                self._kept[name] = self._now[name]
            self._file.write_text(json.dumps(self._kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")
