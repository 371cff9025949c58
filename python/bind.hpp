// What the module gradweave._core has, a function a file.
#pragma once

#include <pybind11/pybind11.h>

namespace gradweave::python {

namespace py = pybind11;

void bind_errors();                    ///< what the libraries throw becomes gradweave.Error and its kin
void bind_files(py::module_ &module);  ///< names; Network, Npu, and how they are read
void bind_graphs(py::module_ &module); ///< Graph, Tensor, operators
void bind_runs(py::module_ &module);   ///< compile, simulate, cosim
void bind_train(py::module_ &module);  ///< train
void bind_search(py::module_ &module); ///< search, weave

} // namespace gradweave::python
