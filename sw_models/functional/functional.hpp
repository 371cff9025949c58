// Functional model of the NPU: executes the binary command stream in memory order, without time.
//
// Memory order is a legal serial order of every valid program, so the results are those of the hardware whenever the
// program's semaphores order all its accesses. A wrong result can thus be blamed: if this model is right and the RTL is
// not, the RTL (or a missing semaphore) is at fault; if both agree on a wrong result, the compiler is.
#pragma once

#include "isa/command.hpp"
#include "isa/counters.hpp"
#include "sw_models/config/npu_config.hpp"
#include "sw_models/functional/scratchpad.hpp"
#include "sw_models/memory/memory.hpp"
#include "sw_models/numerics/golden.hpp"
#include "sw_models/vector/unit_state.hpp"

#include <cstdint>
#include <vector>

namespace gradweave {

class FunctionalNpu {
public:
  /// Error, index and word as the ERR_CODE, ERR_INDEX and ERR_WORD registers show them.
  struct Status {
    isa::ErrorCode error = isa::ErrorCode::NONE;
    std::uint32_t error_index = 0;
    std::uint32_t error_word = 0; ///< of a VECTOR_FAULT: as ERR_WORD has it; else 0
    bool done = false;            ///< all commands executed
  };

  /// The commands' DRAM window is the whole of `memory`, which must outlive the model.
  FunctionalNpu(const NpuConfig &config, DeviceMemory &memory);

  /// DRAM_BASE and DRAM_SIZE: addresses that commands may touch.
  void set_dram_window(std::uint64_t base, std::uint64_t size);

  /// Starts the stream of `count` commands in memory at `addr`: clears status, semaphores and counters, keeps the
  /// scratchpad. A stream the hardware would refuse gives BAD_START.
  void start(std::uint64_t addr, std::uint32_t count);
  /// Starts a run on the empty ring of `places` commands in memory at `addr`: command i is at place i modulo `places`.
  /// FETCH_BEATS counts as if bursts did not end where the tail once was.
  void open(std::uint64_t addr, std::uint32_t places);
  /// There are `count` commands since the start, as the tail says.
  void raise(std::uint32_t count) { stream_count_ = count; }
  /// No more follow.
  void close();

  /// Executes the next command; does nothing when there is none, or stopped by an error. A command with an error has no
  /// effect (SEM_OVERFLOW excepted: its work is done before it posts). A wait that earlier commands do not satisfy is
  /// reported as WATCHDOG, which is how it would end in hardware.
  const Status &step();
  /// Steps to the end or the first error.
  const Status &run();

  const Status &status() const { return status_; }
  /// Index of the command that step() will execute; equals RETIRED.
  std::uint32_t next_index() const { return next_; }
  /// Counters that exist without time: READ_BYTES, WRITE_BYTES, READ_BEATS, WRITE_BEATS, FETCH_BEATS (of the commands
  /// fetched so far), BLOCKS, which each core has, and VECTOR_READS and VECTOR_WRITES of each vector unit; all others
  /// are zero.
  std::uint64_t counter(isa::Counter c, std::uint32_t core = 0) const {
    return counters_[isa::counter_index(c, core, config_.cores)];
  }
  /// All of them, in the list of isa/counters.hpp.
  const std::vector<std::uint64_t> &counters() const { return counters_; }
  /// Tags of the MARKs that completed.
  const std::vector<std::uint16_t> &marks() const { return marks_; }
  std::uint16_t semaphore(std::uint32_t index) const { return semaphores_.at(index); }

  /// The scratchpad, for debugging and to set its initial contents.
  Scratchpad &scratchpad() { return spm_; }
  const Scratchpad &scratchpad() const { return spm_; }

private:
  void clear();
  isa::ErrorCode execute(const isa::Command &command);
  isa::ErrorCode move(const isa::DmaCommand &d);
  void multiply(const isa::GemmCommand &g);
  void convolve(const isa::ConvCommand &v);
  /// C = CIN + A B, and its way out; `k`: the length of the reduction.
  void accumulate(const isa::GemmCommand &g, const golden::MatrixView &a, const golden::MatrixView &b, std::uint32_t k);
  void add_tiles(const isa::AddCommand &c);
  isa::ErrorCode run_program(const isa::VectorCommand &v);
  bool take_waits(const isa::Sync &sync);
  bool post(const isa::Sync &sync);
  void count_fetch();
  void add(isa::Counter c, std::uint64_t n, std::uint32_t core = 0) {
    counters_[isa::counter_index(c, core, config_.cores)] += n;
  }
  std::uint64_t beats(std::uint64_t addr, std::uint64_t bytes) const;

  NpuConfig config_;
  DeviceMemory &memory_;
  isa::Limits limits_;
  Scratchpad spm_;
  std::vector<std::uint16_t> semaphores_;
  std::vector<std::uint64_t> counters_;
  Status status_;
  std::uint64_t stream_addr_ = 0;
  std::uint32_t stream_count_ = 0, next_ = 0;
  std::uint32_t places_ = 0; ///< of the ring; 0: none
  bool open_ = false;        ///< commands may follow
  std::vector<std::uint16_t> marks_;
  std::vector<vector::UnitState> units_; ///< vector units
};

} // namespace gradweave
