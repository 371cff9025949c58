#!/usr/bin/env python3
"""Makes the files beside it, with NumPy (1.24) and, of safetensors, by the format's description: make.py DIRECTORY"""
import json
import pathlib
import struct
import sys

import numpy

to = pathlib.Path(sys.argv[1])
values = numpy.arange(6, dtype="<f4").reshape(2, 3) / 4
numpy.save(to / "rows.npy", values)
numpy.save(to / "columns.npy", numpy.asfortranarray(numpy.arange(24, dtype="<f8").reshape(2, 3, 4)))
numpy.save(to / "half.npy", numpy.array([1, -2, 65504, 2.0 ** -24, numpy.inf], dtype="<f2"))
numpy.save(to / "labels.npy", numpy.array([3, -1, 2 ** 31 - 1], dtype="<i8"))
numpy.save(to / "scalar.npy", numpy.array(1.5, dtype="<f4"))
numpy.save(to / "bfloat16.npy", numpy.array([0x3F80, 0xC000], dtype="<u2").view("V2"))
with open(to / "version2.npy", "wb") as file:
    numpy.lib.format.write_array(file, values, version=(2, 0))
numpy.savez(to / "stored.npz", values=values, labels=numpy.array([1, 2], dtype="<i4"))
numpy.savez_compressed(to / "compressed.npz", zeros=numpy.zeros((64, 64), dtype="<f4"))
header = {"__metadata__": {"format": "pt"},
          "layer.weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
          "layer.bias": {"dtype": "BF16", "shape": [2], "data_offsets": [24, 28]},
          "nothing": {"dtype": "I64", "shape": [0, 4], "data_offsets": [28, 28]}}
text = json.dumps(header).encode()
(to / "three.safetensors").write_bytes(
    struct.pack("<Q", len(text)) + text + values.tobytes() + struct.pack("<HH", 0x3F80, 0xC000))
