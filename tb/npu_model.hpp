// The NPU as a clocked black box: what the testbench needs of a Verilated model, free of its types.
#pragma once

#include "tb/bus/axi/axi_types.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace gradweave::tb {

constexpr unsigned kMaxEngines = 32; ///< load, store, cores, vector units

/// What happened to commands in one cycle; an index is valid where its bit is set.
struct NpuEvents {
  bool running = false; ///< the cycle belongs to a run
  bool issued = false;  ///< dispatch put a command into its queue
  std::uint32_t issue_index = 0;
  std::uint32_t started = 0, done = 0; ///< bit e: engine e
  std::array<std::uint32_t, kMaxEngines> start_index{}, done_index{};
};

struct NpuInputs {
  bool reset_n = false;
  const AxiLiteMasterPins &csr;
  const AxiSlavePorts &memory;
};

struct NpuOutputs {
  AxiLiteSlavePins &csr;
  AxiMasterPorts &memory;
  NpuEvents &events;
  bool irq = false;
};

class NpuModel {
public:
  virtual ~NpuModel() = default;

  /// One clock cycle: a rising edge that samples `in`, then the outputs as they stand until the next edge.
  /// Throws std::runtime_error if an assertion of the RTL fails.
  virtual void cycle(const NpuInputs &in, NpuOutputs &out) = 0;

  /// Writes a waveform of the cycles from now on; times are multiples of `period_ps`, cycle `first_cycle` first.
  /// Throws std::runtime_error if the file cannot be written.
  virtual void open_trace(const std::string &file, std::uint64_t first_cycle, std::uint64_t period_ps) = 0;
  virtual void close_trace() = 0;
};

/// Of the Verilated model that this library or program is linked with.
std::unique_ptr<NpuModel> make_npu_model();

} // namespace gradweave::tb
