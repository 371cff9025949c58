"""A graph built in Python trains with its products on an NPU, with the bits of the golden model.

    PYTHONPATH=build/python python3 python/examples/graph_trains.py [BACKEND [NPU]]

BACKEND is functional (bits without time) or rtl, the Verilated NPU, which `make build` builds.
"""

import sys

import numpy

import gradweave

backend, npu = (sys.argv[1:] + ["functional", "test8"][len(sys.argv) - 1 :])[:2]

g = gradweave.Graph("two_moons")
x = g.input("points", [16, 2])
labels = g.input("labels", [16], type="int32")
hidden = g.op("Bias", g.op("Gemm", x, g.parameter("fc1.weight", [2, 12])), g.parameter("fc1.bias", [12], "zeros"))
logits = g.op("Gemm", g.op("Relu", hidden), g.parameter("fc2.weight", [12, 2]))
g.result(logits)
g.loss(g.op("SoftmaxCrossEntropy", logits, labels))

random = numpy.random.default_rng(1)
angle, side = random.uniform(0, numpy.pi, 64), random.integers(0, 2, 64)
points = numpy.stack([numpy.cos(angle) * (1 - 2 * side) + side, numpy.sin(angle) * (1 - 2 * side) + side / 2], axis=1)
data = {"points": points.astype(numpy.float32), "labels": side}

wanted = dict(input=data, steps=20, optimizer="sgd", lr=0.2, dump=["weights", "gradients"])
golden = gradweave.train(g, **wanted)
device = gradweave.train(g, npu, backend=backend, **wanted)

print("loss", " ".join(f"{loss:.3f}" for loss in device["losses"][::4]))
for name, array in device["tensors"].items():
    same = array.tobytes() == golden["tensors"][name].tobytes()
    print(f"{name:18} {str(array.shape):9} {'the bits of the golden model' if same else 'DIFFERS'}")
    assert same
print(f"{device['compared']['elements']:,} elements of all steps were compared on the way")
