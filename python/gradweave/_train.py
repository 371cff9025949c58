"""Training steps, with tensors in and out."""

from . import _core
from ._options import given, options


def _arrays(tensors, alone):
    """A dict of arrays as the module reads them; one array alone gets the name `alone`."""
    if tensors is None:
        return {}
    import numpy

    named = tensors if isinstance(tensors, dict) else {alone: tensors}
    # Contiguous arrays are taken where they lie; others are copied here.
    return {name: numpy.ascontiguousarray(array) for name, array in named.items()}


@options
def train(
    model="mlp_fashion",
    npu="small",
    *,
    backend=None,
    data=None,
    input=None,
    target=None,
    weights=None,
    dump=None,
    steps=None,
    epochs=None,
    batch=None,
    accumulate=None,
    seed=None,
    extent=None,
    optimizer=None,
    lr=None,
    schedule_lr=None,
    warmup=None,
    weight_decay=None,
    momentum=None,
    clip=None,
    sparse_embeddings=None,
    evaluate=None,
    loss=None,
    schedule=None,
    convolution=None,
    until=None,
    set=None,
    jobs=None,
    html=None,
):
    """Trains a network: loss, gradients and optimizer, with its products on an NPU if asked for.

    Every tensor of a step on an NPU is compared with the golden one, bit by bit.

        step = gradweave.train("net.onnx", "small", backend="rtl", input={"image": images, "labels": labels},
                               steps=1, extent="gradients", dump=["gradients", "outputs"])
        step["tensors"]["fc1.weight.grad"]

    Args:
        model: a name, the path of a .graph or .onnx file, or a Graph with a loss.
        npu: as of simulate(); nothing counts of it where the backend is golden.
        backend: golden (default), or what products run on: rtl, functional, timing.
        data: fashion-mnist (default), synthetic, or a directory of IDX files; nothing where input or target are given.
        input, target: arrays by name, {"images": [samples, ...], "labels": [samples]}, any number of batches along the
            first dimension; or one array alone. float16, float32, float64, int32 or int64. Each batch is copied as it
            is fed, since a step rounds it and may arrange it otherwise.
        weights: arrays of all parameters by name; None: drawn from the seed.
        dump: tensors of the last step to return: a list of gradients, weights (after the step), outputs, all, or names.
        steps, epochs: how long; None: an epoch, or 10 steps of synthetic data.
        batch: samples in a batch; None: as the network says.
        accumulate: batches whose gradients make one step.
        extent: updates (default), gradients, or forward.
        optimizer, lr, schedule_lr, warmup, weight_decay, momentum, clip, sparse_embeddings: as of `gradweave train`.
        evaluate: tell the accuracy on test images.
        loss: cross_entropy, mse or bce, of a network that has none.
        schedule: of the products. convolution, until, set: as of simulate().
        jobs: steps at a time, each on an NPU of its own; None: of the RTL one a core. No result depends on it.
        html: file for the report as a page to look at, with the curve of losses.

    Returns:
        dict: what `gradweave train --json` writes: `losses` of all steps, what was compared, the step's cycles and
        bytes. Beside it `tensors`, the dumped ones as arrays by name, gradients as NAME.grad, arranged as in the
        network's file. fp32 and int64 arrays own the memory that the step left; bf16, which NumPy lacks, is widened
        to float32, exactly.

    Raises:
        gradweave.RunError: a tensor differs from the golden one, or the NPU stopped.
        gradweave.Error, gradweave.OptionError: names tensor, shape and remedy.

    Ctrl-C ends it between two steps.
    """
    chosen = given(locals(), "model", "npu", "input", "target", "weights")
    if isinstance(dump, str):
        chosen["dump"] = dump.split(",")
    return _core.train(
        getattr(model, "_core", model), npu, _arrays(weights, "weights"), _arrays(input, "input"),
        _arrays(target, "target"), chosen,
    )
