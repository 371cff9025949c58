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


def export(name, net, inputs, opset, batch=True, training=False, fold=True):
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
                      do_constant_folding=fold and not training, dynamic_axes={n: {0: "batch"} for n in names} if batch else None)
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


def left_behind():
    """Weights of int8 whose file is missing."""
    w = numpy_helper.from_array(np.ones((9, 8), np.int8), "w")
    onnx.external_data_helper.set_external_data(w, "weights.bin", 0, 72)
    w.ClearField("raw_data")
    save("left_behind", [helper.make_node("DequantizeLinear", ["w", "s"], ["r"]), helper.make_node("MatMul", ["x", "r"], ["y"])],
         [w, tensor("s", np.float32(0.5))], [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 9])],
         [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 8])])


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
    save("new_opset", product, [tensor("w", np.zeros((3, 3)))], [x], [y], opset=99)


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


def drawn(*dims):
    """Multiples of 1/64, which all types have."""
    return np.asarray((torch.randn(dims) * 32).round() / 64)


def outsiders(name, nodes, weights, inputs, wanted, opset=13, **more):
    """A file of nodes: `weights` and `inputs` by name, and what its output y is."""
    types = {"f": TensorProto.FLOAT, "i": TensorProto.INT64, "b": TensorProto.BOOL, "u": TensorProto.UINT8}
    inits = [tensor(n, w) if np.asarray(w).dtype.kind == "f" else numpy_helper.from_array(np.asarray(w), n) for n, w in weights.items()]
    infos = [helper.make_tensor_value_info(n, types[np.asarray(x).dtype.kind], np.asarray(x).shape) for n, x in inputs.items()]
    graph = helper.make_graph(nodes, name, infos, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], inits)
    domains = [helper.make_opsetid(d, 1) for d in more.pop("domains", ())]
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)] + domains, producer_name="gradweave", **more)
    with open(os.path.join(HERE, f"{name}.onnx"), "wb") as file:
        file.write(model.SerializeToString())
    if wanted is not None:
        write_expected(name, {n: rounded(torch.tensor(np.asarray(x))) for n, x in inputs.items()}, {"y": rounded(torch.tensor(wanted))})


def t(values):
    return torch.tensor(np.asarray(values, np.float64))


def unread():
    """Outputs that nobody reads: statistics, a mask, indices, a part of a Split."""
    n = helper.make_node
    x, g, b, w = drawn(2, 2, 4, 6), drawn(6), drawn(6), drawn(6, 4)
    nodes = [n("LayerNormalization", ["x", "g", "b"], ["a", "mean", "deviation"]), n("Dropout", ["a"], ["d", "mask"]),
             n("MaxPool", ["d"], ["p", "indices"], kernel_shape=[2, 1], strides=[2, 1]), n("Split", ["p"], ["p0", "p1"], axis=1),
             n("MatMul", ["p1", "w"], ["y"])]
    wanted = F.max_pool2d(F.layer_norm(t(x), (6,), t(g), t(b)), (2, 1), (2, 1))[:, 1:] @ t(w)
    outsiders("unread", nodes, {"g": g, "b": b, "w": w}, {"x": x}, wanted.numpy(), 17)


def whole():
    """Whole numbers of the inputs: positions behind padding, a column of ids, masks."""
    n = helper.make_node
    ids = np.array([[3, 5, 2, 1, 1], [4, 1, 1, 1, 1]])
    keep = np.array([[True, True, False, True, True], [True, True, True, False, False]])
    e, p, w = drawn(7, 4), drawn(9, 4), drawn(4, 3)
    weights = {"e": e, "p": p, "w": w, "one": np.int64(1), "two": np.array([2]), "first": np.int64(0), "never": np.float32(-2)}
    nodes = [
        n("Equal", ["ids", "one"], ["padding"]), n("Not", ["padding"], ["there"]), n("Cast", ["there"], ["there32"], to=TensorProto.INT32),
        n("CumSum", ["there32", "one"], ["count"]), n("Mul", ["count", "there32"], ["at"]), n("Cast", ["at"], ["at64"], to=TensorProto.INT64),
        n("Add", ["at64", "one"], ["position"]), n("Gather", ["p", "position"], ["positions"]), n("Gather", ["e", "ids"], ["words"]),
        n("Add", ["words", "positions"], ["h"]), n("Gather", ["ids", "first"], ["column"], axis=1), n("Gather", ["e", "column"], ["head"]),
        n("And", ["keep", "there"], ["both"]), n("Cast", ["both"], ["real"], to=TensorProto.FLOAT), n("Unsqueeze", ["real", "two"], ["real3"]),
        n("Mul", ["h", "real3"], ["kept"]), n("Unsqueeze", ["keep", "two"], ["keep3"]), n("Where", ["keep3", "kept", "never"], ["masked"]),
        n("ReduceSum", ["masked", "ones"], ["sum"], keepdims=0), n("Add", ["sum", "head"], ["all"]), n("MatMul", ["all", "w"], ["y"]),
    ]
    weights["ones"] = np.array([1])
    there = ids != 1
    position = np.cumsum(there, 1) * there + 1
    h = np.where(keep[..., None], (e[ids] + p[position]) * (keep & there)[..., None], -2)
    outsiders("whole", nodes, weights, {"ids": ids, "keep": keep}, (h.sum(1) + e[ids[:, 0]]) @ w, 14)


def truths():
    """Truth values that the network computes, moved about and joined."""
    n = helper.make_node
    x, w = drawn(3, 4), drawn(4, 4)
    nodes = [n("Greater", ["x", "zero"], ["m"]), n("Less", ["x", "half"], ["l"]), n("And", ["m", "l"], ["both"]),
             n("Or", ["both", "known"], ["some"]), n("Not", ["some"], ["none"]), n("Unsqueeze", ["none", "one"], ["wide"]),
             n("Expand", ["wide", "dims"], ["all"]), n("MatMul", ["x", "w"], ["q"]), n("Unsqueeze", ["q", "one"], ["q3"]),
             n("Where", ["all", "q3", "half"], ["y"])]
    known = np.array([False, True, False, False])
    keep = ~(((x > 0) & (x < 0.5)) | known)
    outsiders("truths", nodes, {"zero": np.float32(0), "half": np.float32(0.5), "known": known, "one": np.array([1]),
                                "dims": np.array([3, 2, 4]), "w": w}, {"x": x},
              np.where(np.repeat(keep[:, None], 2, 1), (x @ w)[:, None], 0.5))


def light():
    """A network whose weights are all ConstantOfShape, and a constant without a name."""
    n = helper.make_node
    fill = lambda v: numpy_helper.from_array(np.array([v], np.float32))
    nodes = [n("ConstantOfShape", ["ws"], ["w"], value=fill(0.25)), n("ConstantOfShape", ["bs"], ["zero"], value=fill(0.5)),
             n("ConstantOfShape", ["bs"], ["one"], value=fill(2)), n("Conv", ["x", "w"], ["a"]),
             n("BatchNormalization", ["a", "one", "zero", "zero", "one"], ["n"], epsilon=0.0),
             n("Constant", [], ["s"], value=numpy_helper.from_array(np.ones(2, np.float32))),
             n("Constant", [], ["o"], value=numpy_helper.from_array(np.zeros(2, np.float32))),
             n("InstanceNormalization", ["n", "s", "o"], ["y"])]
    x = drawn(1, 3, 4, 4)
    a = F.conv2d(t(x), torch.full((2, 3, 3, 3), 0.25, dtype=torch.float64))
    normal = (a - 0.5) / 2**0.5 * 2 + 0.5
    outsiders("light", nodes, {"ws": np.array([2, 3, 3, 3]), "bs": np.array([2])}, {"x": x}, F.instance_norm(normal).numpy(), 9)


def rotary():
    """Frequencies and a table of sines are no parameters; a factor of each column is one."""
    n = helper.make_node
    x, w, scale, f = drawn(2, 5, 4), drawn(4, 4), drawn(4), np.array([[1, 0.1]])
    at = np.arange(5.0)[:, None]
    table = np.concatenate([np.sin(at * f), np.cos(at * f)], 1)
    nodes = [n("Constant", [], ["at"], value=numpy_helper.from_array(at.astype(np.float32))), n("MatMul", ["at", "f"], ["angles"]),
             n("Concat", ["angles", "angles"], ["twice"], axis=1), n("Cos", ["twice"], ["cosine"]), n("Add", ["x", "table"], ["h"]),
             n("MatMul", ["h", "w"], ["q"]), n("Mul", ["q", "cosine"], ["turned"]), n("Mul", ["turned", "scale"], ["y"])]
    f, table = f.astype(np.float32), table.astype(np.float32)
    angles = np.concatenate([at * f, at * f], 1)
    outsiders("rotary", nodes, {"f": f, "w": w, "scale": scale, "table": table}, {"x": x}, (x + table) @ w * np.cos(angles) * scale)


def old_forms():
    """Opset 3: operands aligned by 'axis', types by name, inputs that were attributes."""
    n = helper.make_node
    x, w, b, s = drawn(1, 2, 4, 4), drawn(3, 2, 1, 1), drawn(3), drawn(3)
    mean, variance = drawn(3), np.array([1, 0.25, 4])
    nodes = [n("Conv", ["x", "w"], ["a"]), n("Add", ["a", "b"], ["c"], axis=1, broadcast=1), n("PRelu", ["c", "s"], ["p"]),
             n("BatchNormalization", ["p", "s", "b", "mean", "variance"], ["m"], is_test=1, spatial=1, epsilon=0.0),
             n("Dropout", ["m"], ["d", "mask"], is_test=1), n("Cast", ["d"], ["e"], to="FLOAT"), n("Concat", ["e", "c"], ["j"]),
             n("Relu", ["j"], ["r"], consumed_inputs=[0]), n("Reshape", ["r"], ["y"], shape=[1, -1])]
    c = F.conv2d(t(x), t(w)) + t(b)[:, None, None]
    p = torch.where(c < 0, c * t(s)[:, None, None], c)
    m = F.batch_norm(p, t(mean), t(variance), t(s), t(b), eps=0)
    outsiders("old_forms", nodes, {"w": w, "b": b, "s": s, "mean": mean, "variance": variance}, {"x": x},
              F.relu(torch.cat((m, c), 1)).reshape(1, -1).numpy(), 3)


def quantised():
    """Weights of int8, with a scale for each channel and one for all; activations between QuantizeLinear and its inverse."""
    n = helper.make_node
    x = drawn(1, 2, 3, 3)
    w, v = np.arange(-9, 9).reshape(3, 2, 3, 1).astype(np.int8), np.arange(12).reshape(4, 3).astype(np.int8)
    scales, zeros = np.array([0.5, 0.25, 1], np.float32), np.array([0, 1, -2], np.int8)
    weights = {"wq": w, "scales": scales, "zeros": zeros, "vq": v, "scale": np.float32(0.125), "zero": np.int8(3)}
    nodes = [n("DequantizeLinear", ["wq", "scales", "zeros"], ["w"], axis=0), n("QuantizeLinear", ["x", "scale", "zero"], ["xq"]),
             n("DequantizeLinear", ["xq", "scale", "zero"], ["xd"]), n("Conv", ["xd", "w"], ["a"]), n("GlobalAveragePool", ["a"], ["p"]),
             n("Flatten", ["p"], ["f"]), n("DequantizeLinear", ["vq", "scale", "zero"], ["v"]), n("Transpose", ["v"], ["vt"], perm=[1, 0]),
             n("Gemm", ["f", "vt"], ["y"])]
    wd = (w.astype(float) - zeros.reshape(3, 1, 1, 1)) * scales.reshape(3, 1, 1, 1)
    outsiders("quantised", nodes, weights, {"x": x}, (F.conv2d(t(x), t(wd)).mean((2, 3)) @ t((v.astype(float) - 3) * 0.125).T).numpy())


def functions():
    """Functions of the file, one within another, one with an attribute of its caller."""
    n = helper.make_node
    own = [helper.make_opsetid("", 13), helper.make_opsetid("own", 1)]
    leak = n("LeakyRelu", ["x"], ["z"])
    slope = leak.attribute.add()
    slope.name, slope.ref_attr_name, slope.type = "alpha", "slope", onnx.AttributeProto.FLOAT
    bend = helper.make_function("own", "Bend", ["x"], ["z"], [leak], own, ["slope"])
    body = [n("MatMul", ["x", "w"], ["m"]), n("Bend", ["m"], ["z"], domain="own", slope=0.25)]
    layer = helper.make_function("own", "Layer", ["x", "w"], ["z"], body, own)
    x, a, b = drawn(2, 3), drawn(3, 4), drawn(4, 2)
    nodes = [n("Layer", ["x", "a"], ["h"], domain="own", name="first"), n("Layer", ["h", "b"], ["y"], domain="own", name="second")]
    bent = lambda v: F.leaky_relu(t(v), 0.25).numpy()
    outsiders("functions", nodes, {"a": a, "b": b}, {"x": x}, bent(bent(x @ a) @ b), domains=["own"], functions=[bend, layer])
    loop = helper.make_function("own", "Loop", ["x"], ["z"], [n("Loop", ["x"], ["z"], domain="own")], own)
    outsiders("recursion", [n("Loop", ["x"], ["y"], domain="own")], {}, {"x": x}, None, domains=["own"], functions=[loop])


def attention_23():
    """RotaryEmbedding and Attention, with more heads of queries than of keys."""
    n = helper.make_node
    x, wq, wk, wv = drawn(2, 3, 4), drawn(4, 8), drawn(4, 4), drawn(4, 4)
    cosine, sine = drawn(2, 3, 1), drawn(2, 3, 1)
    nodes = [n("MatMul", ["x", "wq"], ["q"]), n("MatMul", ["x", "wk"], ["k"]), n("MatMul", ["x", "wv"], ["v"]),
             n("RotaryEmbedding", ["q", "cosine", "sine"], ["turned"], num_heads=4, name="rope"),
             n("Attention", ["turned", "k", "v"], ["y"], q_num_heads=4, kv_num_heads=2, is_causal=1, name="attention")]
    heads = lambda v, h: v.reshape(2, 3, h, 2).transpose(1, 2)
    q, k, v = heads(t(x @ wq), 4), heads(t(x @ wk), 2), heads(t(x @ wv), 2)
    c, s = t(cosine)[:, None], t(sine)[:, None]
    q = torch.cat((q[..., :1] * c - q[..., 1:] * s, q[..., :1] * s + q[..., 1:] * c), -1)
    scores = q @ k.repeat_interleave(2, 1).transpose(2, 3) / 2**0.5
    scores = scores.masked_fill(torch.triu(torch.ones(3, 3), 1).bool(), float("-inf"))
    y = (torch.softmax(scores, -1) @ v.repeat_interleave(2, 1)).transpose(1, 2).reshape(2, 3, 8)
    outsiders("attention_23", nodes, {"wq": wq, "wk": wk, "wv": wv, "cosine": cosine, "sine": sine}, {"x": x}, y.numpy(), 23)


def stripped():
    """A file without its weights' values."""
    w = tensor("w", np.zeros((3, 4)))
    w.ClearField("raw_data")
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", d]) for n, d in (("x", 3), ("y", 4)))
    save("stripped", [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")], [w], [x], [y])


def branches():
    """An If by a shape, with weights of its own, in a function that is called twice."""
    n = helper.make_node
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
    v = drawn(3, 3)
    wide = helper.make_graph([n("MatMul", ["x", "v"], ["m"])], "wide", [], [value("m")], [numpy_helper.from_array(v.astype(np.float32), "v")])
    narrow = helper.make_graph([n("Add", ["x", "w"], ["m"])], "narrow", [], [value("m")])
    body = [n("Shape", ["x"], ["s"]), n("Gather", ["s", "one"], ["width"]), n("Equal", ["width", "three"], ["c"]),
            n("If", ["c"], ["h"], then_branch=wide, else_branch=narrow), n("Relu", ["h"], ["z"])]
    layer = helper.make_function("own", "Layer", ["x", "w", "one", "three"], ["z"], body, [helper.make_opsetid("", 13), helper.make_opsetid("own", 1)])
    x, a, w = drawn(2, 3), drawn(3, 4), drawn(4)
    nodes = [n("Layer", ["x", "w", "one", "three"], ["h"], domain="own", name="first"), n("MatMul", ["h", "a"], ["g"], name="product"),
             n("Layer", ["g", "w", "one", "three"], ["y"], domain="own", name="second")]
    relu = lambda z: np.maximum(z, 0)
    outsiders("branches", nodes, {"a": a, "w": w, "one": np.array(1), "three": np.array(3)}, {"x": x},
              relu(relu(x @ v) @ a + w), domains=["own"], functions=[layer])


def integers():
    """Operators on quantised numbers, ONNX's and onnxruntime's; y is what real numbers give."""
    n = helper.make_node
    ms = lambda *node, **attributes: n(*node, domain="com.microsoft", **attributes)
    x = drawn(2, 2, 4, 3)
    whole = lambda *shape: torch.randint(-9, 10, shape).numpy().astype(np.int8)
    w, v, p, q, r = whole(3, 2, 3, 1), whole(3, 4), whole(4, 2, 2, 1), whole(4, 5), whole(1, 5, 12)
    own, bias = whole(1, 3, 12), np.array([9, -7, 0, 4], np.int32)
    zw, zv, zp = whole(3), whole(4), whole(4)
    weights = {"w": w, "v": v, "p": p, "q": q, "r": r, "own": own, "bias": bias, "zw": zw, "zv": zv, "zp": zp,
               "sw": np.float32(0.125), "sv": np.float32(0.25), "sp": np.array([0.5, 0.25, 1, 0.125], np.float32), "sx": np.float32(0.0625),
               "zero": np.uint8(128), "one": np.array([1], np.float32), "none": np.array([0], np.int8), "first": np.zeros((1, 2, 3), np.float32),
               "half": np.float32(0.5), "row": np.array([-1, 10])}
    nodes = [n("DynamicQuantizeLinear", ["x"], ["xq", "xs", "xz"], name="quantise"), n("ConvInteger", ["xq", "w", "xz", "zw"], ["ci"], pads=[1, 0, 1, 0]),
             n("Mul", ["xs", "sw"], ["cs"]), n("Div", ["cb", "cs"], ["cn"]), n("Floor", ["cn"], ["cr"]), n("Cast", ["cr"], ["cw"], to=6),
             n("Reshape", ["cw", "column"], ["cc"]), n("Add", ["ci", "cc"], ["sum"]), n("Cast", ["sum"], ["cf"], to=1), n("Mul", ["cf", "cs"], ["c"], name="conv"),
             n("QuantizeLinear", ["c", "sx", "zero"], ["cq"]), n("Transpose", ["cq"], ["ct"], perm=[0, 2, 3, 1]),
             n("MatMulInteger", ["ct", "v", "zero", "zv"], ["mi"]), n("Cast", ["mi"], ["mf"], to=1), n("Mul", ["sx", "sv"], ["ms"]),
             n("Mul", ["mf", "ms"], ["m"], name="product"), n("Transpose", ["m"], ["mt"], perm=[0, 3, 1, 2]),
             n("Slice", ["mt", "zero1", "two1", "one1"], ["half2"]), n("QuantizeLinear", ["half2", "sx", "zero"], ["hq"]),
             n("QLinearConv", ["hq", "sx", "zero", "p", "sp", "zp", "sx", "zero", "bias"], ["lc"], name="quantised_conv"),
             ms("QLinearSigmoid", ["lc", "sx", "zero", "sx", "zero"], ["ls"]),
             ms("QLinearAdd", ["lc", "sx", "zero", "ls", "sx", "zero", "sx", "zero"], ["la"], name="quantised_sum"),
             n("Transpose", ["la"], ["lt"], perm=[0, 2, 3, 1]), n("QLinearMatMul", ["lt", "sx", "zero", "q", "half", "none0", "sx", "zero"], ["lm"]),
             n("DequantizeLinear", ["lm", "sx", "zero"], ["d"]), n("Reshape", ["d", "steps"], ["steps9"]),
             ms("DynamicQuantizeLSTM", ["steps9", "r", "own", "", "", "first", "first", "", "one", "none", "one", "none"], ["h"], hidden_size=3, name="lstm"),
             ms("DynamicQuantizeMatMul", ["h", "last", "half", "none0", "few"], ["y"], name="last")]
    last, few, cb = whole(3, 2), drawn(2), drawn(3)
    weights.update(zero1=np.array([0]), two1=np.array([2]), one1=np.array([1]), none0=np.int8(0), steps=np.array([9, 2, 5]), last=last, few=few, cb=cb, column=np.array([1, 3, 1, 1]))
    del weights["row"]
    c = F.conv2d(t(x), t((w - zw.reshape(3, 1, 1, 1).astype(int)) * 0.125), t(cb), padding=(1, 0))
    m = (c.permute(0, 2, 3, 1) @ t((v - zv.astype(int)) * 0.25)).permute(0, 3, 1, 2)
    sp = weights["sp"].astype(float)
    lc = F.conv2d(m[:, :2], t((p - zp.reshape(4, 1, 1, 1).astype(int)) * sp.reshape(4, 1, 1, 1)), t(bias * 0.0625 * sp))
    d = ((lc + torch.sigmoid(lc)).permute(0, 2, 3, 1) @ t(q * 0.5)).reshape(9, 2, 5)
    lstm = nn.LSTM(5, 3, bias=False).double()
    gates = lambda a: t(a[0].T.astype(float)).reshape(4, 3, -1)[[0, 2, 3, 1]].reshape(12, -1)
    lstm.weight_ih_l0.data, lstm.weight_hh_l0.data = gates(r), gates(own)
    y = lstm(d)[0].detach()[:, None] @ t(last * 0.5) + t(few)
    outsiders("integers", nodes, weights, {"x": x}, y.numpy(), domains=["com.microsoft"])


def fused():
    """Operators that onnxruntime makes of several."""
    n = helper.make_node
    ms = lambda *node, **attributes: n(*node, domain="com.microsoft", **attributes)
    x, w, g, v, u = drawn(2, 3, 4, 4), drawn(3, 3, 1, 1), drawn(4), drawn(4, 5), drawn(5, 4)
    b, c, d = drawn(5), drawn(4), drawn(4, 4)
    nodes = [ms("FusedConv", ["x", "w", "", "x"], ["f"], activation="LeakyRelu", activation_params=[0.25], name="conv"),
             ms("SkipLayerNormalization", ["f", "x", "g", "c", "g"], ["l", "", "", "s"], epsilon=1e-5, name="norm"),
             n("Slice", ["l", "zero", "four", "two"], ["cut"]), ms("FusedMatMul", ["cut", "s"], ["m"], transA=1, alpha=0.5, name="left"),
             ms("FusedMatMul", ["m", "d"], ["k"], transB=1, name="right"), n("SimplifiedLayerNormalization", ["k", "g"], ["r"], epsilon=1e-5),
             n("MatMul", ["r", "v"], ["h"]), ms("BiasGelu", ["h", "b"], ["e"]), n("MatMul", ["e", "u"], ["o"]), ms("FastGelu", ["o"], ["q"]),
             ms("QuickGelu", ["q"], ["z"], alpha=1.702), ms("Gelu", ["z"], ["t"]), n("Reshape", ["t", "rows"], ["flat"]),
             ms("FusedGemm", ["flat", "d", "c"], ["y"], transB=1, activation="Tanh", name="last")]
    weights = {"w": w, "g": g, "c": c, "d": d, "v": v, "u": u, "b": b, "zero": np.array([0]), "four": np.array([4]), "two": np.array([2]),
               "rows": np.array([-1, 4])}
    f = F.leaky_relu(F.conv2d(t(x), t(w)) + t(x), 0.25)
    s = f + t(x) + t(g)
    k = (F.layer_norm(s, (4,), t(g), t(c)).transpose(2, 3) @ s * 0.5) @ t(d).T
    r = k / torch.sqrt((k * k).mean(-1, keepdim=True) + 1e-5) * t(g)
    q = F.gelu(F.gelu(r @ t(v) + t(b)) @ t(u), approximate="tanh")
    y = torch.tanh(F.gelu(q * torch.sigmoid(1.702 * q)).reshape(-1, 4) @ t(d).T + t(c))
    outsiders("fused", nodes, weights, {"x": x}, y.numpy(), 17, domains=["com.microsoft"])


class Groups(nn.Module):
    """GroupNorm, whose InstanceNormalization has constants for scale and bias."""

    def __init__(self):
        super().__init__()
        self.c, self.n = nn.Conv2d(2, 6, 3), nn.GroupNorm(3, 6)

    def forward(self, x):
        return F.relu(self.n(self.c(x)))


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
    left_behind()
    broken()
    shapes()
    torch.manual_seed(7)
    for make in (unread, whole, truths, light, rotary, old_forms, quantised, functions, attention_23, stripped):
        make()
    export("groups", Groups(), (torch.randn(2, 2, 5, 5),), 13)
    export("unfolded", Recurrent(), (torch.randn(4, 2, 3),), 14, batch=False, fold=False)
    branches()
    integers()
    fused()


if __name__ == "__main__":
    main()
