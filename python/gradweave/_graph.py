"""Graphs made in Python."""

import os
import sys

from . import _core
from ._errors import OptionError
from ._options import given, options


def _where():
    frame = sys._getframe(2)
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


class Graph:
    """A network as a graph of tensors and operators, built call by call.

    Each call is checked at once: shapes, types and attributes. What does not fit is a gradweave.Error whose `file` and
    `line` are those of the call. Names are unique; models/README.md and docs/operators.md say what operators compute.

        g = gradweave.Graph("perceptron")
        x = g.input("images", [64, 784])
        labels = g.input("labels", [64], type="int32")
        h = g.op("Relu", g.op("Gemm", x, g.parameter("fc1.weight", [784, 100])))
        logits = g.op("Gemm", h, g.parameter("fc2.weight", [100, 10]))
        g.result(logits)
        g.loss(g.op("SoftmaxCrossEntropy", logits, labels))

    A graph goes wherever calls take a model: its products are the layers of simulate(), cosim(), compile() and search();
    train() runs all of it.
    """

    def __init__(self, name, *, _core_graph=None):
        self._core = _core_graph if _core_graph is not None else _core.Graph(name)

    @property
    def name(self):
        """Its name."""
        return self._core.name

    def input(self, name, shape, type="fp32"):
        """Adds an input: `shape` in elements, outermost first; `type` is fp32, bf16 or int32 (labels, indices)."""
        return self._core.input(_where(), name, shape, type)

    def parameter(self, name, shape, init="kaiming", frozen=False):
        """Adds what is learned. `init` says how a fresh network fills it: zeros, ones, kaiming, xavier, normal:0.02 ...
        Products take weights as [in, out]. `frozen`: it is not learned."""
        return self._core.parameter(_where(), name, shape, init, frozen)

    def state(self, name, shape, init="zeros"):
        """Adds what lives from step to step and is not learned: running averages. update() says what becomes of it."""
        return self._core.state(_where(), name, shape, init)

    def update(self, tensor, next):
        """Says that `tensor`, a state, is `next` in the next step: a tensor of the same shape that the graph computes."""
        self._core.update(_where(), tensor, next)

    def constant(self, name, shape, values, type="fp32"):
        """Adds constants: `values` are all elements in a flat list, or one for all."""
        return self._core.constant(_where(), name, shape, [float(v) for v in values], type)

    def op(self, operator, *inputs, name="", outputs=0, **attributes):
        """Adds an operator on tensors of this graph (None: an optional input that is left out).

        Returns its result, or a list if it has several. `outputs`: how many, of one that splits. Attributes are
        keywords; gradweave.operators() has the operators, their inputs and their attributes.
        """
        results = self._core.op(_where(), operator, inputs, name, outputs, attributes)
        return results[0] if len(results) == 1 else results

    def result(self, tensor):
        """Says what a run is for: logits, for example."""
        self._core.result(tensor)

    def loss(self, tensor):
        """Says what training makes small: a tensor of one element."""
        self._core.loss(tensor)

    def tensors(self):
        """All tensors, as a dict by name."""
        return {t.name: t for t in self._core.tensors()}

    def text(self):
        """The graph as a .graph file has it (models/README.md)."""
        return self._core.text()

    def save(self, path):
        """Writes text() to a file, which the command takes as --model: its runs have the same bits."""
        if not os.fspath(path).endswith(".graph"):
            raise OptionError(f"save: {os.fspath(path)} must end in .graph, by which it is known as a graph")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text())

    def __repr__(self):
        return f"<gradweave.Graph '{self.name}', {len(self._core.tensors())} tensors>"


@options
def load_graph(model, *, batch=None, until=None, set=None):
    """Reads a whole network as a Graph: its name (gradweave.models()), or the path of a .graph or .onnx file.

    Args:
        batch: samples in a batch; None: as the file says.
        until: the op, node or tensor that the network ends with.
        set: other values of its variables, as {"net.layers": 2}.

    Raises:
        gradweave.Error: with file, and line where the file has lines.
    """
    return Graph(None, _core_graph=_core.load_graph(model, given(locals(), "model")))
