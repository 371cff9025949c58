"""An ONNX file: its layers, their cycles, and what is wrong with one that is broken.

    PYTHONPATH=build/python /usr/bin/python3 python/examples/onnx_file.py [FILE.onnx]
"""

import os
import sys
import tempfile

import gradweave

with tempfile.TemporaryDirectory() as directory:
    if len(sys.argv) > 1:
        file = sys.argv[1]
    else:
        try:
            import onnx
        except ImportError:
            print("skipped: name an .onnx file, or install Debian's python3-onnx, which makes one here")
            sys.exit(77)
        value = onnx.helper.make_tensor_value_info
        weight = onnx.helper.make_tensor("fc.weight", 1, [6, 3], [0.1 * i for i in range(18)])
        nodes = [onnx.helper.make_node("MatMul", ["x", "fc.weight"], ["y"], name="fc")]
        graph = onnx.helper.make_graph(nodes, "one_layer", [value("x", 1, ["batch", 6])], [value("y", 1, None)], [weight])
        file = os.path.join(directory, "one_layer.onnx")
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)
        onnx.save(model, file)

    network = gradweave.load_network(file, batch=4)
    for layer in network.layers:
        print(f"{layer['name']}: {layer['m']} x {layer['k']} x {layer['n']}, dX {'needed' if layer['dx'] else 'not needed'}")
    print(f"{gradweave.simulate(network, 'small', pass_='both')['totals'][0]['cycles']:,} cycles")

    broken = os.path.join(directory, "broken.onnx")
    with open(file, "rb") as whole, open(broken, "wb") as cut:
        cut.write(whole.read()[:40])
    try:
        gradweave.load_network(broken)
    except gradweave.Error as error:
        print("error:", os.path.basename(str(error.file)), "-", str(error).split(": ", 1)[1])
