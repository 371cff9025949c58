"""Arrays are the libraries' own memory; other threads of Python run meanwhile; Ctrl-C ends long calls."""

import gc
import os
import signal
import threading
import time
import unittest

import numpy

import gradweave
from support import Case


class Memory(Case):
    def test_streams_are_not_copied(self):
        compiled = gradweave.compile("mlp", "test8", batch=2)
        first, again = compiled.stream(0), compiled.stream(0)
        self.assertTrue(numpy.shares_memory(first, again))
        self.assertEqual((first.dtype, first.shape[1]), (numpy.uint32, 16))
        self.assertEqual(first.shape[0], compiled.summary["layers"][0]["commands"])
        self.assertFalse(first.flags.writeable)
        kept = first.copy()
        del compiled, again
        gc.collect()
        numpy.testing.assert_array_equal(first, kept)  # the array keeps the compilation
        with self.assertRaises(IndexError):
            gradweave.compile("mlp", "test8", batch=2, layers="0").stream(1)

    def test_times_and_tensors_own_their_memory(self):
        (layer,) = gradweave.timeline("mlp", "test8", batch=2, layers="1")
        self.assertEqual(layer["times"].dtype.names, ("issue", "start", "done"))
        self.assertIsNotNone(layer["times"].base)  # what the simulation left, no copy
        self.assertEqual(len(layer["times"]), len(layer["commands"]))
        self.assertTrue((layer["times"]["start"] <= layer["times"]["done"]).all())
        step = gradweave.train("mlp", batch=2, data="synthetic", steps=1, dump="gradients")
        for name, array in step["tensors"].items():
            self.assertIsNotNone(array.base, name)
            self.assertEqual(array.dtype, numpy.float32)

    def test_inputs_may_be_views(self):
        images = numpy.random.default_rng(1).standard_normal((8, 784)).astype(numpy.float32)
        labels = numpy.arange(8) % 10
        wide = numpy.zeros((8, 1568), numpy.float32)
        wide[:, ::2] = images
        runs = [
            gradweave.train("mlp", batch=4, input={"images": x, "labels": labels}, steps=2, dump=["weights"])
            for x in (images, wide[:, ::2], images.astype(numpy.float64))
        ]
        for name, array in runs[0]["tensors"].items():
            for run in runs[1:]:
                self.assertEqual(array.tobytes(), run["tensors"][name].tobytes())

    def test_weights_come_back(self):
        wanted = dict(batch=4, data="synthetic", steps=1, dump=["weights"])
        first = gradweave.train("mlp", **wanted)["tensors"]
        state = {name: array for name, array in first.items()}
        frozen = gradweave.train("mlp", weights=state, lr=0.0, weight_decay=0.0, **wanted)["tensors"]
        for name, array in first.items():
            self.assertEqual(array.tobytes(), frozen[name].tobytes())


class Threads(Case):
    def test_the_lock_is_released(self):
        counted, stop = [0], threading.Event()

        def count():
            while not stop.is_set():
                counted[0] += 1
                time.sleep(0.001)

        counter = threading.Thread(target=count)
        counter.start()
        before = counted[0]
        gradweave.simulate("bert_tiny", "small", plan_cache="off", layers="0-4", plans=300)
        during = counted[0] - before
        stop.set()
        counter.join()
        self.assertGreater(during, 5)

    def test_two_calls_at_once(self):
        reports = {}

        def run(npu):
            reports[npu] = gradweave.simulate("mlp", npu, batch=4, plan_cache="off")

        threads = [threading.Thread(target=run, args=(npu,)) for npu in ("test8", "small")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for npu, report in reports.items():
            self.assert_same_report(report["layers"], gradweave.simulate("mlp", npu, batch=4)["layers"])

    def interrupted(self, call):
        # Whoever runs tests in the background has it ignored.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        start = time.monotonic()
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            call()
        self.assertLess(time.monotonic() - start, 30)

    def test_ctrl_c_ends_long_calls(self):
        long = dict(plan_cache="off", tune=10**7)
        self.interrupted(lambda: gradweave.simulate("bert_tiny", "small", **long))
        self.interrupted(lambda: gradweave.compile("bert_tiny", "small", **long))
        self.interrupted(lambda: gradweave.cosim("bert_tiny", "small", backend="functional", **long))
        self.interrupted(lambda: gradweave.search("bert_tiny", "small", plans=10**6, step_plans=10**7))
        self.interrupted(lambda: gradweave.train("bert_tiny", data="synthetic", steps=10**6, set={"net.layers": 1}))
        # What was interrupted leaves nothing behind that the next call would trip over.
        self.assertEqual(gradweave.simulate("mlp", "test8", batch=1)["verdict"], "PASS")


if __name__ == "__main__":
    unittest.main()
