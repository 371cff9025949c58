// What the libraries throw, as exceptions of Python.
#include "base/file/output_file.hpp"
#include "base/process/process_pool.hpp"
#include "compiler/request/error.hpp"
#include "graph/ir/error.hpp"
#include "isa/assembler.hpp"
#include "python/bind.hpp"
#include "python/long_call.hpp"
#include "python/values.hpp"
#include "sw_models/config/config_error.hpp"
#include "train/data/idx_file.hpp"

#include <charconv>
#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace gradweave::python {
namespace {

/// "FILE:LINE: problem" taken apart; what is not told is None.
struct Place {
  py::object file = py::none(), line = py::none();
};

/// Of a message that begins so, or with the name of a file that there is.
Place place_of(const std::string &message) {
  Place place;
  const std::size_t end = message.find(": ");
  if (end == std::string::npos) return place;
  const std::string begin = message.substr(0, end);
  const std::size_t colon = begin.rfind(':');
  if (colon != std::string::npos && colon + 1 < begin.size()) {
    unsigned long line = 0;
    const char *const last = begin.data() + begin.size();
    if (const auto read = std::from_chars(begin.data() + colon + 1, last, line); read.ptr == last) {
      place.file = py::str(begin.substr(0, colon));
      place.line = py::int_(line);
      return place;
    }
  }
  std::error_code error;
  if (std::filesystem::exists(begin, error)) place.file = py::str(begin);
  return place;
}

/// Raises gradweave.TYPE(message, file, line).
void raise(const char *type, const std::string &message, const Place &place = {}) {
  const py::object kind = py::module_::import("gradweave").attr(type);
  const py::object text = py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "replace"));
  const py::object error = kind(text, place.file, place.line);
  PyErr_SetObject(kind.ptr(), error.ptr());
}

void raise_with_report(const FailedRun &failed) {
  const py::object kind = py::module_::import("gradweave").attr("RunError");
  const py::object error = kind(py::str(failed.what()), py::none(), py::none(), to_python(failed.report()));
  PyErr_SetObject(kind.ptr(), error.ptr());
}

void translate(std::exception_ptr thrown) { // by value: as pybind11 calls it
  try {
    std::rethrow_exception(std::move(thrown));
  } catch (const py::builtin_exception &error) {
    error.set_error();
  } catch (const FailedRun &error) {
    raise_with_report(error);
  } catch (const ConfigError &error) {
    raise("Error", error.what(), place_of(error.what()));
  } catch (const graph::GraphError &error) {
    raise("Error", error.what(), place_of(error.what()));
  } catch (const isa::AssemblyError &error) {
    raise("Error", error.what(), place_of(error.what()));
  } catch (const runtime::train::DataError &error) {
    raise("Error", error.what(), place_of(error.what()));
  } catch (const OutputError &error) {
    raise("Error", error.what(), place_of(error.what()));
  } catch (const Interrupted &) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  } catch (const std::invalid_argument &error) {
    raise("OptionError", error.what());
  } catch (const std::bad_alloc &) {
    PyErr_SetString(PyExc_MemoryError, "there is not enough memory for this network; a smaller batch takes less");
  } catch (const std::runtime_error &error) { // of the compiler, devices, processes
    raise("Error", error.what());
  }
}

} // namespace

void bind_errors() { py::register_exception_translator(&translate); }

} // namespace gradweave::python
