// Memory of the libraries as arrays of NumPy, which is loaded when the first one is made.
#pragma once

#include <pybind11/numpy.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace gradweave::python {

/// An array that owns `values`: nothing is copied. T is any container with data() that keeps its place when it moves to
/// the heap.
template <typename Element, typename T> pybind11::array array_owning(T values, std::vector<pybind11::ssize_t> shape) {
  auto *owned = new T(std::move(values));
  const pybind11::capsule owner(owned, [](void *kept) { delete static_cast<T *>(kept); });
  return pybind11::array(pybind11::dtype::of<Element>(), std::move(shape), owned->data(), owner);
}

} // namespace gradweave::python
