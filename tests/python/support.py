"""What tests of the module share: the command, and reports without what differs from run to run."""

import json
import os
import subprocess
import tempfile
import unittest

COMMAND = os.environ["GW_COMMAND"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Fields that docs/report.md says are not the same in every run, and the command's own name.
TIMES = {
    "compile_seconds",
    "cpu_seconds",
    "wall_seconds",
    "process_seconds",
    "seconds",
    "cycles_per_cpu_second",
    "peak_memory_bytes",
    "jobs",
}


def without_times(value):
    """The report with its times as None, so that fields still have to be there."""
    if isinstance(value, dict):
        return {name: None if name in TIMES and not isinstance(part, list) else without_times(part) for name, part in value.items()}
    if isinstance(value, list):
        return [without_times(part) for part in value]
    return value


def command(*words):
    """What the command's JSON says."""
    with tempfile.TemporaryDirectory() as directory:
        file = os.path.join(directory, "report.json")
        subprocess.run([COMMAND, *words, "--quiet", "--json", file], check=True, stdout=subprocess.DEVNULL, cwd=directory)
        with open(file, encoding="utf-8") as text:
            report = json.load(text)
    if "reproduce" in report:
        report["reproduce"] = report["reproduce"].replace(COMMAND, "gradweave")
    return report


class Case(unittest.TestCase):
    maxDiff = 4000

    def assert_same_report(self, ours, theirs):
        self.assertEqual(json.dumps(without_times(ours), indent=1), json.dumps(without_times(theirs), indent=1))
