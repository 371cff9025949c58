"""The Python of docs/python.md runs. With the word rtl, on the RTL as it says; else on the functional model."""

import os
import re
import sys
import types
import unittest

import numpy

import gradweave
from support import ROOT, Case

RTL = "rtl" in sys.argv[1:]


def blocks():
    with open(f"{ROOT}/docs/python.md", encoding="utf-8") as page:
        return re.findall(r"^```python\n(.*?)^```", page.read(), re.MULTILINE | re.DOTALL)


class Page(Case):
    def test_its_blocks_run(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            sys.modules["pandas"] = types.SimpleNamespace(DataFrame=list)
        random = numpy.random.default_rng(1)
        known = {
            "images": random.standard_normal((64, 784)).astype(numpy.float32),
            "labels": random.integers(0, 10, 64),
        }
        found = blocks()
        self.assertEqual(len(found), 3)
        for block in found:
            exec(block if RTL else block.replace('backend="rtl"', 'backend="functional"'), known)
        self.assertEqual(known["step"]["tensors"]["fc1.weight.grad"].shape, (784, 100))
        self.assertEqual(known["report"]["npu"]["name"], "large")

    def test_the_table_of_examples_has_all(self):
        with open(f"{ROOT}/docs/python.md", encoding="utf-8") as page:
            named = set(re.findall(r"^\| `(\w+\.py)`", page.read(), re.MULTILINE))
        self.assertEqual(named, {name for name in os.listdir(f"{ROOT}/python/examples") if name.endswith(".py")})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
