"""What is wrong is told: by which file and line, field and value, and with which remedy."""

import os
import tempfile
import unittest
import unittest.mock

import gradweave
from support import Case


class Errors(Case):
    def fails(self, call, *parts, kind=gradweave.Error):
        with self.assertRaises(kind) as caught:
            call()
        for part in parts:
            self.assertIn(part, str(caught.exception))
        return caught.exception

    def test_unknown_model_lists_what_there_is(self):
        self.fails(lambda: gradweave.simulate("resnet51"), "no network 'resnet51'", "resnet50")

    def test_unknown_npu(self):
        self.fails(lambda: gradweave.load_npu("huge"), "no NPU 'huge'", "small")

    def test_unknown_option_lists_the_names(self):
        error = self.fails(
            lambda: gradweave.simulate("mlp", shedule="all"),
            "simulate() has no option 'shedule'", "did you mean schedule", "pass_", "flexer_policy",
            kind=gradweave.OptionError,
        )
        self.assertIsInstance(error, ValueError)
        for call in (gradweave.cosim, gradweave.compile, gradweave.train, gradweave.search, gradweave.load_npu):
            self.fails(lambda: call("mlp", colour=1), "has no option 'colour'", kind=gradweave.OptionError)

    def test_values_of_options(self):
        wrong = gradweave.OptionError
        self.fails(lambda: gradweave.simulate("mlp", schedule="fast"), "fast", "rearrange", kind=wrong)
        self.fails(lambda: gradweave.simulate("mlp", pass_="back"), "back", "backward", kind=wrong)
        self.fails(lambda: gradweave.simulate("mlp", batch=0), "batch = 0", "from 1 to", kind=wrong)
        self.fails(lambda: gradweave.simulate("mlp", batch=2.5), "batch = 2.5", "whole number", kind=wrong)
        self.fails(lambda: gradweave.simulate("mlp", tune=-1), "tune = -1", kind=wrong)
        self.fails(lambda: gradweave.simulate("mlp", layers="17"), "17", kind=wrong)
        self.fails(lambda: gradweave.simulate("mlp", set=["npu.rows=4"]), "a dict of FIELD: value", kind=wrong)
        self.fails(lambda: gradweave.simulate("mlp", set={"rows": 4}), "no TABLE.FIELD=VALUE", kind=wrong)
        self.fails(lambda: gradweave.simulate(17), "model = 17 is not a text", kind=wrong)
        self.fails(lambda: gradweave.train("mlp", lr="fast"), "lr = 'fast' is not a number", kind=wrong)
        self.fails(lambda: gradweave.cosim("mlp", backend="fpga"), "fpga", "functional", kind=wrong)

    def test_file_and_line_of_an_npu(self):
        with tempfile.TemporaryDirectory() as directory:
            file = os.path.join(directory, "bad.toml")
            with open(file, "w", encoding="utf-8") as text:
                text.write('npu = { name = "bad" }\n\n[memory]\nsize_bytes = "many"\n')
            error = self.fails(lambda: gradweave.load_npu(file), "missing")
            self.assertEqual((error.file, error.line), (file, 1))
            with open(file, "a", encoding="utf-8") as text:
                text.write("[cache]\n")
            error = self.fails(lambda: gradweave.load_npu(file), "unknown table or key 'cache'")
            self.assertEqual((error.file, error.line), (file, 5))

    def test_a_dict_is_checked_as_a_file(self):
        fields = gradweave.load_npu("small").to_dict()
        fields["npu"]["rows"] = 0
        error = self.fails(lambda: gradweave.load_npu(fields), "NPU dict: rows = 0 is out of range")
        self.assertEqual((error.file, error.line), (None, None))
        fields["npu"]["rows"], fields["npu"]["row"] = 8, 8
        self.fails(lambda: gradweave.load_npu(fields), "NPU dict: ", "'row'")
        self.fails(lambda: gradweave.load_npu({"npu": {"name": "x"}}), "NPU dict: missing")
        self.fails(lambda: gradweave.load_npu({"npu": {"name": object()}}), "no value of a field")

    def test_file_and_line_of_a_network(self):
        with tempfile.TemporaryDirectory() as directory:
            file = os.path.join(directory, "bad.graph")
            with open(file, "w", encoding="utf-8") as text:
                text.write('graph "bad"\ninput x fp32 [2, 3]\ny = Relu(z)\n')
            error = self.fails(lambda: gradweave.load_network(file), "z")
            self.assertEqual((error.file, error.line), (file, 3))
            file = os.path.join(directory, "bad.csv")
            with open(file, "w", encoding="utf-8") as text:
                text.write("a,1,2,3\nb,1,2\n")
            error = self.fails(lambda: gradweave.simulate(file, "test8"))
            self.assertEqual((error.file, error.line), (file, 2))

    def test_broken_onnx(self):
        with tempfile.TemporaryDirectory() as directory:
            file = os.path.join(directory, "broken.onnx")
            with open(file, "wb") as text:
                text.write(b"\x08\x07\x12\xff")
            error = self.fails(lambda: gradweave.load_network(file))
            self.assertEqual(error.file, file)
            self.fails(lambda: gradweave.load_network(os.path.join(directory, "none.onnx")), "none.onnx")

    def test_a_graph_names_the_line_in_python(self):
        graph = gradweave.Graph("bad")
        x, w = graph.input("x", [4, 3]), graph.parameter("w", [5, 2])
        error = self.fails(lambda: graph.op("Gemm", x, w, name="product"), "op 'product'")
        self.assertEqual(os.path.basename(error.file), "error_test.py")
        self.assertGreater(error.line, 1)
        self.fails(lambda: graph.op("Gemmm", x, w), "Gemmm")
        self.fails(lambda: graph.op("Relu", x, slope=2), "slope")
        self.fails(lambda: graph.op("Relu", "x"), "no tensor of a graph", kind=gradweave.OptionError)
        other = gradweave.Graph("other").input("x", [4, 3])
        self.fails(lambda: graph.op("Relu", other), "another graph", kind=gradweave.OptionError)

    def test_arrays_that_do_not_fit(self):
        import numpy

        graph = gradweave.Graph("net")
        x, labels = graph.input("x", [4, 3]), graph.input("labels", [4], type="int32")
        graph.loss(graph.op("SoftmaxCrossEntropy", graph.op("Gemm", x, graph.parameter("w", [3, 2])), labels))
        good = {"x": numpy.zeros((4, 3), numpy.float32), "labels": numpy.zeros(4, numpy.int64)}
        self.fails(lambda: gradweave.train(graph, input={"x": good["x"]}), "input 'labels'")
        self.fails(lambda: gradweave.train(graph, input={**good, "y": good["x"]}), "'y'", "given already")
        self.fails(lambda: gradweave.train(graph, input={**good, "x": numpy.zeros((4, 5))}), "[4, 5]", "[4, 3]")
        self.fails(
            lambda: gradweave.train(graph, input={**good, "x": numpy.zeros((4, 3), complex)}), "'x'", "float32",
            kind=gradweave.OptionError,
        )
        self.fails(lambda: gradweave.train(graph, input=good, weights={"v": good["x"]}), "'v'")

    def test_a_run_that_fails_has_its_report(self):
        fields = gradweave.load_npu("test8").to_dict()
        fields["memory"]["size_bytes"] = 4096
        with self.assertRaises(gradweave.RunError) as caught:
            gradweave.simulate("mlp", fields)
        self.assertEqual(caught.exception.report["outcome"], "bad_input")
        self.assertIn("memory", str(caught.exception))

    def test_an_npu_without_rtl(self):
        fields = gradweave.load_npu("test8").to_dict()
        fields["npu"]["name"] = "never_built"
        self.fails(lambda: gradweave.cosim("mlp", fields, batch=1), "never_built")
        # Libraries of a directory of one's own are not built when they are missing.
        with tempfile.TemporaryDirectory() as empty, unittest.mock.patch.dict(os.environ, GRADWEAVE_LIB_DIR=empty):
            self.fails(lambda: gradweave.cosim("mlp", "test8", batch=1, set={"npu.rows": 9}), "NOT RUN")


if __name__ == "__main__":
    unittest.main()
