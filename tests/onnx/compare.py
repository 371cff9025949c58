"""compare.py FORWARD DIRECTORY NETWORK: exports a network of networks.py from torch, reads and runs it by the program
FORWARD (forward.cpp) in fp64, and compares
  - the shape of each value with ONNX's own shape inference,
  - the outputs with torch's in double precision, within 1e-6 of the largest element,
  - the number of parameters with torch's, and M, K, N of all layers with those of a network of models/, where the
    network says so.
Exit status 1 at a difference."""
import json
import os
import subprocess
import sys
import warnings

import numpy as np
import onnx
import torch

from networks import NETWORKS

warnings.filterwarnings("ignore")
LIMIT = 1e-6


def export(name, directory, opset, options):
    torch.manual_seed(5)
    make, sample, _ = NETWORKS[name]
    net = make().eval()
    for parameter in net.parameters():  # the exporter makes one tensor of equal ones
        parameter.data.add_(0.02 * torch.randn_like(parameter))
    for module in net.modules():  # averages and factors as a trained network has them, not 0 and 1
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
            torch.nn.init.normal_(module.bias, 0, 0.1)
    inputs = sample()
    mode = torch.onnx.TrainingMode.PRESERVE if options.get("training") else torch.onnx.TrainingMode.EVAL
    path = os.path.join(directory, f"{name}_{opset}.onnx")
    names = [f"input{i}" for i in range(len(inputs))]
    axes = {n: {0: "batch"} for n in names} if options.get("batch", True) else None
    torch.onnx.export(net, inputs, path, opset_version=opset, training=mode, do_constant_folding=not options.get("training"),
                      input_names=names, dynamic_axes=axes)
    return net, inputs, path


def forward(program, path, directory, inputs, layers=False):
    for i, x in enumerate(inputs):
        x.numpy().astype(np.float64).tofile(os.path.join(directory, f"input{i}.bin"))
    command = [program, path, directory]
    if path.endswith(".onnx") and any(d.dim_param for d in onnx.load(path, load_external_data=False).graph.input[0].type.tensor_type.shape.dim):
        command.append(str(inputs[0].shape[0]))
    subprocess.run(command + ["--layers"] * layers, check=True)
    with open(os.path.join(directory, "result.json"), encoding="utf-8") as file:
        return json.load(file)


def inferred(path, batch):
    model = onnx.load(path)
    for value in model.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_value = batch
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    model = onnx.shape_inference.infer_shapes(model, data_prop=True)
    shapes = {}
    for value in list(model.graph.value_info) + list(model.graph.output):
        dims = value.type.tensor_type.shape.dim
        if value.type.tensor_type.HasField("shape") and all(d.HasField("dim_value") for d in dims):
            shapes[value.name] = [d.dim_value for d in dims]
    return shapes


def compare(program, directory, name, opset, options):
    net, inputs, path = export(name, directory, opset, options)
    result = forward(program, path, directory, inputs, "layers" in options)
    shapes, ours = inferred(path, inputs[0].shape[0]), result["shapes"]
    common = [v for v in shapes if v in ours]
    wrong = [f"{v}: {ours[v]} and {shapes[v]}" for v in common if ours[v] != shapes[v]]
    with torch.no_grad():
        wanted = net.double()(*[x.double() if x.is_floating_point() else x for x in inputs])
    wanted = [w for w in (wanted if isinstance(wanted, tuple) else (wanted,)) if torch.is_tensor(w)]
    error = 0.0
    for w, output in zip(wanted, result["outputs"]):
        got = np.fromfile(os.path.join(directory, output["file"])).reshape(output["dims"])
        w = w.numpy()
        error = max(error, float(np.abs(got - w).max() / max(1e-30, np.abs(w).max())) if got.shape == w.shape else np.inf)
    if options.get("layers"):
        twin = os.path.join(os.path.dirname(__file__), "..", "..", "models", options["layers"])
        same = forward(program, twin, directory, [])
        if [layer[1:] for layer in same["layers"]] != [layer[1:] for layer in result["layers"]]:
            wrong.append(f"layers differ from those of {twin}")
        if same["parameters"] != result["parameters"]:
            wrong.append(f"{twin} has {same['parameters']} parameters")
    parameters = sum(p.numel() for p in net.parameters())
    failed = bool(wrong) or not error <= LIMIT or not common or (options.get("training") and parameters != result["parameters"])
    print(f"{'FAIL' if failed else 'pass'} {name} opset {opset}: outputs within {error:.1e} of the largest; "
          f"shapes of {len(common)} of {len(shapes)} nodes compared, {len(wrong)} differ; {result['transposes']} transposes; "
          f"parameters {result['parameters']}, torch {parameters}")
    for line in wrong[:5]:
        print("   ", line)
    return not failed


def main():
    program, directory, name = sys.argv[1:4]
    options = NETWORKS[name][2]
    good = [compare(program, directory, name, opset, options) for opset in options.get("opsets", (13,))]
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
