"""How cycles follow the size of the array and the bandwidth, drawn with matplotlib.

    PYTHONPATH=build/python /usr/bin/python3 python/examples/sweep_plot.py [FILE.png]

`gradweave sweep` does the same for many points, on all cores, and goes on where it was (docs/sweeps.md).
"""

import sys

import gradweave

try:
    import matplotlib
except ImportError:
    print("skipped: this example takes matplotlib (Debian's python3-matplotlib)")
    sys.exit(77)
matplotlib.use("Agg")
from matplotlib import pyplot

network = gradweave.load_network("lenet")  # read once
sides, bandwidths = [16, 32, 48, 64], [5, 11, 22]
for bandwidth in bandwidths:
    cycles = [
        gradweave.simulate(
            network, "small", set={"npu.rows": side, "npu.cols": side, "memory.bandwidth_gb_s": bandwidth}
        )["totals"][0]["cycles"]
        for side in sides
    ]
    print(f"{bandwidth:4} GB/s: " + ", ".join(f"{side}: {c:,}" for side, c in zip(sides, cycles)))
    pyplot.plot(sides, cycles, marker="o", label=f"{bandwidth} GB/s")

pyplot.xlabel("rows and columns of the array")
pyplot.ylabel("cycles of LeNet-5's backward pass")
pyplot.ylim(bottom=0)
pyplot.legend(loc="lower left")
pyplot.tight_layout()
pyplot.savefig(sys.argv[1] if len(sys.argv) > 1 else "sweep.png")
