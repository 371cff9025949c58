#include "python/values.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <stdexcept>

namespace gradweave::python {
namespace {

using Json = nlohmann::ordered_json;

py::str text(const std::string &value) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(value.data(), static_cast<Py_ssize_t>(value.size()), "replace"));
}

[[noreturn]] void refuse(const char *name, py::handle value, const std::string &wanted) {
  throw std::invalid_argument(fmt::format("{} = {} is not {}", name, py::repr(value).cast<std::string>(), wanted));
}

std::string path_text(const char *name, py::handle value) {
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  if (py::hasattr(value, "__fspath__")) return py::str(value.attr("__fspath__")()).cast<std::string>();
  refuse(name, value, "a text");
}

} // namespace

py::object to_python(const Json &json) {
  switch (json.type()) {
  case Json::value_t::object: {
    py::dict dict;
    for (const auto &[key, value] : json.items())
      dict[text(key)] = to_python(value);
    return std::move(dict);
  }
  case Json::value_t::array: {
    py::list list(json.size());
    for (std::size_t i = 0; i < json.size(); ++i)
      list[i] = to_python(json[i]);
    return std::move(list);
  }
  case Json::value_t::string:
    return text(json.get_ref<const std::string &>());
  case Json::value_t::boolean:
    return py::bool_(json.get<bool>());
  case Json::value_t::number_unsigned:
    return py::int_(json.get<std::uint64_t>());
  case Json::value_t::number_integer:
    return py::int_(json.get<std::int64_t>());
  case Json::value_t::number_float:
    // What JSON has no number for is null in the command's report, and None here.
    return std::isfinite(json.get<double>()) ? py::object(py::float_(json.get<double>())) : py::none();
  default:
    return py::none();
  }
}

std::string text_of(std::string_view name, py::handle value) { return path_text(std::string(name).c_str(), value); }

py::object Options::find(const char *name) {
  known_.emplace_back(name);
  if (!given_.contains(name)) return py::none();
  return given_.attr("pop")(name);
}

std::uint64_t Options::number(const char *name, py::handle value, std::uint64_t least, std::uint64_t most) {
  const std::string wanted = fmt::format("a whole number from {} to {}", least, most);
  // What numpy counts with has __index__, and no fraction.
  if (PyIndex_Check(value.ptr()) == 0 || py::isinstance<py::bool_>(value)) refuse(name, value, wanted);
  const auto whole = py::reinterpret_steal<py::int_>(PyNumber_Index(value.ptr()));
  const std::uint64_t result = PyLong_AsUnsignedLongLong(whole.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse(name, value, wanted);
  }
  if (result < least || result > most) refuse(name, value, wanted);
  return result;
}

void Options::take(const char *name, std::string &value) {
  if (const py::object found = find(name); !found.is_none()) value = path_text(name, found);
}

void Options::take(const char *name, bool &value) {
  const py::object found = find(name);
  if (found.is_none()) return;
  if (!py::isinstance<py::bool_>(found)) refuse(name, found, "True or False");
  value = found.cast<bool>();
}

void Options::take(const char *name, double &value, double least, double most) {
  const py::object found = find(name);
  if (found.is_none()) return;
  const double number = PyFloat_AsDouble(found.ptr());
  const bool failed = PyErr_Occurred() != nullptr;
  PyErr_Clear();
  if (failed || !(number >= least && number <= most))
    refuse(name, found, fmt::format("a number from {} to {}", least, most));
  value = number;
}

void Options::take(const char *name, std::vector<std::string> &value) {
  const py::object found = find(name);
  if (found.is_none()) return;
  if (py::isinstance<py::str>(found) || !py::isinstance<py::sequence>(found)) refuse(name, found, "a list of texts");
  for (const py::handle item : found)
    value.push_back(path_text(name, item));
}

void Options::take_settings(const char *name, std::vector<std::string> &value) {
  const py::object found = find(name);
  if (found.is_none()) return;
  if (!py::isinstance<py::dict>(found)) refuse(name, found, "a dict of FIELD: value, as {'npu.rows': 64}");
  for (const auto &[field, setting] : found.cast<py::dict>())
    value.push_back(fmt::format("{}={}", path_text(name, field), py::str(setting).cast<std::string>()));
}

bool Options::take_any(const char *name, std::string &value, std::uint64_t least, std::uint64_t most) {
  const py::object found = find(name);
  if (found.is_none()) return false;
  value = most == 0 ? path_text(name, found) : std::to_string(number(name, found, least, most));
  return true;
}

void Options::done() const {
  if (given_.empty()) return;
  throw std::invalid_argument(fmt::format("there is no option {}; options are {}",
                                          py::repr(given_.begin()->first).cast<std::string>(),
                                          fmt::join(known_, ", ")));
}

} // namespace gradweave::python
