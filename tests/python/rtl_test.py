"""On the Verilated NPU test8: the bits of the command, of the golden model, and of a graph that was built in Python."""

import os
import subprocess
import tempfile
import unittest

import numpy

import gradweave
from support import COMMAND, Case, command


def perceptron():
    graph = gradweave.Graph("perceptron")
    x = graph.input("x", [6, 20])
    labels = graph.input("labels", [6], type="int32")
    product = graph.op("Gemm", x, graph.parameter("fc1.weight", [20, 17]))
    hidden = graph.op("Relu", graph.op("Bias", product, graph.parameter("fc1.bias", [17], "zeros")))
    logits = graph.op("Gemm", hidden, graph.parameter("fc2.weight", [17, 5]))
    graph.result(logits)
    graph.loss(graph.op("SoftmaxCrossEntropy", logits, labels))
    return graph


class Rtl(Case):
    def test_cosim(self):
        words = "cosim --model mlp --npu test8 --batch 2 --layers 1-2 --seed 3"
        ours = gradweave.cosim("mlp", "test8", batch=2, layers="1-2", seed=3)
        self.assert_same_report(ours, command(*words.split()))

    def test_a_dict_of_the_same_npu_runs_on_its_rtl(self):
        fields = gradweave.load_npu("test8").to_dict()
        ours = gradweave.cosim("mlp", fields, batch=2, layers="2")
        named = gradweave.cosim("mlp", "test8", batch=2, layers="2")
        self.assert_same_report(ours["layers"], named["layers"])

    def test_a_graph_built_in_python_trains_with_the_same_bits(self):
        graph = perceptron()
        random = numpy.random.default_rng(5)
        data = {
            "x": random.standard_normal((18, 20)).astype(numpy.float32),
            "labels": random.integers(0, 5, 18),
        }
        wanted = dict(input=data, steps=4, optimizer="sgd", lr=0.1, dump=["weights", "gradients", "outputs"])
        golden = gradweave.train(graph, **wanted)
        rtl = gradweave.train(graph, "test8", backend="rtl", jobs=1, **wanted)
        self.assertEqual(rtl["losses"], golden["losses"])
        self.assertGreater(rtl["step"]["cycles"], 0)
        self.assertGreater(rtl["compared"]["elements"], 4 * 20 * 17)
        self.assertEqual(sorted(rtl["tensors"]), sorted(golden["tensors"]))
        for name, array in golden["tensors"].items():
            self.assertEqual(array.tobytes(), rtl["tensors"][name].tobytes(), name)
        side_by_side = gradweave.train(graph, "test8", backend="rtl", jobs=3, **wanted)
        for name, array in side_by_side.pop("tensors").items():
            self.assertEqual(array.tobytes(), rtl["tensors"][name].tobytes(), name)
        self.assert_same_report(side_by_side, {key: rtl[key] for key in rtl if key != "tensors"})

        # The command trains the same graph from a file, on the same RTL.
        with tempfile.TemporaryDirectory() as directory:
            files = {name: os.path.join(directory, name) for name in ("net.graph", "data.npz", "out.npz")}
            graph.save(files["net.graph"])
            numpy.savez(files["data.npz"], **data)
            words = "train --npu test8 --backend rtl --steps 4 --optimizer sgd --lr 0.1 --quiet --dump weights,gradients,outputs"
            subprocess.run(
                [COMMAND, *words.split(), "--model", files["net.graph"], "--input", files["data.npz"], "--dump-to",
                 files["out.npz"]],
                check=True, stdout=subprocess.DEVNULL,
            )
            with numpy.load(files["out.npz"]) as theirs:
                self.assertEqual(sorted(theirs.files), sorted(rtl["tensors"]))
                for name in theirs.files:
                    self.assertEqual(theirs[name].tobytes(), rtl["tensors"][name].tobytes(), name)


if __name__ == "__main__":
    unittest.main()
