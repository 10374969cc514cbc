"""Threads that work and wait. Prints of each its region, the processor time inside it and the
time that went by around it, less what it slept in it, in ns."""

import threading
import time

from parallax_recorder import region, waiting

printed = {}


def run(name):
    processor = outside = 0
    for _ in range(20):
        begin = time.monotonic_ns()
        with region(name):
            before = time.thread_time_ns()
            end = time.monotonic_ns() + 500_000
            while time.monotonic_ns() < end:
                pass
            processor += time.thread_time_ns() - before
            time.sleep(0.001)
        outside += time.monotonic_ns() - begin - 1_000_000
        time.sleep(0.001)
        with waiting("others"):
            end = time.monotonic_ns() + 100_000
            while time.monotonic_ns() < end:
                pass
    printed[name] = f"{name} {processor} {outside}"


with region("team"):
    threads = [threading.Thread(target=run, args=(f"kernel-{i}",)) for i in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
for line in printed.values():
    print(line)
