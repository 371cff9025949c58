#!/usr/bin/env python3
"""A network that PyTorch trained on Fashion-MNIST, exported to ONNX, forward and one training step here.

Usage: trained.py GRADWEAVE NPU BACKEND [SEED...]   (Debian: python3-torch, dataset-fashion-mnist)

Predictions on 256 test images agree with PyTorch's fp32 on at least 99 %. Every value of the step's forward pass is within
rounding of what it is computed from, and its gradients are within the bound of rounding.py of those of PyTorch in fp64, at the same
decisions of ReLU and max pooling. Steps with a fault must not be.
Exit status: 0 all holds, 1 not, 77 PyTorch or the images are not installed: NOT RUN.
"""
import copy
import gzip
import pathlib
import subprocess
import sys
import tempfile

IMAGES = pathlib.Path("/usr/share/datasets/fashion-mnist")
AGREEMENT = 0.99

try:
    import numpy
    import torch
    import torch.nn.functional as F
    from torch import nn
    import rounding
except ImportError as missing:
    print(f"NOT RUN: {missing}; apt-get install python3-torch")
    sys.exit(77)


def read_idx(name):
    found = sorted(IMAGES.glob(f"**/{name}*"))
    if not found:
        print("NOT RUN: no Fashion-MNIST; apt-get install dataset-fashion-mnist")
        sys.exit(77)
    data = (gzip.open(found[0]) if found[0].suffix == ".gz" else open(found[0], "rb")).read()
    shape = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], "big") for i in range(data[3])]
    return numpy.frombuffer(data, numpy.uint8, offset=4 + 4 * data[3]).reshape(shape)


def pixels(name):
    return torch.tensor(read_idx(name)[:, None] / 255.0, dtype=torch.float32)


def trained(seed):
    """A small convolution network after 20,000 images, with BatchNorm folded into its convolution."""
    torch.manual_seed(seed)
    images, labels = pixels("train-images-idx3"), torch.tensor(read_idx("train-labels-idx1").astype("i8"))
    conv, norm = nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8)
    rest = nn.Sequential(nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 10))
    net = nn.Sequential(conv, norm, rest)
    optimizer = torch.optim.Adam(net.parameters(), 2e-3)
    for i in range(0, 20000, 64):
        optimizer.zero_grad()
        F.cross_entropy(net(images[i:i + 64]), labels[i:i + 64]).backward()
        optimizer.step()
    net.eval()
    return nn.Sequential(torch.nn.utils.fuse_conv_bn_eval(conv, norm), rest)


def run(gradweave, work, npu, backend, *more):
    command = [gradweave, "train", "--model", "net.onnx", "--batch", "256", "--input", "images.npy", "--target",
               "labels.npy", "--steps", "1", "--backend", backend, "--npu", npu, "--quiet", *more]
    print("+ " + " ".join(command), flush=True)
    subprocess.run(command, cwd=work, check=True)


def agrees(gradweave, work, npu, backend, net, images, labels):
    run(gradweave, work, npu, backend, "--extent", "forward", "--dump", "outputs", "--dump-to", "out.npz")
    ours = torch.tensor(numpy.load(work / "out.npz")["logits"])
    with torch.no_grad():
        theirs = net(images)
    share = float((ours.argmax(1) == theirs.argmax(1)).float().mean())
    right = float((ours.argmax(1) == labels).float().mean())
    print(f"predictions: {share:.2%} as PyTorch's fp32, {right:.2%} right; logits differ by "
          f"{float((ours - theirs).abs().max()):.3g} of {float(theirs.abs().max()):.3g} at most")
    return share >= AGREEMENT


def layers_of(net):
    return [(name, layer) for name, layer in net.named_modules() if not list(layer.children())]


def outputs_of(step, layers):
    """What each layer put out in our step: the exporter calls it by the layer's path and the operator."""
    operators = {nn.Conv2d: "Conv", nn.Linear: "Gemm", nn.ReLU: "Relu", nn.MaxPool2d: "MaxPool", nn.Flatten: "Flatten"}
    paths = ["/1/" + name if name.startswith("1.") else "/" + name for name, _ in layers]
    names = [f"{path}/{operators[type(layer)]}_output_0" for path, (_, layer) in zip(paths, layers)]
    return [torch.tensor(step[name]) for name in names[:-1] + ["logits"]]


def plain_gradients(net, images, labels):
    net = copy.deepcopy(net).double()
    net.zero_grad(set_to_none=True)  # what training left
    F.cross_entropy(net(images.double()), labels).backward()
    return {name: parameter.grad for name, parameter in net.named_parameters()}


def within(gradients, bounds):
    return [name for name, (_, rounded, bound) in bounds.items() if float((gradients[name] - rounded).norm()) <= bound]


def forward_holds(net, images, layers, outputs):
    shares = dict(rounding.forward_share(layers, images, outputs))
    print("largest error of a value, as a share of its rounding: " +
          ", ".join(f"{name} {share:.3f}" for name, share in shares.items()))
    values, other = images.double(), 0
    for (_, layer), ours in zip(layers, outputs):
        values = copy.deepcopy(layer).double()(values).detach()
        if isinstance(layer, nn.ReLU):
            other += int(((ours > 0) != (values > 0)).sum())
    print(f"{other} ReLU decide otherwise than in PyTorch's fp64")
    return max(shares.values()) <= 1


def gradients_hold(ours, bounds, plain):
    names = within(ours, bounds)
    for name, (exact, rounded, bound) in bounds.items():
        norm = float(exact.norm())
        print(f"  {name:10s} gradient off by {float((ours[name] - exact).norm()) / norm:.4f} of its norm, bound "
              f"{(float((rounded - exact).norm()) + bound) / norm:.4f}: of weights and images "
              f"{float((rounded - exact).norm()) / norm:.4f}, of edges {float((ours[name] - rounded).norm()) / norm:.4f}, bound "
              f"{bound / norm:.4f}; {float((ours[name] - plain[name]).norm() / plain[name].norm()):.4f} at PyTorch's own decisions"
              f"{'' if name in names else '  ABOVE'}")
    return len(names) == len(bounds)


def faults_are_seen(step, bounds, seed):
    """Steps with a fault, each of which takes gradients out of the bound."""
    coins = torch.Generator()
    coins.manual_seed(seed)
    worst = F.cross_entropy(step.outputs[-1], step.labels, reduction="none").argsort(descending=True)
    kept = [i for i in range(len(worst)) if i != int(worst[len(worst) // 16])]
    fewer = rounding.SameDecisions(step.layers, [o[kept] for o in step.outputs], step.images[kept], step.labels[kept])
    cut = [o.clone() for o in step.outputs]
    last_relu = max(i for i, (_, layer) in enumerate(step.layers) if isinstance(layer, nn.ReLU))
    cut[last_relu][worst[0], cut[last_relu][worst[0]].argmax()] = 0
    share = len(kept) / len(worst)
    faults = {
        "one image of 256 left out": {name: value * share for name, value in fewer.gradients(rounded=True).items()},
        "one ReLU of the last closed":
            rounding.SameDecisions(step.layers, cut, step.images, step.labels).gradients(rounded=True),
        "edges of three bits fewer": step.gradients(True, 8 / 3 ** 0.5, coins),
    }
    left = {fault: len(within(gradients, bounds)) for fault, gradients in faults.items()}
    for fault, count in left.items():
        print(f"  fault: {fault}: {count} of {len(bounds)} gradients within the bound")
    return max(left.values()) < len(bounds)


def holds(gradweave, npu, backend, seed):
    net = trained(seed)
    images = pixels("t10k-images-idx3")[:256]
    labels = torch.tensor(read_idx("t10k-labels-idx1")[:256].astype("i8"))
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        numpy.save(work / "images.npy", images.numpy())
        numpy.save(work / "labels.npy", labels.numpy())
        torch.onnx.export(net, images, work / "net.onnx", input_names=["image"], output_names=["logits"],
                          dynamic_axes={"image": {0: "batch"}, "logits": {0: "batch"}}, opset_version=13)
        agree = agrees(gradweave, work, npu, backend, net, images, labels)
        run(gradweave, work, npu, backend, "--extent", "gradients", "--dump", "all", "--dump-to", "step.npz")
        step = dict(numpy.load(work / "step.npz"))
    layers = layers_of(net)
    outputs = outputs_of(step, layers)
    same = rounding.SameDecisions(layers, outputs, images, labels)
    bounds = same.bounds(seed)
    ours = {name: torch.tensor(step[name + ".grad"]).double() for name in bounds}
    return all([agree, forward_holds(net, images, layers, outputs),
                gradients_hold(ours, bounds, plain_gradients(net, images, labels)), faults_are_seen(same, bounds, seed)])


def main():
    if len(sys.argv) < 4:
        raise SystemExit(__doc__)
    gradweave, npu, backend = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2], sys.argv[3]
    hold = True
    for seed in [int(seed) for seed in sys.argv[4:]] or [1]:
        print(f"seed {seed}")
        hold = holds(gradweave, npu, backend, seed) and hold
    print("PASS" if hold else "FAIL")
    sys.exit(0 if hold else 1)


if __name__ == "__main__":
    main()
