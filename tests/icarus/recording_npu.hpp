// Records what a Verilated NPU sees and does, cycle by cycle, for replay.sv.
#pragma once

#include "tb/npu_model.hpp"

#include <fstream>
#include <memory>
#include <string>

namespace gradweave::test {

/// An NPU that behaves as the one it wraps and writes a line for each cycle: the inputs, most significant first in the
/// order of replay.sv, a space, and the outputs. An input that nobody may look at (the payload of a channel that is not
/// valid) is x, an output that nobody looks at is z.
class RecordingNpu final : public tb::NpuModel {
public:
  /// `port`: how wide ports are, and how many. Throws std::runtime_error if `file` exists (two NPUs must not share it)
  /// or cannot be written.
  RecordingNpu(std::unique_ptr<tb::NpuModel> npu, const std::string &file, const tb::PortPlace &port, unsigned engines);

  void cycle(const tb::NpuInputs &in, tb::NpuOutputs &out) override;
  void open_trace(const std::string &file, std::uint64_t first_cycle, std::uint64_t period_ps) override {
    npu_->open_trace(file, first_cycle, period_ps);
  }
  void close_trace() override { npu_->close_trace(); }

private:
  void write_memory_inputs(const tb::AxiSlavePorts &ports);
  void write_memory_outputs(const tb::AxiMasterPorts &ports);
  void write_inputs(const tb::NpuInputs &in);
  void write_outputs(const tb::NpuOutputs &out);

  std::unique_ptr<tb::NpuModel> npu_;
  std::ofstream file_;
  tb::PortPlace port_; ///< any of them
  unsigned engines_;
  std::string line_;
};

} // namespace gradweave::test
