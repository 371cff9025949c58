"""A training step of a network of PyTorch on an NPU, and PyTorch's own gradients beside it.

    PYTHONPATH=build/python /usr/bin/python3 python/examples/compare_with_torch.py [BACKEND [NPU]]
"""

import os
import sys
import tempfile

import numpy

import gradweave

try:
    import torch
except ImportError:
    print("skipped: this example takes PyTorch (Debian's python3-torch)")
    sys.exit(77)

backend, npu = (sys.argv[1:] + ["functional", "test8"][len(sys.argv) - 1 :])[:2]
torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Linear(20, 32), torch.nn.ReLU(), torch.nn.Linear(32, 5))
inputs, labels = torch.randn(8, 20), torch.randint(0, 5, (8,))

with tempfile.TemporaryDirectory() as directory:
    file = os.path.join(directory, "net.onnx")
    torch.onnx.export(net.eval(), inputs, file, input_names=["x"], output_names=["logits"])
    # An exported network has no loss; train() adds cross-entropy, and the input `labels` with it.
    step = gradweave.train(
        file, npu, backend=backend, input={"x": inputs.numpy(), "labels": labels.numpy()}, steps=1,
        extent="gradients", dump=["gradients"],
    )

torch.nn.functional.cross_entropy(net(inputs), labels).backward()
worst = 0.0
for name, parameter in net.named_parameters():
    ours, theirs = step["tensors"][name + ".grad"], parameter.grad.numpy()
    apart = numpy.linalg.norm(ours - theirs) / numpy.linalg.norm(theirs)
    worst = max(worst, apart)
    print(f"{name:10} gradients apart by {apart:.4f} of their norm")
# bf16 has 8 bits; docs/with-pytorch.md says what rounding costs, and where gradients jump.
print("products were rounded to bf16 where layers meet; that is", "all of it" if worst < 0.05 else "NOT all of it")
assert worst < 0.05
