"""Layers on an NPU: compiled, simulated, cosimulated."""

from . import _core
from ._core import Compilation
from ._options import given, options

__all__ = ["Compilation", "compile", "simulate", "cosim", "timeline", "search", "weave"]


def _model(model):
    return getattr(model, "_core", model)


@options
def simulate(
    model="bert_tiny",
    npu="small",
    *,
    schedule=None,
    pass_=None,
    batch=None,
    layers=None,
    until=None,
    set=None,
    convolution=None,
    tune=None,
    partition=None,
    parts=None,
    reduction=None,
    sharing=None,
    plans=None,
    search_seed=None,
    objective=None,
    flexer_policy=None,
    plan_cache=None,
    jobs=None,
    times=None,
    timeline=None,
    html=None,
):
    """Counts the cycles of a network's layers on the timing model, which equals the RTL to the cycle. No data.

        report = gradweave.simulate("resnet50", "large", pass_="both", batch=8)
        print(report["totals"][0]["milliseconds"])
        frame = pandas.DataFrame(report["layers"])

    Args:
        model: a name, a path, a Network or a Graph (see load_network()).
        npu: a name, a path, a dict or an Npu (see load_npu()).
        schedule: rearrange (default), sequential, interleave, ... or all, which compares (docs/cli.md).
        pass_: backward (default), forward, or both, which is a training step.
        batch: samples in a batch; None: as the network says.
        layers: names, numbers from 0 and ranges, as in "0,3-5,ffn1"; None: all.
        until: the op, node or tensor that a network's file ends with.
        set: fields of the NPU, its memory or the network with other values: {"npu.rows": 64, "net.sequence": 64}.
        convolution: image (default) or im2col: what convolutions read.
        tune: plans to try beyond the usual search.
        partition, parts, reduction, sharing: how several cores share a layer (docs/compiler.md).
        plans, search_seed: effort and seed of the search for plans.
        objective: what it minimises: cycles (default), energy, or edp, their product (docs/energy.md).
        flexer_policy: choices of the schedule flexer.
        plan_cache: directory of plans that earlier runs found, or "off"; None: the usual one of the command.
        jobs: threads that look for plans; None: one a core.
        times, timeline: files for the times of all commands as CSV, and drawn for ui.perfetto.dev.
        html: file for the report as a page to look at (docs/report.md).

    Returns:
        dict: the JSON report of `gradweave simulate --json` (docs/report.md), field by field: `totals` has an entry for
        each schedule, `layers` one for each layer and schedule, with `cycles` (of the NPU's clock), `macs`, `counters`
        (each a number of cycles, bytes or commands, docs/isa.md), `dram` (bytes by tensor) and bounds in cycles.
        `reproduce` is the command that repeats the run; empty if an argument is an object that no command can name.

    Raises:
        gradweave.OptionError: an argument is wrong.
        gradweave.Error: a file is wrong; with file and line.
        gradweave.RunError: a layer does not fit the NPU; with the report.

    Other threads of Python run meanwhile, and Ctrl-C ends it.
    """
    return _core.simulate(_model(model), npu, given(locals(), "model", "npu"))


@options
def cosim(
    model="bert_tiny",
    npu="small",
    *,
    backend=None,
    data=None,
    seed=None,
    schedule=None,
    pass_=None,
    batch=None,
    layers=None,
    until=None,
    set=None,
    convolution=None,
    tune=None,
    partition=None,
    parts=None,
    reduction=None,
    sharing=None,
    plans=None,
    search_seed=None,
    objective=None,
    flexer_policy=None,
    plan_cache=None,
    jobs=None,
    times=None,
    timeline=None,
    html=None,
    stall_probability=None,
    stress_seed=None,
    trace_file=None,
    trace_from=None,
    trace_to=None,
):
    """Runs a network's layers on the Verilated NPU, and compares every bit of every result with the golden model.

        report = gradweave.cosim("mlp", "test8", batch=4)
        for layer in report["layers"]:
            print(layer["name"], layer["cycles"], layer["outputs"])

    Args:
        backend: rtl (default; an NPU that is not built is built first where that can be done, else an error says how),
            functional (bits without time) or timing (cycles without data).
        data: normal (default) or special: zeros, subnormals, cancellation, overflow, infinities, NaN.
        seed: of the data.
        jobs: simulations at a time, each a process; None: one a core.
        stall_probability, stress_seed: chance per bus channel and cycle of a held-back handshake, 0 to 0.99, and its
            seed; only of rtl.
        trace_file, trace_from, trace_to: an FST waveform of one layer, and its first and last cycle.
        The others: as of simulate().

    Returns:
        dict: the JSON report (docs/report.md). `outputs` of a layer has for each result the elements compared, the
        mismatches (0), and a hash of all its bits.

    Raises:
        gradweave.RunError: a bit or a counter is wrong, the NPU stopped or is not built; with the report where there is
            one.
        gradweave.OptionError, gradweave.Error: as of simulate().
    """
    return _core.cosim(_model(model), npu, given(locals(), "model", "npu"))


@options
def compile(
    model="bert_tiny",
    npu="small",
    *,
    schedule=None,
    pass_=None,
    batch=None,
    layers=None,
    until=None,
    set=None,
    convolution=None,
    tune=None,
    partition=None,
    parts=None,
    reduction=None,
    sharing=None,
    plans=None,
    search_seed=None,
    objective=None,
    flexer_policy=None,
    plan_cache=None,
):
    """Compiles a network's layers to binary command streams, each verified.

    Args:
        As of simulate(); one schedule.

    Returns:
        Compilation: `summary` is what `gradweave compile --json` writes. `stream(i)` is the stream of layer i as an
        array of uint32, [commands, 16 words] (docs/isa.md): the memory of the compilation itself, read-only, nothing is
        copied. `write(directory, listing=False)` writes the streams as .gws files.

    Raises:
        gradweave.Error: a layer does not fit the NPU, or a file is wrong.
    """
    return _core.compile(_model(model), npu, given(locals(), "model", "npu"))


@options
def timeline(
    model="bert_tiny",
    npu="small",
    *,
    out=None,
    schedule=None,
    pass_=None,
    batch=None,
    layers=None,
    until=None,
    set=None,
    convolution=None,
    tune=None,
    partition=None,
    parts=None,
    reduction=None,
    sharing=None,
    plans=None,
    search_seed=None,
    objective=None,
    flexer_policy=None,
    plan_cache=None,
    jobs=None,
):
    """Simulates layers, and tells when each command was issued, started and done.

    Args:
        out: draws the run for ui.perfetto.dev into this file as well (.json, or .json.gz; docs/timeline.md).
        The others: as of simulate().

    Returns:
        list of dict, one a layer and schedule: `name`, `schedule`, `cycles`; `times`, an array with the fields issue,
        start and done (uint64, cycles from the layer's begin), one entry a command, in memory that it owns; `engines`
        ("load", "compute0", "store", ...) and `commands` ("GEMM ffn1 dW[0:45,90:135] red 0:128") likewise.
    """
    chosen = given(locals(), "model", "npu", "out")
    if out is not None:
        chosen["timeline"] = out
    return _core.timeline(_model(model), npu, chosen)[1]


@options
def search(
    model="bert_tiny",
    npu="small",
    *,
    pass_=None,
    batch=None,
    layers=None,
    until=None,
    set=None,
    convolution=None,
    plans=None,
    step_plans=None,
    start=None,
    weave_again=None,
    objective=None,
    check=None,
    data=None,
    seed=None,
    html=None,
):
    """Searches the fastest schedule of each layer, and of the whole training step in one stream.

    Args:
        plans: plans to simulate for each layer, pass and order; None: 100.
        step_plans: changes of the whole step to simulate; None: 300.
        start: reuse (default) or placement: what the search of the step begins with.
        weave_again: True: weaves the fastest step once more, also with plans that move less; more work.
        objective: what the searches minimise: cycles (default), energy, or edp.
        check: backend that runs the step with data, every bit checked; None: none. `data`, `seed`: its data.
        html: file for the same as a page to look at.
        The others: as of simulate(); pass_ is both.

    Returns:
        dict: what `gradweave search --json` writes: for each layer the cycles (or the cost, of another objective) of the
        paper's scheme, of the best conventional plan, of the best plan found, and the bound; sums; `step_cycles` of the
        whole step, and its energy.
    """
    return _core.search(_model(model), npu, given(locals(), "model", "npu"))


def _job(job):
    if isinstance(job, str):
        return job
    model, batch, pass_, *copies = job
    return ":".join(str(part) for part in (model, batch, pass_, *copies))


@options
def weave(
    jobs,
    npu="small",
    *,
    policy=None,
    backend=None,
    data=None,
    seed=None,
    plans=None,
    changes=None,
    search_seed=None,
    threads=None,
    set=None,
    convolution=None,
):
    """Runs several networks on one NPU, woven into one command stream.

        gradweave.weave([("bert_tiny", 4, "both"), ("bert_tiny", 1, "forward", 2)])

    Args:
        jobs: a list; each a tuple (model, batch, pass) or (model, batch, pass, copies), or the same as text,
            "bert_tiny,layers=2:4:forward:2". `model` is a name or a path, with variables behind commas.
        policy: tiles (default) or another of docs/weaving.md.
        backend: timing (default), functional or rtl.
        plans, changes, search_seed, threads: effort and seed of the search.
        The others: as of simulate() and cosim().

    Returns:
        dict: what `gradweave weave --json` writes: `cycles` of all together, `one_by_one_cycles`, bounds; for each job
        the cycles alone and until it ended; stp, antt, fairness.
    """
    return _core.weave([_job(job) for job in jobs], npu, given(locals(), "jobs", "npu"))
