// Functional coverage: names the situations that an NPU is in, cycle by cycle. Which names there must be is written in
// bins.toml, independently of this code; gw_coverage compares the two.
#pragma once

#include "isa/command.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gradweave::coverage {

/// Sizes of the NPU that is watched.
struct Geometry {
  std::uint32_t cores = 1, semaphores = 64, lanes = 8, spm_rows = 512, spm_banks = 4, bus_bytes = 16, ports = 1;
  std::uint32_t vector_groups = 0; ///< lines at once of each core's vector unit; 0: there is none

  std::uint32_t vectors() const { return vector_groups == 0 ? 0 : cores; }
  std::uint32_t engines() const { return 2 + cores + vectors(); }
};

/// FIFOs in the engines, in the order of the probe's vectors.
constexpr std::array<const char *, 10> kFifos{"FETCH_BUFFER",   "LOAD_COMMANDS",   "LOAD_TRANSFERS", "LOAD_TILES",
                                              "STORE_COMMANDS", "STORE_TRANSFERS", "STORE_TILES",    "STORE_UNREAD",
                                              "STORE_DATA",     "STORE_UNANSWERED"};

/// Channels of a port of the memory bus, in the order of the probe's vector.
constexpr std::array<const char *, 5> kPortChannels{"AR", "AW", "W", "R", "B"};

/// What the probe tells of the host, a bit each.
enum HostBit : std::uint32_t {
  kRing,
  kOpen,
  kTailWritten,
  kTailRefused,
  kClosed,
  kCloseRefused,
  kTaken,
  kTakeRefused,
  kWraps, ///< fetch issues the burst up to the ring's end
  kMarkStarts,
  kMarkWaits, ///< a MARK is the store engine's head, and the log is full
  kMarkCompletes,
  kMarkThere,
  kLogHasRoom,
  kIrq,
  kEnded
};

/// States of gw_run_ctrl.sv, in its order.
constexpr std::array<const char *, 7> kStates{"IDLE", "RESET", "PREPARE", "RUN", "STOP", "DONE", "ERROR"};

/// An address channel of the memory bus at a rising edge.
struct AddressSample {
  bool valid = false, ready = false;
  bool fetch = false; ///< reads: for the command stream
  std::uint64_t addr = 0;
  std::uint32_t beats = 0;                     ///< of the burst
  std::uint32_t first_byte = 0, last_byte = 0; ///< wanted, counted from the address
};

/// What the probe saw at one rising edge. Bit e of a set of engines: engine e in the order of the ENGINE field, without
/// the numbers that no engine has; bit f of a set of FIFOs: kFifos[f].
struct Sample {
  bool reset_n = false;
  std::uint32_t state = 0; ///< kStates
  bool err_valid = false;  ///< the run stops with this error in this cycle if its state is RUN
  isa::ErrorCode err_code = isa::ErrorCode::NONE;
  std::uint32_t err_index = 0;
  bool checking = false, moving = false; ///< dispatch checks command `index`, or wants to move it to a queue
  isa::ErrorCode error = isa::ErrorCode::NONE;
  isa::Command command; ///< the last one checked
  std::uint32_t index = 0;
  std::uint32_t push = 0, room = 0, head_valid = 0, asks = 0, can_start = 0, start = 0, done = 0, oldest_valid = 0;
  std::vector<std::uint32_t> head_index, done_index, oldest_index; ///< of each engine
  std::uint32_t load_counters = 0, store_counters = 0, fetch_counters = 0;
  std::uint64_t core_counters = 0;       ///< seven bits a core
  std::uint64_t vector_counters = 0;     ///< seven bits a vector unit, the first five of its group
  std::uint32_t vector_error = 0;        ///< ERR_WORD of the first unit, from the cycle behind the fault on
  std::vector<std::uint32_t> semaphores; ///< values
  std::uint32_t fifo_push = 0, fifo_room = 0, fifo_valid = 0, fifo_pop = 0;
  bool reads_full = false; ///< OUTSTANDING bursts of LOADs in flight
  std::uint32_t host = 0;  ///< HostBit
  /// CMD_COUNT as it is, or would become by the write of this cycle; as it is; commands that came, and retired
  std::uint32_t tail = 0, count = 0, received = 0, retired = 0;
  std::uint32_t ring_size = 0;
  AddressSample read, write;
  std::array<std::uint32_t, kPortChannels.size()> ahead{}; ///< ports that are ahead of others, of each channel
};

/// Counts bins. A name is group.value.value..., all of them words of isa.toml where there is one.
class FunctionalCoverage {
public:
  explicit FunctionalCoverage(const Geometry &geometry) : geometry_(geometry) {}

  /// One rising edge; the edges of a model in order.
  void sample(const Sample &s);

  const std::map<std::string, std::uint64_t> &bins() const { return bins_; }
  /// A line "count name" for each bin. Throws std::runtime_error if the file cannot be written.
  void write(const std::string &file) const;

private:
  void hit(std::string name) { ++bins_[std::move(name)]; }
  void forget_stream();
  void sample_dispatch(const Sample &s);
  void sample_queues(const Sample &s);
  void sample_stalls(const Sample &s);
  void sample_stall(const Sample &s, unsigned engine, std::uint32_t causes, std::size_t first_counter);
  void sample_semaphores(const Sample &s);
  void sample_wait(const Sample &s, const isa::Sync &sync);
  void sample_posts(const Sample &s);
  void sample_error(const Sample &s);
  void sample_stopped(const Sample &s, const std::string &code);
  void sample_state(const Sample &s);
  void sample_ports(const Sample &s);
  void sample_ring(const Sample &s);
  void sample_marks(const Sample &s);
  void sample_burst(const std::string &channel, const AddressSample &a);
  void command(const isa::Command &c, isa::ErrorCode error);
  void tile(const std::string &operand, const isa::SpmTile &t, std::uint32_t rows, std::uint32_t cols, bool fp32,
            isa::ErrorCode error);
  void tiles(const isa::Decoded &d, isa::ErrorCode error);
  void walk(const isa::ConvCommand &v);
  void vector(const isa::VectorCommand &v);
  void vector_tiles(const isa::TileCommand &t);
  std::string engine_name(unsigned engine) const;
  /// opcode_name(), but "UNKNOWN" for what the NPU has no unit for.
  std::string opcode_here(const isa::Command &c) const;
  /// Of the command with this index; empty if it was not dispatched in this run.
  const isa::Command *find(std::uint32_t index) const;

  Geometry geometry_;
  std::map<std::string, std::uint64_t> bins_;
  std::vector<isa::Command> stream_; ///< commands checked in this run
  std::uint32_t state_ = 0;          ///< in the last cycle
  bool seen_ = false;                ///< there was one
  std::uint32_t host_ = 0;           ///< in the last cycle
  std::uint32_t fifo_used_ = 0;      ///< not empty in the last cycle
  std::uint32_t queue_used_ = 0;
  std::uint32_t vector_error_ = 0; ///< in the last cycle

  /// An engine does the same for many cycles: the counts that the last one raised.
  struct Repeated {
    bool valid = false;
    const isa::Command *command = nullptr;
    std::uint32_t causes = 0;
    std::vector<std::uint64_t *> counts;
  };
  std::vector<Repeated> repeated_; ///< of each engine
};

/// "LOAD", ..., "UNKNOWN" for a value that is none.
std::string opcode_name(const isa::Command &c);

/// "FP32" and "1", ...: the one-bit fields of the command's opcode and their values.
std::vector<std::pair<std::string, std::string>> flags_of(const isa::Command &c);

} // namespace gradweave::coverage
