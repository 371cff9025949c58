#!/usr/bin/python3
"""ResNet-50's simulate through the Python module against the command: runs in turn, one after the other.

    PYTHONPATH=build/python python3 scripts/python_rate.py build/bin/gradweave [ROUNDS [MODEL NPU]]

Each round runs the command, a call in a Python that has loaded the module, a Python that starts, loads it, calls and ends, and what
of this is start; with plans that are known (a plan cache that an earlier run has filled) and without (off). CPU time is what the processes took, wall
time what a watch says; on a machine that does other things, too, the former says more. Printed are medians, and the median of
the rounds' ratios to the command.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import gradweave


def measured(work):
    """Wall and CPU seconds, of this process and its children."""

    def cpu():
        return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))

    start, before = time.perf_counter(), cpu()
    work()
    return time.perf_counter() - start, cpu() - before


def process(*words):
    return lambda: subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def measure(title, rounds, sides):
    times = {side: [] for side in sides}
    for number in range(rounds):
        for side in list(sides) if number % 2 == 0 else list(sides)[::-1]:
            times[side].append(measured(sides[side]))
    print(f"{title} ({rounds} rounds)")
    for side, own in times.items():
        text = [
            f"{what} {statistics.median(t[at] for t in own):6.3f} s = "
            f"{statistics.median(t[at] / c[at] for t, c in zip(own, times['command'])):5.3f} x command"
            for at, what in ((1, "CPU"), (0, "wall"))
        ]
        print(f"  {side:22} {', '.join(text)}")


def main():
    command, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    model, npu = sys.argv[3:5] if len(sys.argv) > 4 else ("resnet50", "large")
    code = f"import gradweave; gradweave.simulate({model!r}, {npu!r})"
    sides = {
        "command": process(command, "simulate", "--model", model, "--npu", npu, "--quiet", "--json", os.devnull),
        "call": lambda: gradweave.simulate(model, npu),
        "Python from its start": process(sys.executable, "-c", code),
        "Python that only loads": process(sys.executable, "-c", "import gradweave"),
        "Python alone": process(sys.executable, "-c", "pass"),
    }
    with tempfile.TemporaryDirectory() as cache:
        os.environ["GRADWEAVE_PLAN_CACHE"] = cache
        for run in sides.values():
            run()
        measure("plans known", rounds, sides)
    os.environ["GRADWEAVE_PLAN_CACHE"] = "off"
    measure("plans searched", rounds, sides)


if __name__ == "__main__":
    main()
