#!/usr/bin/python3
"""Makes tutorial.onnx, the network of docs/tutorial.md: three convolutions and a classifier over images of 28 x 28, with
weights of a seed. It takes python3-onnx; the file is kept, so that the tutorial does not."""
import os
import random
import struct
import sys

from onnx import TensorProto, helper, save

random.seed(1)


def weights(name, *shape):
    count = 1
    for extent in shape:
        count *= extent
    # Quarters of a small range: exact in bf16, and they pack well.
    raw = b"".join(struct.pack("<f", random.randint(-8, 8) / 64) for _ in range(count))
    return helper.make_tensor(name, TensorProto.FLOAT, shape, raw, raw=True)


nodes, parameters, last = [], [], "image"
for layer, (channels_in, channels) in enumerate([(1, 8), (8, 16), (16, 32)]):
    parameters += [weights(f"conv{layer}.weight", channels, channels_in, 3, 3), weights(f"conv{layer}.bias", channels)]
    nodes += [
        helper.make_node("Conv", [last, f"conv{layer}.weight", f"conv{layer}.bias"], [f"c{layer}"], f"conv{layer}",
                         kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", [f"c{layer}"], [f"r{layer}"], f"relu{layer}"),
    ]
    last = f"r{layer}"
    if layer < 2:
        nodes.append(helper.make_node("MaxPool", [last], [f"p{layer}"], f"pool{layer}", kernel_shape=[2, 2], strides=[2, 2]))
        last = f"p{layer}"
parameters += [weights("classify.weight", 10, 32), weights("classify.bias", 10)]
nodes += [
    helper.make_node("GlobalAveragePool", [last], ["mean"], "mean"),
    helper.make_node("Flatten", ["mean"], ["flat"], "flat"),
    helper.make_node("Gemm", ["flat", "classify.weight", "classify.bias"], ["scores"], "classify", transB=1),
]
graph = helper.make_graph(
    nodes, "tutorial", [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 28, 28])],
    [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", 10])], parameters)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
model.ir_version = 7
save(model, sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "tutorial.onnx"))
