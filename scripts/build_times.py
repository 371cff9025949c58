#!/usr/bin/env python3
"""Where the time of a build went: by room, by kind of step, and the longest steps.

    scripts/build_times.py [BUILD] [--top N]

Reads what ninja noted of each step that made a file which is there now. Times are those of the clock on the wall, of a step by
itself, so two on two cores count twice; what a compiler cache gave is as short as it took (CCACHE_DISABLE=1 builds without one).
Of a build that was configured with -DCMAKE_CXX_FLAGS=-ftime-trace (clang) it tells, too, how much of each room's compilation
was parsing and instantiation, and how much was optimisation and code.
"""

import argparse
import collections
import json
import pathlib
import re
import sys


def steps_of(build):
    """Seconds by file, relative to the build directory, of the last step that made it."""
    log = build / ".ninja_log"
    if not log.exists():
        sys.exit(f"build_times.py: error: {build} has no .ninja_log; name the directory of a build by ninja")
    seconds = {}
    for line in log.read_text().splitlines()[1:]:
        start, end, _, file, _ = line.split("\t")
        path = pathlib.Path(file)
        if path.is_absolute():
            try:
                path = path.relative_to(build.resolve())
            except ValueError:
                continue
        if (build / path).exists():
            seconds[str(path)] = (int(end) - int(start)) / 1000
    return seconds


def kind_of(file):
    if file.endswith((".o", ".pch")):
        return "Verilated models" if "verilated" in file or "_model.dir" in file else "compilation"
    if file.endswith(".a"):
        return "archives"
    if file.endswith(".cmake") or file.endswith(".ninja"):
        return "tests found, configuration"
    if re.search(r"(verilated|_model)[^/]*\.(cpp|dir)", file) or re.search(r"/V[^/]*\.h$", file):
        return "Verilator"
    if re.search(r"\.(so|so\.[0-9.]+)$", file) or "." not in file.rsplit("/", 1)[-1]:
        return "links"
    return "generated"


def room_of(file):
    parts = file.split("/")
    return "/".join(parts[:2]) if parts[0] in ("app", "tests") and len(parts) > 2 else parts[0]


def print_shares(title, shares, top):
    total = sum(shares.values())
    print(f"\n{title}")
    for name, seconds in shares.most_common(top):
        print(f"{seconds:9.1f} s {100 * seconds / total:5.1f} %  {name}")


def traced_shares(build):
    """Seconds of front end and back end by room, where clang left its traces."""
    front, back = collections.Counter(), collections.Counter()
    for trace in build.rglob("*.json"):
        if ".dir" not in str(trace):
            continue
        try:
            events = json.loads(trace.read_text()).get("traceEvents", [])
        except (ValueError, AttributeError):
            continue
        totals = {e["name"]: e["dur"] / 1e6 for e in events if e.get("name", "").startswith("Total ")}
        room = room_of(str(trace.relative_to(build)))
        front[room] += totals.get("Total Frontend", 0)
        back[room] += totals.get("Total Backend", 0)
    return front, back


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?", default="build", type=pathlib.Path, help="build directory; default: build")
    parser.add_argument("--top", type=int, default=25, help="rows of each table; default: 25")
    arguments = parser.parse_args()
    seconds = steps_of(arguments.build)
    rooms, kinds = collections.Counter(), collections.Counter()
    for file, took in seconds.items():
        rooms[room_of(file)] += took
        kinds[kind_of(file)] += took
    print(f"{len(seconds)} steps, {sum(seconds.values()):.0f} s")
    print_shares("by kind", kinds, arguments.top)
    print_shares("by room", rooms, arguments.top)
    print_shares("the longest steps", collections.Counter(seconds), arguments.top)
    front, back = traced_shares(arguments.build)
    if front:
        print("\nparsing and instantiation, optimisation and code, by room")
        for room, _ in (front + back).most_common(arguments.top):
            print(f"{front[room]:9.1f} s {back[room]:9.1f} s  {room}")


main()
