"""Two networks share an NPU: one after the other, and woven into one command stream.

    PYTHONPATH=build/python python3 python/examples/weave_two.py
"""

import gradweave

# A training step of LeNet-5 beside an inference of a perceptron, twice.
report = gradweave.weave(
    [("lenet", 4, "both"), ("mlp", 8, "forward", 2)], "small", plans=10, changes=100, backend="functional"
)

for job in report["jobs"]:
    print(f"{job['name']:16} alone {job['alone_cycles']:9,} cycles, here it ends after {job['finish_cycles']:9,}")
print(f"one after the other {report['one_by_one_cycles']:9,} cycles")
print(f"woven               {report['cycles']:9,} cycles; no order takes less than {report['bound_cycles']:,}")
print(f"throughput {report['stp']:.2f} networks' worth, fairness {report['fairness']:.2f}")
checked = sum(job["elements"] for job in report["jobs"])
print(f"{checked:,} elements of results were compared with the golden model, {report['run']['outcome']}")
