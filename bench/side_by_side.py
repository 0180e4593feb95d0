# SPDX-License-Identifier: Apache-2.0
"""What the comparisons share: both sides take turns in one run, medians with their spread, one
Markdown table. A side is a function that runs once and returns a rate; a case compares one or two.
"""

import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scripts"))

import io_document  # noqa: E402  (needs the path above)

GIB = 1024.0 ** 3


class SideFailed(Exception):
    """One run of one side failed; the text says why."""


class Case:
    """One row: a title, the unit of the rates, two sides (name, function), the ratio aimed at
    (second over first) and the rate aimed at for the second; either may be None."""

    def __init__(self, title, unit, first, second, ratio=None, rate=None):
        self.title, self.unit = title, unit
        self.sides = [s for s in (first, second) if s]
        self.ratio, self.rate = ratio, rate
        self.values = {name: [] for name, _ in self.sides}
        self.failure = {}


def command(arguments, limit_s):
    """Runs a command; its stdout, or SideFailed with its last words."""
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=limit_s,
                              check=False, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as late:
        raise SideFailed(f"did not end within {limit_s} s: {' '.join(arguments)}") from late
    if done.returncode != 0:
        words = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        raise SideFailed(f"exit {done.returncode}: {words[0]}")
    return done.stdout


def tool_rate(tool, arguments, unit, limit_s=120):
    """One run of `penstock io`: GiB/s or IOPS of its measured window."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "run.json")
        command([tool, "io", *arguments, "--json", report], limit_s)
        run = io_document.summary(io_document.load(report))
    return run["gib_per_s"] if unit == "GiB/s" else run["iops"]


def measure(cases, rounds):
    """Takes turns: each round runs every side of a case, in turned order each time. The round
    before the first warms up and does not count."""
    for case in cases:
        for turn in range(-1, rounds):
            sides = case.sides if turn % 2 == 0 else list(reversed(case.sides))
            for name, run in sides:
                if name in case.failure:
                    continue
                try:
                    value = run()
                except (SideFailed, io_document.DocumentError) as failure:
                    case.failure[name] = str(failure)
                    continue
                if turn >= 0:
                    case.values[name].append(value)
        print(f"  {case.title}: done", file=sys.stderr)


def shown(case, name):
    if name in case.failure:
        return "failed"
    values = case.values[name]
    digits = 2 if case.unit == "GiB/s" else 0
    middle = statistics.median(values)
    return f"{middle:,.{digits}f} ({min(values):,.{digits}f} .. {max(values):,.{digits}f})"


def verdict(case):
    """(ratio as text, aim as text, met or None)."""
    names = [name for name, _ in case.sides]
    if any(name in case.failure for name in names):
        return "n/a", aim(case), False
    medians = [statistics.median(case.values[name]) for name in names]
    ratio = medians[-1] / medians[0] if len(medians) == 2 and medians[0] > 0 else None
    met = None
    if case.ratio is not None:
        met = ratio is not None and ratio >= case.ratio
    if case.rate is not None:
        met = medians[-1] >= case.rate and met is not False
    return ("n/a" if ratio is None else f"{ratio:.3f}"), aim(case), met


def aim(case):
    parts = []
    if case.ratio is not None:
        parts.append(f"ratio {case.ratio:.2f}")
    if case.rate is not None:
        parts.append(f"{case.rate:g} {case.unit}")
    return ", ".join(parts) or "none"


def table(cases, rounds, notes):
    """The Markdown table with what it was measured on. Returns whether every aim was met."""
    print(f"{rounds} rounds, sides in turn; median (lowest .. highest)")
    print(f"machine: {processor()}, {os.cpu_count()} CPUs, Linux {platform.release()}")
    for note in notes:
        print(note)
    print("\n| Case | Unit | First | Second | Second / first | Aim | Met |")
    print("|---|---|---|---|---|---|---|")
    all_met = True
    for case in cases:
        names = [name for name, _ in case.sides]
        cells = [f"{name}: {shown(case, name)}" for name in names]
        if len(cells) == 1:
            cells.insert(0, "none")
        ratio, aimed, met = verdict(case)
        all_met = all_met and met is not False
        said = {True: "yes", False: "no", None: "n/a"}[met]
        print(f"| {case.title} | {case.unit} | {cells[0]} | {cells[1]} | {ratio} | {aimed} | {said} |")
    for case in cases:
        for name, why in case.failure.items():
            print(f"\n{case.title}, {name}: {why}")
    return all_met


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        for line in f:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def find_tool(given):
    tool = os.path.abspath(given or os.path.join(ROOT, "build", "tools", "penstock"))
    if not os.access(tool, os.X_OK):
        sys.exit(f"bench: '{tool}' is not there; build with "
                 "`meson setup build && ninja -C build`, or name it with --tool")
    return tool


def prepare(tool, folder, size_bytes):
    """A file of incompressible bytes, written by the tool. The folder is the caller's to remove."""
    free = shutil.disk_usage(folder).free
    if free < size_bytes + (64 << 20):
        sys.exit(f"bench: '{folder}' has {free >> 20} MiB free, "
                 f"{(size_bytes >> 20) + 64} MiB are needed")
    path = os.path.join(folder, "data")
    try:
        command([tool, "io", "-f", path, "-x", "1", "-I", "1", "-w", "4", "-s", str(size_bytes),
                 "-i", "1M", "-R", "-F"], 600)
    except SideFailed as failure:
        sys.exit(f"bench: cannot prepare '{path}': {failure}")
    os.sync()
    return path
