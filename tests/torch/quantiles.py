#!/usr/bin/env python3
"""What rounding costs the gradients of a whole step, beside PyTorch's autocast to bf16.

Usage: quantiles.py DIRECTORY...   each as step_dump writes it.

The error of a gradient is its distance from PyTorch's autograd in fp64, against
max(norm of PyTorch's, 1e-6 x norm of all its gradients). Printed are quantiles over the network's parameters:
  contract  the golden execution: bf16 and fp32 edges, fp32 arithmetic between them
  edges     the same edges, fp64 arithmetic between them: what no arithmetic could do without
  autocast  PyTorch, torch.autocast("cpu", bfloat16) over fp32 parameters
The median and the 90 % quantile of `contract` are to be at most RATIO times those of `edges`.
Exit status: 0 they are, 1 not, 77 PyTorch is not installed: NOT RUN.
"""
import json
import math
import pathlib
import sys

import compare
import numpy
import torch

RATIO = 1.15
QUANTILES = (0.1, 0.5, 0.9, 1.0)


def gradients(directory, manifest, dtype, autocast):
    torch.set_default_dtype(dtype)
    values = compare.forward(directory, manifest, dtype, autocast)
    values[manifest["loss"]].sum().backward()
    return {g["of"]: values[g["of"]].grad for g in manifest["gradients"]}


def errors(exact, of):
    everything = math.sqrt(sum(float(g.norm()) ** 2 for g in exact.values() if g is not None))
    found = []
    for name, gradient in exact.items():
        gradient = torch.zeros(()) if gradient is None else gradient
        other = torch.zeros(()) if of[name] is None else of[name]
        found.append(float((gradient - other.double()).norm()) / max(float(gradient.norm()), 1e-6 * everything))
    return numpy.quantile(found, QUANTILES)


def report(directory):
    manifest = json.loads((directory / "manifest.json").read_text())
    exact = gradients(directory, manifest, torch.float64, False)
    ours = {key: {g["of"]: compare.read(directory, {**g, "file": g[key]}) for g in manifest["gradients"]}
            for key in ("contract", "edges")}
    ours["autocast"] = gradients(directory, manifest, torch.float32, True)
    rows = {key: errors(exact, of) for key, of in ours.items()}
    print(f"{manifest['network']}: {len(exact)} gradients; quantiles " + ", ".join(f"{q:.0%}" for q in QUANTILES))
    for key, row in rows.items():
        print(f"  {key:9s}" + "".join(f" {value:10.3g}" for value in row))
    ratios = rows["contract"] / rows["edges"]
    passed = all(ratios[1:3] <= RATIO)
    print(f"  {'pass' if passed else 'FAIL'}: contract over edges" + "".join(f" {ratio:.3f}" for ratio in ratios))
    return passed


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    sys.exit(0 if all([report(pathlib.Path(directory)) for directory in sys.argv[1:]]) else 1)


if __name__ == "__main__":
    main()
