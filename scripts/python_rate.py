#!/usr/bin/python3
"""ResNet-50's simulate through the Python module against the command: pairs of runs, one after the other, in turn.

    PYTHONPATH=build/python python3 scripts/python_rate.py build/bin/gradweave [PAIRS [MODEL NPU]]

Each run is a process of its own, start of Python and all, with plans that are known (a plan cache that a run before has filled)
and without (off). CPU time is what the processes took, wall time what a watch says; on a machine that does other things, too, the
former says more. Printed are medians, and the median of the ratios of pairs.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time


def run(words, environment):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(words, check=True, env=environment, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(name, pairs, sides, environment):
    times = {side: [] for side in sides}
    for pair in range(pairs):
        order = list(sides) if pair % 2 == 0 else list(sides)[::-1]
        for side in order:
            times[side].append(run(sides[side], environment))
    command, module = times["command"], times["module"]
    for at, what in enumerate(("wall", "CPU")):
        ratio = statistics.median(m[at] / c[at] for c, m in zip(command, module))
        print(
            f"{name:14} {what:4} command {statistics.median(c[at] for c in command):7.3f} s, "
            f"module {statistics.median(m[at] for m in module):7.3f} s, ratio {ratio:.3f} (median of {pairs} pairs)"
        )


def main():
    command, pairs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    model, npu = sys.argv[3:5] if len(sys.argv) > 4 else ("resnet50", "large")
    code = f"import gradweave; print(gradweave.simulate('{model}', '{npu}')['totals'][0]['cycles'])"
    sides = {
        "command": [command, "simulate", "--model", model, "--npu", npu, "--quiet", "--json", "/dev/null"],
        "module": [sys.executable, "-c", code],
    }
    with tempfile.TemporaryDirectory() as cache:
        known = {**os.environ, "GRADWEAVE_PLAN_CACHE": cache}
        run(sides["command"], known)
        measure("plans known", pairs, sides, known)
    measure("plans searched", max(1, pairs // 5), sides, {**os.environ, "GRADWEAVE_PLAN_CACHE": "off"})


if __name__ == "__main__":
    main()
