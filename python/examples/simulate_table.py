"""The layers of a network as a table: where the cycles of a training step go.

    PYTHONPATH=build/python python3 python/examples/simulate_table.py [MODEL [NPU]]
"""

import sys

import gradweave

model, npu = (sys.argv[1:] + ["lenet", "small"][len(sys.argv) - 1 :])[:2]
report = gradweave.simulate(model, npu, pass_="both")

print(f"{'layer':20} {'M x K x N':>18} {'cycles':>12} {'array':>7} {'of bound':>9}")
for layer in report["layers"]:
    shape = f"{layer['m']}x{layer['k']}x{layer['n']}"
    print(
        f"{layer['name']:20} {shape:>18} {layer['cycles']:12,} {layer['array_utilisation']:7.1%} "
        f"{layer['cycles'] / layer['bound']:9.2f}"
    )

total = report["totals"][0]
print(f"{total['layers']} layers: {total['cycles']:,} cycles = {total['milliseconds']:.3f} ms at {npu}'s clock")
print("the same by the command:", report["reproduce"])
