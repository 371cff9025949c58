"""make_files.py: the small ONNX files of this directory and what they compute, by torch in double precision (Debian's
python3-torch 1.13, python3-onnx 1.12). Run by hand; the tests need what it wrote alone."""
import json
import os

import numpy as np
import onnx
import torch
import torch.nn as nn
import torch.nn.functional as F
import onnx.external_data_helper
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))


class Images(nn.Module):
    """Uneven kernels, dilation, groups; pooling that rounds up, counts its pads; a flattened image."""

    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(2, 6, (3, 2), stride=(2, 1), padding=(1, 0))
        self.c2 = nn.Conv2d(6, 6, 3, padding=2, dilation=2, groups=3, bias=False)
        self.dw = nn.Conv2d(6, 6, 3, padding=1, groups=6)
        self.fc = nn.Linear(6 * 2 * 2, 4)

    def forward(self, x):
        x = F.leaky_relu(self.c1(x), 0.1)
        x = F.max_pool2d(x + torch.sigmoid(self.c2(x)), 2, 2, ceil_mode=True)
        x = F.hardswish(F.avg_pool2d(x, 3, 2, padding=1, count_include_pad=True))
        x = F.hardtanh(self.dw(x), 0.0, 6.0)
        return self.fc(F.adaptive_avg_pool2d(x, (2, 2)).flatten(1))


class Squeeze(nn.Module):
    """BatchNormalization, squeeze and excitation, channels shuffled, joined and cut, an image twice as large."""

    def __init__(self):
        super().__init__()
        self.c, self.n = nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4)
        self.s1, self.s2 = nn.Conv2d(4, 2, 1), nn.Conv2d(2, 4, 1)
        self.up = nn.ConvTranspose2d(4, 3, 2, stride=2)

    def forward(self, x):
        x = F.silu(self.n(self.c(x)))
        x = x * F.hardsigmoid(self.s2(F.relu(self.s1(x.mean((2, 3), keepdim=True)))))
        x = x.view(-1, 2, 2, 4, 4).transpose(1, 2).reshape(-1, 4, 4, 4)
        a, b = x.chunk(2, 1)
        x = torch.cat((F.pad(b, (0, 0, 1, -1), value=0.5), a), 1)
        return self.up(x) + F.interpolate(x[:, :3], scale_factor=2, mode="nearest")


class Attention(nn.Module):
    """Heads, a causal mask, LayerNormalization and a Gelu that old opsets spell out, embeddings."""

    def __init__(self):
        super().__init__()
        self.e, self.p = nn.Embedding(7, 6), nn.Parameter(torch.randn(1, 4, 6))
        self.n = nn.LayerNorm(6)
        self.register_buffer("late", torch.triu(torch.ones(4, 4), 1).bool())
        self.qkv, self.o, self.u, self.d = nn.Linear(6, 18), nn.Linear(6, 6, bias=False), nn.Linear(6, 5), nn.Linear(5, 6)

    def forward(self, ids):
        h = self.e(ids) + self.p
        b, s, w = h.shape
        q, k, v = (t.view(b, s, 2, 3).transpose(1, 2) for t in self.qkv(self.n(h)).split(w, 2))
        scores = (q @ k.transpose(2, 3) / 3**0.5).masked_fill(self.late[:s, :s], float("-inf"))
        h = h + self.o((torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(b, s, w))
        return F.log_softmax(h + self.d(F.gelu(self.u(h))), -1)


class Recurrent(nn.Module):
    """An LSTM both ways and a GRU."""

    def __init__(self):
        super().__init__()
        self.lstm, self.gru = nn.LSTM(3, 2, bidirectional=True), nn.GRU(4, 3)

    def forward(self, x):
        return self.gru(self.lstm(x)[0])[0]


class Signal(nn.Module):
    """Convolutions and pooling of one dimension, softmax over channels."""

    def __init__(self):
        super().__init__()
        self.c1, self.c2 = nn.Conv1d(2, 4, 3, stride=2, padding=1), nn.Conv1d(4, 3, 2, dilation=2, groups=1)
        self.n = nn.InstanceNorm1d(4, affine=True)

    def forward(self, x):
        x = F.elu(self.n(self.c1(x)))
        return torch.softmax(self.c2(F.max_pool1d(x, 2, 1)), 1)


def rounded(values):
    return {"dims": list(values.shape), "values": [float(f"{v:.12g}") for v in values.double().flatten()]}


def write_expected(name, inputs, outputs):
    with open(os.path.join(HERE, f"{name}.json"), "w", encoding="utf-8") as file:
        json.dump({"inputs": inputs, "outputs": outputs}, file)
        file.write("\n")


def export(name, net, inputs, opset, batch=True, training=False):
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.3)
            module.running_var.uniform_(0.5, 2)
            nn.init.normal_(module.weight)
            nn.init.normal_(module.bias)
    net.train(training)
    inputs = tuple((x * 64).round() / 64 if x.is_floating_point() else x for x in inputs)
    names = [f"x{i}" for i in range(len(inputs))]
    torch.onnx.export(net, inputs, os.path.join(HERE, f"{name}.onnx"), opset_version=opset, input_names=names, output_names=["y"],
                      training=torch.onnx.TrainingMode.TRAINING if training else torch.onnx.TrainingMode.EVAL,
                      do_constant_folding=not training, dynamic_axes={n: {0: "batch"} for n in names} if batch else None)
    with torch.no_grad():
        wanted = net.double()(*[x.double() if x.is_floating_point() else x for x in inputs])
    write_expected(name, {n: rounded(x) for n, x in zip(names, inputs)}, {"y": rounded(wanted)})


def tensor(name, values, external=False):
    values = np.asarray(values, np.float32)
    t = numpy_helper.from_array(values, name)
    if external:
        with open(os.path.join(HERE, "external.bin"), "wb") as file:
            file.write(b"\0" * 16 + values.tobytes())
        onnx.external_data_helper.set_external_data(t, "external.bin", offset=16, length=values.nbytes)
        t.ClearField("raw_data")
        t.data_location = TensorProto.EXTERNAL
    return t


def save(name, nodes, initializers, inputs, outputs, opset=13):
    graph = helper.make_graph(nodes, name, inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], producer_name="gradweave")
    with open(os.path.join(HERE, f"{name}.onnx"), "wb") as file:
        file.write(model.SerializeToString())


def external():
    """Weights in another file, behind 16 bytes of something else."""
    w = np.arange(12).reshape(3, 4) / 8 - 0.5
    save("external", [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")], [tensor("w", w, external=True)],
         [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])],
         [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 4])])
    x = np.array([[1.0, -2, 0.5], [0, 1, 3]])
    write_expected("external", {"x": rounded(torch.tensor(x))}, {"y": rounded(torch.tensor(x @ w))})


def broken():
    """Tensors that are not what they say, for the tests of errors."""
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", 3]) for n in "xy")
    product = [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")]
    huge = tensor("w", np.zeros((3, 3)))
    del huge.dims[:]
    huge.dims.extend([2**31, 2**31])
    save("huge_dims", product, [huge], [x], [y])
    large = tensor("w", np.zeros((3, 3)))
    del large.dims[:]
    large.dims.extend([2**14, 2**15])
    onnx.external_data_helper.set_external_data(large, "external.bin", offset=0, length=2**31)
    large.ClearField("raw_data")
    large.data_location = TensorProto.EXTERNAL
    save("two_gb", product, [large], [x], [y])
    save("old_opset", product, [tensor("w", np.zeros((3, 3)))], [x], [y], opset=6)
    save("new_opset", product, [tensor("w", np.zeros((3, 3)))], [x], [y], opset=22)


def shapes():
    """A batch that is computed as exporters do: Shape, Gather, Unsqueeze, Concat, Cast, Range, Where, Expand ..."""
    i64 = lambda name, values: numpy_helper.from_array(np.asarray(values, np.int64), name)
    n = helper.make_node
    nodes = [
        n("Shape", ["x"], ["s"]), n("Gather", ["s", "zero"], ["batch"]), n("Unsqueeze", ["batch", "axis0"], ["batch1"]),
        n("Gather", ["s", "two"], ["last"]), n("Mul", ["last", "one"], ["last_"]), n("Unsqueeze", ["last_", "axis0"], ["last1"]),
        n("Concat", ["batch1", "minus", "last1"], ["dims"], axis=0), n("Reshape", ["x", "dims"], ["cut"]),
        n("Cast", ["s"], ["real"], to=TensorProto.FLOAT), n("ReduceProd", ["s"], ["elements"], keepdims=0),
        n("Range", ["zero", "last", "one"], ["ramp"]), n("Cast", ["ramp"], ["ramp_real"], to=TensorProto.FLOAT),
        n("ConstantOfShape", ["last1"], ["zeros"]), n("Greater", ["ramp", "one"], ["late"]),
        n("Where", ["late", "ramp_real", "zeros"], ["row"]), n("Slice", ["s", "axis0", "axis1"], ["first"]),
        n("Equal", ["first", "batch1"], ["same"]), n("Concat", ["first", "last1"], ["to"], axis=0),
        n("Expand", ["row", "to"], ["rows"]), n("Unsqueeze", ["rows", "axis1"], ["rows3"]),
        n("Add", ["cut", "rows3"], ["y"], name="sum"),
    ]
    nodes.append(n("Slice", ["y", "axis0", "axis1", "axis1"], ["z"], name="head"))
    initializers = [i64("zero", 0), i64("one", 1), i64("two", 2), i64("minus", [-1]), i64("axis0", [0]), i64("axis1", [1])]
    save("shapes", nodes, initializers, [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 2, 3])],
         [helper.make_tensor_value_info("z", TensorProto.FLOAT, ["n", 1, 3])])
    x = torch.arange(18.0).view(3, 2, 3)
    write_expected("shapes", {"x": rounded(x)}, {"z": rounded((x + torch.tensor([0.0, 0, 2]))[:, :1])})


def main():
    torch.manual_seed(3)
    export("images", Images(), (torch.randn(2, 2, 13, 14),), 9)
    export("squeeze", Squeeze(), (torch.randn(3, 3, 4, 4),), 13)
    export("attention_12", Attention(), (torch.randint(0, 7, (3, 4)),), 12, batch=False)
    export("attention_17", Attention(), (torch.randint(0, 7, (3, 4)),), 17, batch=False)
    export("recurrent", Recurrent(), (torch.randn(4, 2, 3),), 14, batch=False)
    export("signal", Signal(), (torch.randn(2, 2, 11),), 11)
    export("training", Squeeze(), (torch.randn(3, 3, 4, 4),), 15, training=True)
    external()
    broken()
    shapes()


if __name__ == "__main__":
    main()
