#!/usr/bin/env python3
"""Compares the gradients of a whole step in fp64 with those of PyTorch's autograd.

Usage: compare.py DIRECTORY...   each as step_dump writes it: manifest.json and raw little-endian values.

The forward graph is run operator by operator in PyTorch, from the same parameters and inputs; loss.backward() gives
gradients that share nothing with ours. The distance of two tensors is measured against
max(norm of PyTorch's, 1e-6 x norm of all its gradients); above BOUND the comparison fails.
Exit status: 0 all within the bound, 1 not, 77 PyTorch is not installed: NOT RUN.
"""
import json
import math
import pathlib
import sys

BOUND = 1e-9

try:
    import numpy
    import torch
    import torch.nn.functional as F
except ImportError as missing:
    print(f"NOT RUN: {missing}; apt-get install python3-torch")
    sys.exit(77)


def to_nchw(x):
    return x.permute(0, 3, 1, 2)


def to_nhwc(x):
    return x.permute(0, 2, 3, 1)


def to_oihw(w):
    """[groups, rows, columns, in, out] as PyTorch has it: [groups * out, in, rows, columns]."""
    groups, rows, cols, ins, outs = w.shape
    return w.permute(0, 4, 3, 1, 2).reshape(groups * outs, ins, rows, cols)


def framed(x, pads, value):
    """An NCHW image with top, left, bottom, right more pixels."""
    top, left, bottom, right = pads
    return F.pad(x, (left, right, top, bottom), value=value)


def conv(a, x, w):
    y = F.conv2d(framed(to_nchw(x), a["pads"], 0.0), to_oihw(w), stride=a["strides"], dilation=a["dilations"],
                 groups=a["group"])
    return to_nhwc(y)


def conv_transpose(a, x, w):
    groups, rows, cols, outs, ins = w.shape
    weights = w.permute(0, 4, 3, 1, 2).reshape(groups * ins, outs, rows, cols)
    top, left, bottom, right = a["pads"]
    y = F.conv_transpose2d(to_nchw(x), weights, stride=a["strides"], dilation=a["dilations"], groups=groups,
                           output_padding=a["output_padding"])
    return to_nhwc(y[:, :, top:y.shape[2] - bottom, left:y.shape[3] - right])


def max_pool(a, x):
    return to_nhwc(F.max_pool2d(framed(to_nchw(x), a["pads"], -math.inf), a["kernel_shape"], a["strides"]))


def average_pool(a, x):
    image = to_nchw(x)
    total = F.avg_pool2d(framed(image, a["pads"], 0.0), a["kernel_shape"], a["strides"])
    if not a["count_include_pad"]:
        total = total / F.avg_pool2d(framed(torch.ones_like(image), a["pads"], 0.0), a["kernel_shape"], a["strides"])
    return to_nhwc(total)


def batch_normalization(a, x, gamma, beta, mean, variance):
    rows = x.reshape(-1, x.shape[-1])
    next_mean, next_variance = mean.clone(), variance.clone()
    y = F.batch_norm(rows, next_mean, next_variance, gamma, beta, True, a["momentum"], a["epsilon"])
    return y.reshape(x.shape), None, None, next_mean, next_variance


def batch_normalization_inference(a, x, gamma, beta, mean, variance):
    rows = x.reshape(-1, x.shape[-1])
    return F.batch_norm(rows, mean, variance, gamma, beta, False, 0.0, a["epsilon"]).reshape(x.shape)


def softmax(a, x, mask=None):
    scores = x * a["scale"]
    return torch.softmax(scores if mask is None else scores + mask, -1)


def sliced(a, x):
    axes = a["axes"] or range(len(a["starts"]))
    steps = a["steps"] or [1] * len(a["starts"])
    index = [slice(None)] * x.dim()
    for axis, start, end, step in zip(axes, a["starts"], a["ends"], steps):
        index[axis] = slice(start, end, step)
    return x[tuple(index)]


def padded(a, x):
    pairs = []
    for axis in reversed(range(x.dim())):
        pairs += [a["pads"][axis], a["pads"][x.dim() + axis]]
    return F.pad(x, pairs, value=a["value"])


def gathered(a, x, indices):
    axis = a["axis"] % x.dim()
    y = torch.index_select(x, axis, indices.reshape(-1).long())
    return y.reshape(*x.shape[:axis], *indices.shape, *x.shape[axis + 1:])


def resized(a, x):
    return to_nhwc(F.interpolate(to_nchw(x), scale_factor=[float(s) for s in a["scales"]], mode="nearest"))


def reduced(reduce):
    def run(a, x):
        axes = [axis % x.dim() for axis in a["axes"]] or list(range(x.dim()))
        keep = bool(a.get("keepdims", 0))
        return reduce(x, dim=axes, keepdim=keep) if axes else x
    return run


def reshaped(a, x):
    return x.reshape([x.shape[i] if size == 0 else size for i, size in enumerate(a["shape"])])


def flattened(a, x):
    axis = a["axis"] if a["axis"] >= 0 else a["axis"] + x.dim()
    return x.reshape(math.prod(x.shape[:axis]), -1)


def matmul(a, x, y):
    left = x.transpose(-1, -2) if a["trans_a"] else x
    return left @ (y.transpose(-1, -2) if a["trans_b"] else y)


def cross_entropy(a, logits, labels):
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1).long(),
                           ignore_index=a["ignore_index"])


def rms_normalization(a, x, gamma):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + a["epsilon"]) * gamma


OPERATORS = {
    "Abs": lambda a, x: x.abs(),
    "Add": lambda a, x, y: x + y,
    "AveragePool": average_pool,
    "BatchNormalization": batch_normalization,
    "BatchNormalizationInference": batch_normalization_inference,
    "Bias": lambda a, x, b: x + b,
    "BinaryCrossEntropyWithLogits": lambda a, x, t: F.binary_cross_entropy_with_logits(x, t),
    "Cast": lambda a, x: x,
    "Clip": lambda a, x: torch.clamp(x, a["min"], a["max"]),
    "Concat": lambda a, *x: torch.cat(x, a["axis"]),
    "Conv": conv,
    "ConvTranspose": conv_transpose,
    "Div": lambda a, x, y: x / y,
    "Exp": lambda a, x: x.exp(),
    "Expand": lambda a, x: x.expand(a["shape"]),
    "Flatten": flattened,
    "Gather": gathered,
    "Gelu": lambda a, x: F.gelu(x, approximate=a["approximate"]),
    "Gemm": lambda a, x, w: x @ w,
    "GlobalAveragePool": lambda a, x: x.mean((1, 2), keepdim=True),
    "LayerNormalization": lambda a, x, g, b: F.layer_norm(x, x.shape[-1:], g, b, a["epsilon"]),
    "LeakyRelu": lambda a, x: F.leaky_relu(x, a["alpha"]),
    "Log": lambda a, x: x.log(),
    "MatMul": matmul,
    "Max": lambda a, x, y: torch.maximum(x, y),
    "MaxPool": max_pool,
    "MeanSquaredError": lambda a, x, t: F.mse_loss(x, t),
    "Min": lambda a, x, y: torch.minimum(x, y),
    "Mul": lambda a, x, y: x * y,
    "Neg": lambda a, x: -x,
    "Pad": padded,
    "RMSNormalization": rms_normalization,
    "ReduceMean": reduced(torch.mean),
    "ReduceSum": reduced(torch.sum),
    "Relu": lambda a, x: F.relu(x),
    "Reshape": reshaped,
    "Resize": resized,
    "Scale": lambda a, x: x * a["value"],
    "Sigmoid": lambda a, x: torch.sigmoid(x),
    "Silu": lambda a, x: F.silu(x),
    "Slice": sliced,
    "Softmax": softmax,
    "SoftmaxCrossEntropy": cross_entropy,
    "Split": lambda a, x: torch.split(x, a["split"], a["axis"]),
    "Sqrt": lambda a, x: x.sqrt(),
    "Sub": lambda a, x, y: x - y,
    "Tanh": lambda a, x: torch.tanh(x),
    "Transpose": lambda a, x: x.permute(a["perm"]),
}


def read(directory, tensor):
    kind = "<i4" if tensor["type"] == "int32" else "<f8"
    return torch.from_numpy(numpy.fromfile(directory / tensor["file"], kind)).reshape(tensor["shape"])


def forward(directory, manifest, dtype=torch.float64, autocast=False):
    """All tensors by name; parameters want gradients. `autocast`: products in bf16 as PyTorch chooses."""
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        return run_forward(directory, manifest, dtype)


def run_forward(directory, manifest, dtype):
    values = {}
    for tensor in manifest["given"]:
        values[tensor["name"]] = read(directory, tensor)
        if tensor["type"] == "fp64":
            values[tensor["name"]] = values[tensor["name"]].to(dtype)
        if tensor["role"] == "parameter":
            values[tensor["name"]].requires_grad_(True)
    for op in manifest["ops"]:
        inputs = [None if name is None else values[name] for name in op["inputs"]]
        if op["operator"] == "Dropout":  # the mask is random; the ratio alone is PyTorch's matter
            kept = read(directory, op["mask"]) != 0
            results = inputs[0] * kept / (1 - op["attributes"]["ratio"])
        elif op["operator"] in OPERATORS:
            results = OPERATORS[op["operator"]](op["attributes"], *inputs)
        else:
            raise SystemExit(f"{directory}: no PyTorch counterpart of operator {op['operator']}")
        for name, result in zip(op["outputs"], results if isinstance(results, (tuple, list)) else [results]):
            values[name] = result
    return values


def compare(directory):
    manifest = json.loads((directory / "manifest.json").read_text())
    values = forward(directory, manifest)
    loss = values[manifest["loss"]]
    loss.sum().backward()
    ours = {gradient["of"]: read(directory, gradient) for gradient in manifest["gradients"]}
    theirs = {name: values[name].grad for name in ours}
    missing = [t["name"] for t in manifest["given"]
               if t["role"] == "parameter" and t["name"] not in ours and values[t["name"]].grad is not None
               and values[t["name"]].grad.abs().max() > 0]
    everything = math.sqrt(sum(float(g.norm()) ** 2 for g in theirs.values() if g is not None))
    worst, where = 0.0, "none"
    for name, gradient in ours.items():
        other = theirs[name] if theirs[name] is not None else torch.zeros_like(gradient)
        error = float((gradient - other).norm()) / max(float(other.norm()), 1e-6 * everything)
        if not error <= worst:
            worst, where = error, name
    loss_error = abs(float(loss) - manifest["loss_value"]) / max(1.0, abs(float(loss)))
    passed = worst < BOUND and loss_error < BOUND and not missing and len(ours) > 0
    print(f"{'pass' if passed else 'FAIL'} {manifest['network']}: {len(ours)} gradients, "
          f"{sum(g.numel() for g in ours.values())} elements, worst {worst:.3g} ({where}); loss {float(loss):.6g}, "
          f"off by {loss_error:.3g}" + (f"; without a gradient here: {', '.join(missing)}" if missing else ""))
    return passed


def main():
    torch.set_default_dtype(torch.float64)
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    results = [compare(pathlib.Path(directory)) for directory in sys.argv[1:]]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
