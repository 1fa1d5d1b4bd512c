"""Clients that hold connections, and clients that ask without end: nobody waits for them, least of all the job."""
import concurrent.futures
import math
import os
import re
import socket
import statistics
import subprocess
import time
import unittest
import urllib.request
from pathlib import Path

from serving import KOLMO, Serving, fetch

SLOW = 500


def connect(url, first=b""):
    host, port = re.match(r"http://(.+):(\d+)/", url).groups()
    connection = socket.create_connection((host, int(port)), timeout=20)
    connection.sendall(first)
    return connection


def ask(url, request):
    """Sends a raw request; returns the head and the body of the answer."""
    with connect(url, request) as connection:
        answer = b""
        while piece := connection.recv(1 << 16):
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    return head.decode(), body


def thread_seconds(pid):
    """Processor time of the thread that serves, and of all others together."""
    served, others = None, 0.0
    for task in Path(f"/proc/{pid}/task").iterdir():
        seconds = int((task / "schedstat").read_text().split()[0]) * 1e-9
        if (task / "comm").read_text().strip() == "kolmo-metrics":
            served = seconds
        else:
            others += seconds
    if served is None:
        raise AssertionError("no thread serves")
    return served, others


def server_seconds(pid):
    return thread_seconds(pid)[0]


def voluntary_waits(pid):
    """How often the threads other than the one that serves, and those that only wait for the time, gave up the processor."""
    count = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        if not (task / "comm").read_text().startswith("kolmo-"):
            count += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", (task / "status").read_text(), re.M)[1])
    return count


def lower_bound(values):
    """A lower bound of the median with at least 95 % confidence: the order statistic of the sign test."""
    n, tail, k = len(values), 0.0, 0
    while (tail := tail + math.comb(n, k) / 2**n) <= 0.025:
        k += 1
    return sorted(values)[k - 1]


class Job(unittest.TestCase):
    """The time of a job is that of its own threads' work, which counts by itself, and the time that they wait. Viewers
    load the machine too, so that they are compared with the same viewers of another process."""

    def test_its_work_takes_as_long_with_viewers_as_without(self):
        job = ("vector_add", "--case", "n=1000", "--device", "cpu", "--threads", "1")
        with Serving(*job) as served, Serving(*job) as other:
            pid = served.process.pid

            def state():
                time.sleep(0.1)  # longer than an answer is kept, so that this one is made now
                text = fetch(served.url + "metrics")[0]
                launches = re.findall(r"^kolmo_kernel_launches_total\S* (\S+)$", text, re.M)
                return sum(map(float, launches)), thread_seconds(pid)[1], voluntary_waits(pid)

            def window(seen):
                held, begin, launches = [], state(), 0
                last = time.monotonic() + 60
                while launches == 0:  # where other work keeps the processors, it takes longer
                    end = time.monotonic() + 0.4
                    while time.monotonic() < end:
                        while len(held) < SLOW // 5:
                            held.append(connect(seen.url, b"GET / HTTP/1.1\r\nX: "))
                        held.pop(0).close()
                        fetch(seen.url + "api/v1/snapshot?curves=1")
                    launches, seconds, waits = (b - a for a, b in zip(begin, state()))
                    self.assertLess(time.monotonic(), last, "the job does nothing")
                while held:
                    held.pop().close()
                return seconds / launches, waits / launches

            for process in (served, other):
                process.snapshot(lambda s: s["kernel"] and s["kernel"][0].get("launches_per_second", 0) > 0)
                window(process)
            pairs = []
            for i in range(12):
                order = (other, served) if i % 2 else (served, other)
                took = {process: window(process) for process in order}
                pairs.append((took[other], took[served]))
            ratios = [watched[0] / alone[0] for alone, watched in pairs]
            self.assertLess(lower_bound(ratios), 1.05, f"processor time of a launch with viewers over that without: {ratios}")
            waits = [watched[1] - alone[1] for alone, watched in pairs]
            self.assertLess(lower_bound(waits), 1e-3, f"waits a launch with viewers, less those without: {waits}")


class SlowConnections(unittest.TestCase):
    def test_they_hold_neither_a_scrape_nor_the_job(self):
        with Serving("vector_add", "--case", "n=1000", "--device", "cpu", "--threads", "1") as served:
            def scrape():
                asked = time.monotonic()
                self.assertIn("kolmo_build_info", fetch(served.url + "metrics")[0])
                return time.monotonic() - asked

            alone = statistics.median(scrape() for _ in range(9))  # takes long on a machine with other work
            begin, before = time.monotonic(), server_seconds(served.process.pid)
            beginnings = (b"", b"G", b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ", b"GET / HTTP/1.1\r\n")
            for i in range(SLOW):
                self.addCleanup(connect(served.url, beginnings[i % 4]).close)
            waits = []
            for _ in range(20):
                waits.append(scrape())
                time.sleep(0.1)
            self.assertLess(statistics.median(waits), 1 + 5 * alone)
            took = server_seconds(served.process.pid) - before
            a_connection = 0.5e-3  # seconds to accept, look at and close a connection
            self.assertLess(took, 0.05 * (time.monotonic() - begin) + SLOW * a_connection)
            sockets = [os.readlink(f) for f in Path(f"/proc/{served.process.pid}/fd").iterdir()]
            self.assertLess(sum(name.startswith("socket:") for name in sockets), 180, "the job keeps its descriptors")

    def test_the_job_ends_with_its_work(self):
        done = subprocess.Popen([KOLMO, "serve", "--seconds", "2", "--metrics", "0"], stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)
        url = re.search(r"metrics at (http://\S+)", done.stderr.readline())[1]
        held = [connect(url, b"GET /metrics HTTP/1.1\r\n") for _ in range(100)]
        self.assertEqual(done.wait(timeout=60), 0)
        done.stderr.close()
        for connection in held:
            try:
                self.assertEqual(connection.recv(1), b"", "cut")
            except ConnectionResetError:
                pass
            connection.close()

    def test_a_request_has_a_deadline_however_steadily_it_comes(self):
        with Serving() as served, connect(served.url, b"GET / HTTP/1.1\r\nX: ") as connection:
            connection.settimeout(0.2)
            begin, ended = time.monotonic(), False
            while not ended and time.monotonic() < begin + 120:
                try:
                    connection.sendall(b"x")
                    ended = connection.recv(1) == b""
                except TimeoutError:
                    pass
                except OSError:
                    ended = True
            self.assertTrue(ended)

    def test_sixteen_that_ask_without_end(self):
        with Serving() as served:
            def scrape(_):
                request = urllib.request.Request(served.url + "metrics", headers={"Connection": "keep-alive"})
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return len(answer.read())

            self.assertIn('{component="scrape"} 0\n', fetch(served.url + "metrics")[0], "the first answer")
            begin = time.monotonic()
            with concurrent.futures.ThreadPoolExecutor(16) as pool:
                self.assertTrue(all(pool.map(scrape, range(400))))
            collected = re.findall(r'^kolmo_monitor_overhead_seconds_total{component="scrape"} (\S+)$',
                                   fetch(served.url + "metrics")[0], re.M)
            self.assertEqual(len(collected), 1)
            a_first_answer = 0.1  # seconds of an answer that was made before the clock began
            self.assertLess(float(collected[0]), a_first_answer + 0.1 * (time.monotonic() - begin))


class Requests(unittest.TestCase):
    def test_what_is_not_answered(self):
        with Serving() as served:
            port = served.url.split(":")[2].strip("/")

            def status(request):
                return int(ask(served.url, request.replace("PORT", port).encode())[0].split()[1])

            own = "Host: 127.0.0.1:PORT\r\n\r\n"
            self.assertEqual(status("GET / HTTP/1.1\r\n" + own), 200)
            self.assertEqual(status("GET /nothing HTTP/1.1\r\n" + own), 404)
            for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"):
                self.assertEqual(status(f"{method} /metrics HTTP/1.1\r\n" + own), 405, method)
            for method in ("BREW", "get", "GETT"):
                self.assertEqual(status(f"{method} /metrics HTTP/1.1\r\n" + own), 501, method)
            self.assertEqual(status("POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n" + own + "abc"), 405, "with a body")
            for host in ("localhost:PORT", "localhost", "[::1]:PORT", "127.0.0.1"):
                self.assertEqual(status(f"GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n"), 200, host)
            for host in ("evil.example", "evil.example:PORT", "127.0.0.1.evil.example:PORT", "[::1].evil", ":", "[]"):
                self.assertEqual(status(f"GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n"), 421, host)
            self.assertEqual(status("GET /metrics HTTP/1.1\r\n\r\n"), 400, "no host")
            self.assertIn(status("GET /metrics HTTP/1.1\r\nX: " + "x" * 20000 + "\r\n" + own), (400, 413, 431))
            self.assertIn("\r\nAllow: GET, HEAD", ask(served.url, b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")[0])

    def test_ranges_are_not_looked_at_and_head_has_no_body(self):
        with Serving() as served:
            ranges = ",".join(f"0-{i}" for i in range(400))
            head, body = ask(served.url, f"GET / HTTP/1.1\r\nHost: localhost\r\nRange: bytes={ranges}\r\n\r\n".encode())
            self.assertTrue(head.startswith("HTTP/1.1 200"))
            self.assertEqual(body, fetch(served.url)[0].encode())
            head, body = ask(served.url, b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertTrue(head.startswith("HTTP/1.1 200"))
            self.assertEqual(body, b"")

    def test_no_page_may_frame_it(self):
        with Serving() as served:
            policy = fetch(served.url)[1]["Content-Security-Policy"]
            self.assertIn("frame-ancestors 'none'", policy)


if __name__ == "__main__":
    unittest.main()
