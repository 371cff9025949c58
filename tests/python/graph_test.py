"""Graphs that are built in Python are those that a file describes."""

import os
import tempfile
import unittest

import numpy

import gradweave
from support import ROOT, Case


def perceptron():
    """models/mlp.graph, with the same names."""
    graph = gradweave.Graph("mlp")
    images, labels = graph.input("images", [64, 784]), graph.input("labels", [64], type="int32")
    x, sizes = images, [784, 300, 100, 10]
    for layer in (1, 2, 3):
        weight = graph.parameter(f"fc{layer}.weight", sizes[layer - 1 : layer + 1], "kaiming")
        bias = graph.parameter(f"fc{layer}.bias", [sizes[layer]], "zeros")
        x = graph.op("Bias", graph.op("Gemm", x, weight), bias)
        if layer < 3:
            x = graph.op("Relu", x)
    graph.result(x)
    graph.loss(graph.op("SoftmaxCrossEntropy", x, labels))
    return graph


class Graphs(Case):
    def test_the_layers_are_those_of_the_file(self):
        ours = gradweave.simulate(perceptron(), "small", pass_="both")
        theirs = gradweave.simulate("mlp", "small", pass_="both")
        self.assert_same_report(ours["layers"], theirs["layers"])

    def test_training_has_the_bits_of_the_file(self):
        wanted = dict(data="synthetic", steps=2, dump=["weights", "gradients"])
        ours, theirs = gradweave.train(perceptron(), **wanted), gradweave.train("mlp", **wanted)
        self.assertEqual(ours["losses"], theirs["losses"])
        self.assertEqual(sorted(ours["tensors"]), sorted(theirs["tensors"]))
        for name, array in theirs["tensors"].items():
            self.assertEqual(array.tobytes(), ours["tensors"][name].tobytes(), name)

    def test_a_file_and_back(self):
        graph = perceptron()
        with tempfile.TemporaryDirectory() as directory:
            file = os.path.join(directory, "net.graph")
            graph.save(file)
            self.assertEqual(gradweave.load_graph(file).text(), graph.text())
            with self.assertRaises(gradweave.OptionError):
                graph.save(os.path.join(directory, "net.txt"))
        shipped = gradweave.load_graph(os.path.join(ROOT, "models", "lenet.graph"), batch=2)
        self.assertEqual(shipped.name, "lenet")
        self.assertEqual(next(iter(shipped.tensors().values())).shape[0], 2)

    def test_state_is_updated(self):
        graph = gradweave.Graph("normalised")
        x, target = graph.input("x", [8, 3]), graph.input("target", [8, 2])
        product = graph.op("Gemm", x, graph.parameter("w", [3, 2]))
        gamma, beta = graph.parameter("gamma", [2], "ones"), graph.parameter("beta", [2], "zeros")
        mean, variance = graph.state("mean", [2]), graph.state("variance", [2], "ones")
        y, _, _, next_mean, next_variance = graph.op("BatchNormalization", product, gamma, beta, mean, variance)
        graph.update(mean, next_mean)
        graph.update(variance, next_variance)
        graph.loss(graph.op("MeanSquaredError", y, target))
        random = numpy.random.default_rng(2)
        data = {"x": random.random((8, 3)), "target": random.random((8, 2))}
        step = gradweave.train(graph, input=data, steps=3, dump=["weights"])["tensors"]
        self.assertTrue((step["mean"] != 0).all() and (step["variance"] != 1).all())
        with tempfile.TemporaryDirectory() as directory:
            file = os.path.join(directory, "net.graph")
            graph.save(file)
            read = gradweave.train(file, input=data, steps=3, dump=["weights"])["tensors"]
        for name, array in read.items():
            self.assertEqual(array.tobytes(), step[name].tobytes(), name)

    def test_tensors_tell_what_they_are(self):
        graph = gradweave.Graph("small")
        x = graph.input("x", [4, 3])
        product = graph.op("Gemm", x, graph.parameter("w", [3, 2]), name="product")
        self.assertEqual((product.name, product.shape, product.role), ("product", (4, 2), "activation"))
        self.assertEqual(list(graph.tensors()), ["x", "w", "product"])
        self.assertIn("Gemm", gradweave.operators())
        self.assertTrue(gradweave.operators()["Gemm"]["summary"])


if __name__ == "__main__":
    unittest.main()
