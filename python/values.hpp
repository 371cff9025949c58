// Values on their way between Python and the libraries.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gradweave::python {

namespace py = pybind11;

/// Objects as dicts in the order of their fields, arrays as lists; text that is no UTF-8 with its bytes replaced.
py::object to_python(const nlohmann::ordered_json &json);

/// An array of NumPy, which is loaded when the first one is made, that owns `values`: nothing is copied. T has data().
template <typename Element, typename T> py::array array_owning(T values, std::vector<py::ssize_t> shape) {
  auto *owned = new T(std::move(values));
  const py::capsule owner(owned, [](void *kept) { delete static_cast<T *>(kept); });
  return py::array(py::dtype::of<Element>(), std::move(shape), owned->data(), owner);
}

/// `value`, which messages call `name`, as text: a str, or a path. Throws std::invalid_argument.
std::string text_of(std::string_view name, py::handle value);

/// Keyword arguments of a call, each taken once by the name that the command has for it. What is None was not given.
/// Everything throws std::invalid_argument that names the option, its value and what it takes.
class Options {
public:
  explicit Options(py::dict given) : given_(std::move(given)) {}

  void take(const char *name, std::string &value);
  void take(const char *name, bool &value);
  void take(const char *name, double &value, double least, double most);
  template <typename T> void take(const char *name, T &value, std::uint64_t least, std::uint64_t most) {
    if (const py::object found = find(name); !found.is_none()) value = static_cast<T>(number(name, found, least, most));
  }
  /// A list of texts, or one text with commas between its items.
  void take(const char *name, std::vector<std::string> &value);
  /// A dict of FIELD: value as a list of FIELD=VALUE.
  void take_settings(const char *name, std::vector<std::string> &value);
  /// What the command has as text, whatever Python has it as: a number of least to most where `most` is not 0. Returns
  /// whether it was given.
  bool take_any(const char *name, std::string &value, std::uint64_t least, std::uint64_t most);
  /// After all were taken: what is left is unknown.
  void done() const;

private:
  py::object find(const char *name);
  static std::uint64_t number(const char *name, py::handle value, std::uint64_t least, std::uint64_t most);

  py::dict given_;
  std::vector<std::string> known_;
};

} // namespace gradweave::python
