#!/usr/bin/env python3
"""random_networks.py FORWARD [--seed N] [--count N] [--ops N] [--jobs N] [--keep DIR] [--broken]

Draws networks of torch from seeds (random_operators.py has the operators), exports each to ONNX, and reads and runs it by
the program FORWARD (forward.cpp) in fp64, without rounding. Compared with torch in double precision:
  - the outputs, shapes and values, within 1e-6 of the largest element, or 1e-10,
  - the gradients of a loss of the first output with respect to all parameters, within 1e-6 of each one's largest element,
    or 1e-10 of the largest element of all, or 1e-11: a gradient may be 0 but for rounding.
A network is the first `ops` operators of its seed; what fails is drawn again with fewer, for as long as it fails. --keep
leaves the files of what failed in DIR. --broken moves one element of what FORWARD gave, and each network must fail.
Exit status: 0 all holds, 1 not, 77 PyTorch or ONNX is not installed: NOT RUN.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
    import onnx
    import torch
    import torch.nn.functional as F
    from torch import nn
    from random_operators import ENTRIES
except ImportError as missing:
    print(f"NOT RUN: {missing}; apt-get install python3-torch python3-onnx")
    sys.exit(77)

LIMIT, ZERO = 1e-6, 1e-10
NEWEST = 17  # opset
LARGEST, MOST = 100.0, 3000  # magnitude and number of a value's elements
REFUSED = 0.15               # share of networks that may be refused, not exported or not finite


class Draw(nn.Module):
    """A network as it is drawn: what it reads, steps that compute a value of earlier ones, and what it gives."""

    def __init__(self, seed, ops):
        super().__init__()
        self.rng = random.Random(seed)
        torch.manual_seed(seed)
        self.layers, self.weights, self.made = nn.ModuleList(), nn.ParameterList(), {}
        self.count = self.whole(3, 9)  # of ids
        self.opset, self.folded = self.whole(11, NEWEST), self.chance(0.1)
        length = self.whole(1, 7)
        ops = min(length, ops or length)
        self.inputs, self.steps = [self.draw_input() for _ in range(self.whole(1, 2))], []
        values = list(self.inputs)
        while len(self.steps) < ops:
            self.draw_step(values)
        first, read = len(self.inputs), {i for _, _, reads in self.steps for i in reads}
        leaves = [i for i in reversed(range(first, len(values))) if i not in read]
        self.gives = (leaves + [i for i in range(first, len(values)) if i in read and self.chance(0.1)])[:4]
        needed = set(self.gives)
        for i in reversed(range(len(self.steps))):
            if first + i in needed:
                needed.update(self.steps[i][2])
        self.read = [i for i in range(first) if i in needed]
        outputs = dict(zip(self.gives, self(*self.fed())))
        self.gives.sort(key=lambda i: outputs[i].dim() == 0 or not outputs[i].requires_grad)  # the first one has the loss

    def whole(self, least, most):
        return self.rng.randint(least, most)

    def choice(self, *of):
        return self.rng.choice(of)

    def chance(self, share):
        return self.rng.random() < share

    def quarter(self, least, most):
        return self.whole(int(4 * least), int(4 * most)) / 4

    def shuffled(self, of):
        return self.rng.sample(list(of), len(of))

    def draw_input(self):
        if self.chance(0.12):
            return torch.randint(0, self.count, [self.whole(1, 5) for _ in range(self.whole(1, 2))])
        rank = self.choice(1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5)
        dims = [self.choice(1, 2, 3, 3, 4, 5, 6, 7, 8) for _ in range(rank)]
        return torch.randn(dims).float().double()

    def module(self, make, *args, **options):
        key = (make, args, tuple(options.items()))
        if key not in self.made or self.chance(0.5):
            self.made[key] = self.add(make(*args, **options).eval())
        return self.made[key]

    def add(self, layer):
        for parameter in layer.parameters():  # the exporter makes one tensor of equal ones
            parameter.data = (parameter.data + 0.1 * torch.randn_like(parameter)).float().double()
        for name, average in layer.named_buffers():
            if average.is_floating_point():
                average.copy_(torch.rand_like(average).float() + (0.5 if name == "running_var" else -0.5))
        for part in layer.modules():
            if hasattr(part, "eps"):  # a row of nearly equal elements makes 1 / sqrt(eps) times what fp32 rounds of a constant
                part.eps = 2.0 ** -self.whole(3, 8)
        self.layers.append(layer)
        return layer

    def parameter(self, *dims):
        if dims not in self.made or self.chance(0.6):
            self.made[dims] = nn.Parameter(torch.randn(dims).float().double())
            self.weights.append(self.made[dims])
        return self.made[dims]

    def other(self, fits):
        """Another value that the step reads; None if none fits."""
        of = [i for i, value in enumerate(self.values) if value.is_floating_point() and fits(value)]
        if not of:
            return None
        self.reads.append(self.choice(*of))
        return self.values[self.reads[-1]]

    def draw_step(self, values):
        self.values, layers, weights, made = values, len(self.layers), len(self.weights), dict(self.made)
        x = self.choice(*range(len(values)), *[len(values) - 1] * 5)
        of = [e for e in ENTRIES if e[1](values[x])]
        if of:
            name, _, _, draw = self.rng.choices(of, [e[2] for e in of])[0]
            self.reads = [x]
            try:
                step = draw(self, values[x])
                value = step(*[values[i] for i in self.reads]).detach()
                if 0 < value.numel() <= MOST and value.dim() <= 6 and bool(torch.isfinite(value).all()) and value.abs().max() < LARGEST:
                    self.steps.append((name, step, self.reads))
                    values.append(value)
                    return
            except (RuntimeError, ValueError, IndexError, TypeError, NotImplementedError):
                pass
        self.layers, self.weights, self.made = self.layers[:layers], self.weights[:weights], made

    def forward(self, *fed):
        values = list(self.inputs)
        for i, value in zip(self.read, fed):
            values[i] = value
        for _, step, reads in self.steps:
            values.append(step(*[values[i] for i in reads]))
            if values[-1].requires_grad:  # PyTorch 1.13's BatchNorm reads a gradient with other strides wrongly
                values[-1].register_hook(torch.Tensor.contiguous)
        return tuple(values[i] for i in self.gives)

    def fed(self):
        return [self.inputs[i] for i in self.read]

    def text(self):
        shapes = " ".join(str(list(self.inputs[i].shape)) for i in self.read)
        return f"opset {self.opset}, {shapes}: " + ", ".join(name for name, _, _ in self.steps)


class Failed(Exception):
    pass


class Refused(Exception):
    pass


class NotExported(Exception):
    pass


def export(net, path):
    torch.set_default_dtype(torch.float32)
    net.float()
    try:
        fed = tuple(x.float() if x.is_floating_point() else x for x in net.fed())
        torch.onnx.export(net, fed, path, opset_version=net.opset, training=torch.onnx.TrainingMode.PRESERVE,
                          do_constant_folding=net.folded, input_names=[f"input{i}" for i in range(len(fed))])
    except (torch.onnx.errors.UnsupportedOperatorError, torch.onnx.errors.SymbolicValueError):
        if net.opset == NEWEST:
            raise
        net.opset = NEWEST
        export(net, path)
    finally:
        torch.set_default_dtype(torch.float64)
        net.double()


def loss_of(net, outputs):
    """The loss's kind and what the first output is compared with; none of a single number, or without parameters."""
    x = outputs[0]
    if not x.is_floating_point() or x.dim() == 0 or not x.requires_grad:
        return None, None
    kind = net.choice("mse", "bce", "cross_entropy")
    return kind, torch.randint(0, x.shape[-1], x.shape[:-1]) if kind == "cross_entropy" else torch.rand(x.shape).float().double()


def wanted_gradients(net, path, kind, output, target):
    loss = {"mse": F.mse_loss, "bce": F.binary_cross_entropy_with_logits,
            "cross_entropy": lambda x, t: F.cross_entropy(x.reshape(-1, x.shape[-1]), t.reshape(-1))}[kind](output, target)
    loss.backward()
    # A single number is a constant; what the exporter folded has another name.
    in_file = {blob.name for blob in onnx.load(path).graph.initializer}
    return {name: p.grad.numpy() for name, p in net.named_parameters() if p.grad is not None and name in in_file and p.numel() > 1}


def run_forward(program, path, fed, kind, learned):
    directory = path.parent
    for i, x in enumerate(fed):
        x.numpy().astype(np.float64).tofile(directory / f"input{i}.bin")
    command = [program, str(path), str(directory)] + (["--loss", kind] if kind else [])
    for name in learned:
        command += ["--learned", name]
    try:
        done = subprocess.run(command, stderr=subprocess.PIPE, timeout=100, check=False)
    except subprocess.TimeoutExpired:
        raise Failed("it takes over 100 s") from None
    message = done.stderr.decode(errors="replace").strip().replace(f"onnx_forward: {path}: ", "").replace("onnx_forward: ", "")
    if done.returncode == 1:
        raise Refused(message)
    if done.returncode != 0:
        raise Failed(f"exit status {done.returncode}: {message}")
    return json.loads((directory / "result.json").read_text())


def check(what, got, wanted, least):
    if list(got.shape) != list(wanted.shape):
        raise Failed(f"{what}: shape {list(got.shape)}, torch {list(wanted.shape)}")
    error, largest = float(np.abs(got - wanted).max()), max(float(np.abs(wanted).max()), least)
    if not error <= LIMIT * largest:
        raise Failed(f"{what}: off by {error:.2e}, the largest element is {largest:.2e}")


def values_of(entry, directory, moved):
    values = np.fromfile(directory / entry["file"]).reshape(entry["dims"])
    if moved:
        values.flat[-1] += 1e-3 * max(1.0, np.abs(values).max())
    return values


def compare(program, net, path, broken):
    outputs = net(*net.fed())
    if not all(bool(torch.isfinite(x).all()) for x in outputs):
        return "not finite"
    kind, target = loss_of(net, outputs)
    try:
        export(net, str(path))
    except Exception as error:  # of any kind: the exporter's own
        raise NotExported(str(error).split("\n", maxsplit=1)[0]) from error
    outputs = net(*net.fed())
    gradients = wanted_gradients(net, path, kind, outputs[0], target) if kind else {}
    if not all(np.isfinite(g).all() for g in gradients.values()):
        return "not finite"
    result = run_forward(program, path, net.fed() + ([target] if gradients else []), kind if gradients else None, gradients)
    if len(result["outputs"]) != len(outputs):
        raise Failed(f"{len(result['outputs'])} outputs of {len(outputs)}")
    ours = {g["name"]: g for g in result.get("gradients", [])}
    for name, wanted in gradients.items():
        if name not in ours and np.any(wanted != 0):  # what is constant passes none on
            raise Failed(f"no gradient of '{name}' ({kind})")
    largest = max((float(np.abs(g).max()) for g in gradients.values()), default=0.0)
    pairs = [(f"output {i}", entry, x.detach().numpy(), ZERO / LIMIT) for i, (x, entry) in enumerate(zip(outputs, result["outputs"]))]
    pairs += [(f"gradient of '{name}' ({kind})", ours[name], wanted, ZERO / LIMIT * max(largest, 0.1))
              for name, wanted in gradients.items() if name in ours]
    moved = net.whole(0, len(pairs) - 1) if broken else None
    for i, (what, entry, wanted, least) in enumerate(pairs):
        check(what, values_of(entry, path.parent, moved == i), wanted, least)
    return "compared, with gradients" if gradients else "compared"


def run(program, seed, ops, broken, keep=None):
    """Outcome of a seed's network, a message, and its operators."""
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    warnings.filterwarnings("ignore")
    net = Draw(seed, ops)
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "net.onnx"
        try:
            return compare(program, net, path, broken), "", net
        except Refused as refused:
            return "refused", str(refused), net
        except NotExported as unsupported:
            return "not exported", str(unsupported), net
        except Failed as failed:
            if keep:
                shutil.copytree(directory, pathlib.Path(keep) / str(seed), dirs_exist_ok=True)
            return "wrong", str(failed), net


def shrunk(program, seed, ops, broken, keep):
    """The fewest operators of the seed with which it fails."""
    for fewer in range(1, len(Draw(seed, ops).steps) + 1):
        outcome, message, net = run(program, seed, fewer, broken, keep)
        if outcome == "wrong":
            return message, net
    return None


def of_seed(arguments, seed):
    outcome, message, net = run(arguments.forward, seed, arguments.ops, arguments.broken)
    text = net.text()
    if outcome == "wrong" and not arguments.broken:
        message, net = shrunk(arguments.forward, seed, arguments.ops, False, arguments.keep)
        text = f"{net.text()}\n    again: {sys.argv[0]} {arguments.forward} --seed {seed} --count 1 --ops {len(net.steps)}"
    return seed, outcome, message, text, [name for name, _, _ in net.steps]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("forward")
    for name, usual in (("seed", 1), ("count", 2000), ("ops", 0), ("jobs", os.cpu_count())):
        parser.add_argument("--" + name, type=int, default=usual)
    parser.add_argument("--keep")
    parser.add_argument("--broken", action="store_true")
    arguments = parser.parse_args()
    outcomes, drawn, refusals, example = collections.Counter(), collections.Counter(), collections.Counter(), {}
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        seeds = range(arguments.seed, arguments.seed + arguments.count)
        for seed, outcome, message, text, names in pool.map(of_seed, [arguments] * len(seeds), seeds, chunksize=4):
            outcomes[outcome] += 1
            drawn.update(names)
            if outcome in ("refused", "not exported"):
                kind = f"{outcome}: " + re.sub(r"'[^']*'|[0-9]+", "*", re.sub(r"^(node|op) '[^']*' ", "", message))[:150]
                refusals[kind] += 1
                example.setdefault(kind, seed)
            if outcome == "wrong" and not arguments.broken or arguments.count == 1:
                print(f"seed {seed}: {outcome}\n    {message}\n    {text}", flush=True)
    print(", ".join(f"{n} {outcome}" for outcome, n in outcomes.most_common()))
    print(*(f"{n:6} {kind} (seed {example[kind]})" for kind, n in refusals.most_common()), sep="\n")
    print("operators:", ", ".join(f"{n} {name}" for name, n in drawn.most_common()))
    taken = outcomes["compared"] + outcomes["compared, with gradients"]
    if arguments.broken:
        good = outcomes["wrong"] > 0 and taken == 0
    else:
        good = outcomes["wrong"] == 0 and taken >= (1 - REFUSED) * arguments.count
    print("PASS" if good else "FAIL")
    sys.exit(not good)


if __name__ == "__main__":
    main()
