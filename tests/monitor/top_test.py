"""kolmo top in a terminal, and with answers that are no snapshots."""
import contextlib
import fcntl
import http.server
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import threading
import time
import unittest

from serving import KOLMO

SNAPSHOT = {
    "kolmo_version": "1", "pid": 7, "time": 1e9, "cpu": [{"model": "A", "cores": "2", "busy_ratio": {"machine": 0.5}}],
    "gpu": [{"gpu": str(i), "uuid": f"u{i}", "busy_ratio": 0.25, "memory_used_bytes": 1.25 * 2**30} for i in range(3)],
    "kernel": [{"kernel": f"op_{i:02}", "device": "cpu", "launches_total": i, "busy_seconds_per_second": i / 100} for i in range(40)],
    "pool": [{"pool": "idle", "peak_bytes": 0, "reserved_bytes": 0}], "pipeline": [], "monitor": [],
    "tuner": [{"kernel": f"untouched_{i}", "lookups_total": {"hit": 0, "miss": 0}} for i in range(16)],
}


@contextlib.contextmanager
def answering(body):
    """Starts a server that answers everything with these bytes; returns its address."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def once(body):
    with answering(body) as address:
        return subprocess.run([KOLMO, "top", address, "--once"], capture_output=True, text=True, timeout=60)


class Answers(unittest.TestCase):
    def test_what_is_no_snapshot_is_an_error(self):
        for body in (b"", b"{}", b"[]", b"3", b"not json", b"[" * 300_000, b'{"kolmo_version"'):
            shown = once(body)
            self.assertIn(shown.returncode, (1, 2), (body[:20], shown.stderr))
            self.assertEqual(shown.stderr.count("\n"), 1)

    def test_mistyped_members_are_left_out(self):
        wrong = (None, 3, "x", [], {}, [[]], [None, 4, "s"], {"a": [1]}, -1e308)
        for value in wrong:
            shown = once(json.dumps({key: value for key in SNAPSHOT}).encode())
            self.assertEqual(shown.returncode, 0, (value, shown.stderr))
        shown = once(json.dumps({key: [{"gpu": 1, "kernel": {}, "busy_ratio": "x", "throttled": {"a": 1, "b": "c"}, "launches_total": "3"}]
                                 for key in SNAPSHOT}).encode())
        self.assertEqual(shown.returncode, 0, shown.stderr)

    def test_nothing_commands_the_terminal(self):
        evil = "\x1b]0;title\x07\x1b[2J\x9b31m\u202e"
        shown = once(json.dumps({**SNAPSHOT, "kolmo_version": evil, "kernel": [{"kernel": evil, "device": evil}],
                                 "gpu": [{"gpu": evil, "model": evil, "throttled": {evil: 1}}]}).encode())
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertEqual(re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown.stdout), [])

    def test_rows_in_which_nothing_happened_are_left_out(self):
        shown = once(json.dumps(SNAPSHOT).encode()).stdout
        self.assertNotIn("untouched", shown)
        self.assertNotIn("idle", shown)
        self.assertNotIn("op_00", shown)
        self.assertIn("1.25 GiB", shown)


class Terminal:
    """Runs kolmo top in a terminal of this size."""

    def __init__(self, address, rows, columns):
        self.process, self.master = pty.fork()
        if self.process == 0:
            os.execve(KOLMO, [KOLMO, "top", address, "--interval", "0.2"], {**os.environ, "TERM": "xterm", "NO_COLOR": "1"})
        self.resize(rows, columns)
        self.output = b""

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys):
        os.write(self.master, keys)

    def until(self, condition, seconds=60):
        """Reads until a whole screen fulfils the condition, and gives its lines."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([self.master], [], [], 0.2)[0]:
                try:
                    self.output += os.read(self.master, 1 << 16)
                except OSError:  # the process has ended
                    break
            *_, last = [b"", *re.findall(rb"\x1b\[H(.*?)\x1b\[J", self.output, re.S)]
            lines = last.decode("utf-8", "replace").replace("\x1b[K", "").replace("\r", "").split("\n")
            if condition(lines):
                return lines
        raise AssertionError(f"not seen: {self.output[-3000:]!r}")

    def end(self):
        """Waits for the end; returns the exit status, and what was written last."""
        while True:
            try:
                piece = os.read(self.master, 1 << 16)
            except OSError:
                piece = b""
            if not piece:
                break
            self.output += piece
        os.close(self.master)
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


class Interactive(unittest.TestCase):
    def test_it_fits_scrolls_sorts_and_quits(self):
        with answering(json.dumps(SNAPSHOT).encode()) as address:
            top = Terminal(address, 24, 80)
            lines = top.until(lambda s: len(s) == 24 and any("op_39" in line for line in s))
            self.assertTrue(lines[1].startswith("cpu") and lines[2].startswith("gpu 0"), "devices come first")
            self.assertLessEqual(max(map(len, lines)), 80)
            top.press(b"\x1b[6~")
            top.until(lambda s: any("op_20" in line for line in s) and not any("op_39" in line for line in s))
            top.press(b"g")
            top.until(lambda s: any("op_39" in line for line in s))
            top.press(b"r")
            top.until(lambda s: any("op_01" in line for line in s) and "reversed" in s[-1])
            top.press(b"s")
            top.until(lambda s: "sort: per second" in s[-1])
            for rows, columns in ((50, 200), (6, 25), (2, 5), (1, 1), (24, 80)):
                top.resize(rows, columns)
                lines = top.until(lambda s: len(s) == rows and max(map(len, s)) <= columns)
            top.until(lambda s: len(s) == 24)
            top.press(b"q")
            self.assertEqual(top.end(), 0)
            self.assertTrue(top.output.endswith(b"\x1b[?25h\x1b[?1049l"), "the terminal is as before")

    def test_a_signal_restores_the_terminal(self):
        with answering(json.dumps(SNAPSHOT).encode()) as address:
            top = Terminal(address, 24, 80)
            top.until(lambda s: len(s) == 24)
            top.press(b"\x03")  # Ctrl-C
            self.assertEqual(top.end(), 130)
            self.assertIn(b"\x1b[?25h\x1b[?1049l", top.output)

    def test_a_process_that_is_gone_is_said_to_be(self):
        with answering(json.dumps(SNAPSHOT).encode()) as address:
            top = Terminal(address, 24, 80)
            top.until(lambda s: len(s) == 24)
        top.until(lambda s: s[-1].startswith("Old:"))
        top.press(b"q")
        self.assertEqual(top.end(), 0)


if __name__ == "__main__":
    sys.exit(unittest.main())
