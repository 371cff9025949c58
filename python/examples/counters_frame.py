"""Hardware counters of all layers as a frame of pandas, or as a table without it.

    PYTHONPATH=build/python python3 python/examples/counters_frame.py [MODEL [NPU]]
"""

import sys

import gradweave

model, npu = (sys.argv[1:] + ["lenet", "small"][len(sys.argv) - 1 :])[:2]
layers = gradweave.simulate(model, npu)["layers"]
rows = [{"layer": layer["name"], **layer["counters"]} for layer in layers]

# The cycles of each engine add up: active, and each reason to wait, are the whole time.
for row in rows:
    assert row["CYCLES"] == sum(value for name, value in row.items() if name.startswith("COMPUTE_"))

try:
    import pandas

    print(pandas.DataFrame(rows).set_index("layer").filter(regex="^(CYCLES|COMPUTE_)"))
except ImportError:
    print("without pandas (Debian's python3-pandas):")
    names = [name for name in rows[0] if name == "CYCLES" or name.startswith("COMPUTE_")]
    for row in rows:
        print(f"{row['layer']:12}", ", ".join(f"{name} {row[name]:,}" for name in names))
