"""gradweave: the backward pass of a network on an NPU, cycle by cycle, every bit checked.

    import gradweave
    report = gradweave.simulate("resnet50", "large", pass_="both", batch=8)
    report["totals"][0]["milliseconds"], report["layers"][0]["counters"]

Calls have the names and the options of the `gradweave` command; `help(gradweave.simulate)` has them all.

    simulate, timeline     cycles on the timing model, which equals the RTL to the cycle
    cosim                  the Verilated NPU, every result bit compared
    train                  steps of training, with arrays in and out
    compile                command streams
    search, weave          faster schedules; several networks at once
    load_network, load_graph, load_npu, Graph    what they work on
    models, npus, operators                      what there is

What is wrong is a gradweave.Error, with the file and the line where they are known.
"""

from ._errors import Error, OptionError, RunError
from ._files import Network, Npu, Tensor, load_network, load_npu, models, npus, operators
from ._graph import Graph, load_graph
from ._runs import Compilation, compile, cosim, search, simulate, timeline, weave
from ._train import train

__all__ = [
    "Compilation",
    "Error",
    "Graph",
    "Network",
    "Npu",
    "OptionError",
    "RunError",
    "Tensor",
    "compile",
    "cosim",
    "load_graph",
    "load_network",
    "load_npu",
    "models",
    "npus",
    "operators",
    "search",
    "simulate",
    "timeline",
    "train",
    "weave",
]
