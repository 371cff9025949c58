"""Where the array waits: the times of all commands of a layer as an array.

    PYTHONPATH=build/python python3 python/examples/timeline_gaps.py [FILE.json.gz]

With a file, the run is drawn for ui.perfetto.dev, too (docs/timeline.md).
"""

import sys

import numpy

import gradweave

(layer,) = gradweave.timeline("lenet", "small", layers="0", out=sys.argv[1] if len(sys.argv) > 1 else None)
times, engines = layer["times"], numpy.array(layer["engines"])

for engine in sorted(set(engines)):
    own = times[engines == engine]
    running = (own["done"] - own["start"]).sum() / layer["cycles"]  # LOADs overlap: the next one asks while data comes
    waited = (own["start"] - own["issue"]).mean()
    print(f"{engine:9} {len(own):5} commands, {running:.2f} of them at a time, after {waited:,.0f} cycles in the queue")

compute = numpy.flatnonzero(engines == "compute0")
gaps = times["start"][compute[1:]] - times["done"][compute[:-1]].clip(max=times["start"][compute[1:]])
for i in numpy.argsort(gaps)[::-1][:3]:
    print(f"the array waits {gaps[i]:,} cycles before {layer['commands'][compute[i + 1]]}")
