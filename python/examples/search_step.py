"""How far schedules can go: the paper's, the best conventional one, a searched one, and the bound.

    PYTHONPATH=build/python python3 python/examples/search_step.py
"""

import gradweave

found = gradweave.search("lenet", "small", plans=20, step_plans=50, check="functional")

print(f"{'layer':10} {'bound':>9} {'paper':>9} {'convent.':>9} {'searched':>9}")
for layer in found["layers"]:
    print(
        f"{layer['name']:10} {layer['bound_cycles']:9,} {layer['paper_cycles']:9,} "
        f"{layer['conventional_cycles']:9,} {layer['searched_cycles']:9,}"
    )
print(f"layer by layer {found['searched_cycles']:,} cycles; the whole step in one stream {found['step_cycles']:,}")
bound = max(found["step_compute_bound_cycles"], found["step_traffic_bound_cycles"])
print(f"no step takes less than {bound:,}: the searched one is {found['step_cycles'] / bound:.2f} times that")
print("its bits were checked:", found["check"]["outcome"])
