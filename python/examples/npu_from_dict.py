"""An NPU that is described in Python: the same fields as configs/small.toml, and the same checks.

    PYTHONPATH=build/python python3 python/examples/npu_from_dict.py
"""

import gradweave

# Begin with one that there is, and change what matters.
fields = gradweave.load_npu("small").to_dict()
fields["npu"].update(name="wide", rows=32, cols=64)
fields["memory"]["bandwidth_gb_s"] = 44

for npu in ("small", fields):
    total = gradweave.simulate("lenet", npu)["totals"][0]
    name = npu if isinstance(npu, str) else npu["npu"]["name"]
    print(f"{name:6} {total['cycles']:10,} cycles, array {total['array_utilisation']:.1%}")

# A field alone can be set on the way.
total = gradweave.simulate("lenet", "small", set={"npu.rows": 32, "npu.cols": 64})["totals"][0]
print(f"32x64  {total['cycles']:10,} cycles with the memory of small")

# What does not fit says so, with the remedy.
fields["npu"]["rows"] = 0
try:
    gradweave.load_npu(fields)
except gradweave.Error as error:
    print("error:", error)
