#!/usr/bin/env python3
"""A network that PyTorch trained on Fashion-MNIST, exported to ONNX, forward and one training step here.

Usage: trained.py GRADWEAVE NPU BACKEND   (Debian: python3-torch, dataset-fashion-mnist)

Predictions on 256 test images agree with PyTorch's fp32 on at least 99 %. The gradients of a step are held against
PyTorch's in fp64: their error, relative to the norm of the gradient, is at most RATIO times that of PyTorch's own bf16
(torch.autocast), of the parameter or the median of all, whichever is larger.
Exit status: 0 both hold, 1 not, 77 PyTorch or the images are not installed: NOT RUN.
"""
import copy
import gzip
import pathlib
import subprocess
import sys
import tempfile

IMAGES = pathlib.Path("/usr/share/datasets/fashion-mnist")
RATIO = 1.5
AGREEMENT = 0.99

try:
    import numpy
    import torch
    import torch.nn.functional as F
    from torch import nn
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


def trained():
    """A small convolution network after 20,000 images, with BatchNorm folded into its convolution."""
    torch.manual_seed(1)
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


def gradients_of(net, images, labels, autocast):
    net = copy.deepcopy(net).to(images.dtype)
    net.zero_grad(set_to_none=True)  # what training left
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        F.cross_entropy(net(images), labels).backward()
    return {name: parameter.grad for name, parameter in net.named_parameters()}


def gradients_hold(gradweave, work, npu, backend, net, images, labels):
    run(gradweave, work, npu, backend, "--extent", "gradients", "--dump", "gradients", "--dump-to", "grad.npz")
    ours = numpy.load(work / "grad.npz")
    exact, rounded = gradients_of(net, images.double(), labels, False), gradients_of(net, images, labels, True)
    names = list(exact)
    error = {name: float((torch.tensor(ours[name + ".grad"]).double() - exact[name]).norm() / exact[name].norm())
             for name in names}
    autocast = {name: float((rounded[name].double() - exact[name]).norm() / exact[name].norm()) for name in names}
    median = float(numpy.median(list(autocast.values())))
    holds = True
    for name in names:
        bound = RATIO * max(autocast[name], median)
        holds = holds and error[name] <= bound
        print(f"  {name:12s} gradient off by {error[name]:.4f} of its norm; bound {bound:.4f}, autocast {autocast[name]:.4f}")
    return holds


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    gradweave, npu, backend = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2], sys.argv[3]
    net = trained()
    images = pixels("t10k-images-idx3")[:256]
    labels = torch.tensor(read_idx("t10k-labels-idx1")[:256].astype("i8"))
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        numpy.save(work / "images.npy", images.numpy())
        numpy.save(work / "labels.npy", labels.numpy())
        torch.onnx.export(net, images, work / "net.onnx", input_names=["image"], output_names=["logits"],
                          dynamic_axes={"image": {0: "batch"}, "logits": {0: "batch"}}, opset_version=13)
        both = [agrees(gradweave, work, npu, backend, net, images, labels),
                gradients_hold(gradweave, work, npu, backend, net, images, labels)]
    print("PASS" if all(both) else "FAIL")
    sys.exit(0 if all(both) else 1)


if __name__ == "__main__":
    main()
