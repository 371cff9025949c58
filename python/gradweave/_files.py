"""Networks and NPUs by name, file, or dict."""

from . import _core
from ._core import Network, Npu, Tensor
from ._options import given, options

__all__ = ["Network", "Npu", "Tensor", "load_network", "load_npu", "models", "npus", "operators"]


@options
def load_network(model, *, batch=None, until=None, set=None):
    """Reads the layers of a network: the products of its forward and backward pass.

    Args:
        model: a name (models()), or the path of a .graph, .onnx, .toml or .csv file (models/README.md, docs/onnx.md);
            or a Graph.
        batch: samples in a batch; None: as the file says.
        until: the op, node or tensor that a .graph or .onnx network ends with.
        set: other values of its variables: {"net.sequence": 64}.

    Returns:
        Network: `name`, `parameters` (a count), and `layers`, a list of dicts: Y (m x n) = X (m x k) W (k x n), each of
        `groups` products. Calls take it as their model, so that a file is read once.

    Raises:
        gradweave.Error: with file, and line where the file has lines.
    """
    return _core.load_network(getattr(model, "_core", model), given(locals(), "model"))


@options
def load_npu(npu, *, set=None):
    """Reads an NPU with its memory.

    Args:
        npu: a name (npus()), the path of a .toml file, or a dict with the tables and fields of such a file
            (configs/small.toml explains them): {"npu": {"name": "mine", "rows": 16, ...}, "memory": {...}}. A table may
            also be the path of a file that has it.
        set: fields with other values: {"npu.rows": 64, "memory.latency_cycles": 50}.

    Returns:
        Npu: `name`, and `to_dict()`, which is such a dict, to be changed and used.

    Raises:
        gradweave.Error: names field, value and remedy.
    """
    return _core.load_npu(npu, given(locals(), "npu"))


def models():
    """Names of the networks that come with gradweave."""
    return _core.models()


def npus():
    """Names of the NPUs that come with gradweave."""
    return _core.npus()


def operators():
    """Operators of graphs, by name: `summary`, `inputs` (names) and `attributes` (what each means)."""
    return _core.operators()
