// What `make bench` is made of: tables whose rows are measured one at a time, each in a process of its own. A process
// can hold one Verilated NPU, and the peak of its memory is that of one measurement.
#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gradweave::bench {

using Json = nlohmann::json;

/// Called in a child process; reports its progress as a fraction of 1. May throw.
using Measure = std::function<Json(const std::function<void(double)> &report_progress)>;

struct Measurement {
  std::string name;
  double seconds; ///< that it takes, roughly: its share of the progress display
  Measure measure;
};

class Section {
public:
  virtual ~Section() = default;
  virtual std::string title() const = 0;
  /// Head of the table.
  virtual std::string head() const = 0;
  virtual std::vector<Measurement> measurements() const = 0;
  /// Rows of the table for one measurement. Adds the targets that it misses to `missed`.
  virtual std::string rows(const Json &measured, std::vector<std::string> &missed) const = 0;
  /// What follows from all of them, below the table; may be empty.
  virtual std::string conclusion(const std::vector<Json> &measured) const = 0;
};

/// The RTL: the array alone, and the whole NPU in its testbench.
std::unique_ptr<Section> rtl_section();
/// Several NPUs in one simulation.
std::unique_ptr<Section> systems_section();
/// The RTL of the vector unit alone.
std::unique_ptr<Section> vector_section();
/// The timing model against the RTL on the same streams.
std::unique_ptr<Section> model_section();
/// A network on the timing model: time and memory.
std::unique_ptr<Section> network_section();
/// How the timing model's cost grows with the number of commands.
std::unique_ptr<Section> growth_section();
/// The memory model of training: single estimates, whole sweeps, growth with layers.
std::unique_ptr<Section> memory_section();
/// Layerweaver's model: what it takes to schedule a layer.
std::unique_ptr<Section> weave_section();
/// Weaving of several networks into one stream: plans, orders, growth with jobs.
std::unique_ptr<Section> weave_search_section();
/// The list scheduler of the compiler.
std::unique_ptr<Section> list_section();
/// The list scheduler of flexer_cgo23.
std::unique_ptr<Section> flexer_section();
/// How the compiler's time and memory grow with layers and commands.
std::unique_ptr<Section> compile_section();

} // namespace gradweave::bench
