"""Results equal those of the command, field by field."""

import json
import os
import subprocess
import tempfile
import unittest

import gradweave
from support import COMMAND, Case, command


class Reports(Case):
    def test_simulate(self):
        words = ["simulate", "--model", "lenet", "--npu", "test8", "--pass", "both", "--batch", "3", "--layers", "0-2"]
        self.assert_same_report(gradweave.simulate("lenet", "test8", pass_="both", batch=3, layers="0-2"), command(*words))

    def test_simulate_all_schedules_with_settings(self):
        words = "simulate --model mlp --npu small --schedule all --set npu.rows=16 --set net.batch=8 --tune=20"
        ours = gradweave.simulate("mlp", "small", schedule="all", set={"npu.rows": 16, "net.batch": 8}, tune=20)
        self.assert_same_report(ours, command(*words.split()))

    def test_cosim_functional(self):
        words = "cosim --model mlp --npu test8 --batch 4 --backend functional --data special --seed 7"
        ours = gradweave.cosim("mlp", "test8", batch=4, backend="functional", data="special", seed=7)
        self.assert_same_report(ours, command(*words.split()))
        self.assertEqual([o["mismatches"] for layer in ours["layers"] for o in layer["outputs"]], [0] * 5)

    def test_search(self):
        words = "search --model mlp --npu test8 --batch 4 --plans 3 --step-plans 5 --check timing"
        ours = gradweave.search("mlp", "test8", batch=4, plans=3, step_plans=5, check="timing")
        self.assert_same_report(ours, command(*words.split()))

    def test_weave(self):
        words = "weave --job mlp:4:both --job mlp:2:forward:2 --npu test8 --plans 2 --changes 10"
        ours = gradweave.weave([("mlp", 4, "both"), "mlp:2:forward:2"], "test8", plans=2, changes=10)
        self.assert_same_report(ours, command(*words.split()))

    def test_train(self):
        words = "train --model mlp --npu test8 --batch 2 --data synthetic --steps 3 --backend functional --optimizer sgd --lr 0.1"
        ours = gradweave.train(
            "mlp", "test8", batch=2, data="synthetic", steps=3, backend="functional", optimizer="sgd", lr=0.1
        )
        self.assertEqual(ours.pop("tensors"), {})
        self.assert_same_report(ours, command(*words.split()))

    def test_compile(self):
        text = subprocess.run(
            [COMMAND, "compile", "--model", "lenet", "--npu", "test8", "--json", "-"],
            check=True, capture_output=True, text=True,
        ).stdout
        self.assert_same_report(gradweave.compile("lenet", "test8").summary, json.loads(text))

    def test_pages(self):
        small = {"model": "mlp", "npu": "test8", "batch": 2}
        calls = {
            "simulate": lambda html: gradweave.simulate(**small, html=html),
            "cosim": lambda html: gradweave.cosim(**small, backend="functional", html=html),
            "search": lambda html: gradweave.search(**small, plans=2, step_plans=2, html=html),
            "train": lambda html: gradweave.train(**small, data="synthetic", steps=2, html=html),
        }
        with tempfile.TemporaryDirectory() as directory:
            for name, call in calls.items():
                file = os.path.join(directory, name + ".html")
                report = call(file)
                with open(file, encoding="utf-8") as page:
                    text = page.read()
                self.assertTrue(text.startswith("<!DOCTYPE html>"), name)
                self.assertIn(report["reproduce"], text, name)
            file = os.path.join(directory, "simulate.html")
            gradweave.simulate(gradweave.load_network("mlp", batch=2), "test8", html=file)
            self.assertGreater(os.path.getsize(file), 10000, "of an object, whose run no command repeats")
            os.remove(file)
            with self.assertRaises(gradweave.Error) as raised:
                gradweave.simulate(**small, html=os.path.join(directory, "none", "page.html"))
            self.assertIn("page.html", str(raised.exception))
            self.assertEqual(sorted(os.listdir(directory)), ["cosim.html", "search.html", "train.html"])

    def test_objects_give_what_their_names_do(self):
        network, npu = gradweave.load_network("lenet", batch=2), gradweave.load_npu("test8")
        ours = gradweave.simulate(network, npu)
        named = gradweave.simulate("lenet", "test8", batch=2)
        fields = gradweave.simulate(network, npu.to_dict())
        for report in (ours, fields):
            self.assertEqual(report["reproduce"], "")  # no command can name an object
            self.assert_same_report(report["layers"], named["layers"])
            self.assertEqual(report["npu"], named["npu"])


if __name__ == "__main__":
    unittest.main()
