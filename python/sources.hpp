// What calls may name a network and an NPU by: names, files, and objects of Python.
#pragma once

#include "app/request/work.hpp"
#include "graph/ir/graph.hpp"
#include "python/values.hpp"
#include "sw_models/config/machine.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gradweave::python {

/// A network. Made with Python's lock, read without.
class ModelSource {
public:
  /// A name or path (str, os.PathLike), a Network or a Graph. Throws std::invalid_argument for anything else.
  explicit ModelSource(py::handle model);

  /// What reports call it.
  const std::string &name() const { return name_; }
  /// Whether it is an object of Python, which no command can name.
  bool is_object() const { return network_ != nullptr || graph_ != nullptr; }
  /// Its layers; batch, variables and `until` of the arguments are for files alone: throws std::invalid_argument if one
  /// is set for an object, and as compiler::load_network().
  compiler::Network read(const cli::WorkArguments &arguments) const;
  /// The whole graph of a Graph; null of anything else.
  const std::shared_ptr<const graph::Graph> &graph() const { return graph_; }

private:
  std::string name_;
  std::shared_ptr<const compiler::Network> network_;
  std::shared_ptr<const graph::Graph> graph_;
};

/// An NPU. Made with Python's lock, read without.
class NpuSource {
public:
  /// A name or path, a dict with the tables of an NPU's file, or an Npu. Throws std::invalid_argument.
  explicit NpuSource(py::handle npu);

  const std::string &name() const { return name_; }
  bool is_object() const { return text_.has_value(); }
  /// With the fields that --set gives other values. Throws ConfigError as load_machine().
  Machine read(const std::vector<std::string> &set) const;
  /// Throws std::runtime_error with the remedy if the NPU is not Verilated.
  void require_rtl(const Machine &npu) const;

private:
  std::string name_;
  std::optional<std::string> text_; ///< TOML that a dict stands for
};

/// A network that was read: Network of Python.
struct Network {
  std::string source; ///< name or path
  std::shared_ptr<const compiler::Network> network;
};

/// An NPU that was read: Npu of Python.
struct Npu {
  NpuSource source;
  Machine machine;
};

/// Options of the work that simulate, cosim, compile and timeline share.
void take_work(Options &options, cli::WorkArguments &work);
/// The fields of a network and its NPU that have other values than their files say, and what else names them.
void take_files(Options &options, cli::WorkArguments &work);

/// What convolutions read.
void take_convolution(Options &options, std::string &convolution);

/// The work. Throws as ModelSource::read(), NpuSource::read() and cli::resolve().
cli::Work resolve(const cli::WorkArguments &arguments, const ModelSource &model, const NpuSource &npu);

} // namespace gradweave::python
