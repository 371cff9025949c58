// Drives the Verilated load and store engines of one configuration and checks every cycle against the reference.
// Compiled once per configuration: GW_MODEL is the class that Verilator made, GW_MODEL_HEADER its header.
#pragma once

#include GW_MODEL_HEADER

#include "axi_memory.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace gradweave::dma_test {

constexpr std::uint32_t kLanes = GW_LANES, kBus = GW_BUS, kOutstanding = GW_OUTSTANDING;
constexpr std::uint64_t kDramBase = 0xFFFF0000; ///< the 4 GB border lies inside
constexpr std::uint32_t kDramHalf = 1U << 19;   ///< bytes that loads read; as many that stores write follow
constexpr std::uint32_t kSpmHalf = 4096;        ///< rows that loads write; as many that stores read follow

struct BenchOptions {
  std::uint64_t seed = 1;
  std::uint64_t dram_base = kDramBase;
  double stall = 0;           ///< on every channel of memory, and between commands
  std::uint32_t latency = 10; ///< cycles of memory
  std::vector<Fault> faults;
  bool far = false;         ///< memory repeats itself everywhere, so that addresses may leave dram_base's
  bool fetch = false;       ///< while there are commands, command fetches compete for the read channels
  bool probe_paths = false; ///< look for combinational paths from AXI inputs to AXI outputs
};

/// What a run of an engine adds up to.
struct EngineStats {
  std::uint64_t active = 0, dram = 0, sem = 0, empty = 0, bytes = 0;
  std::uint64_t first_beat = 0, last_beat = 0; ///< cycles
  double beat_rate() const { return static_cast<double>(active) / static_cast<double>(last_beat - first_beat + 1); }
};

class Bench {
public:
  explicit Bench(const BenchOptions &options);

  /// Appends a command to the queue of its engine; SYNC has no tile.
  void add(const isa::DmaCommand &c);
  void add_sync(bool store);
  void add_random(std::uint32_t commands);
  /// Runs until all commands have completed, then compares memory, scratchpad and bursts. Problems are in problems().
  void run(std::uint64_t max_cycles = 400000);
  void cycle();
  /// Soft reset: queued commands are forgotten.
  void clear();
  bool engines_quiet() const { return model_->l_quiet_o && model_->s_quiet_o; }
  /// Everything that was seen to be wrong, one line each; empty is good.
  std::string problems() const;

  bool run_enabled = true; ///< run_i
  AxiMemory &axi() { return axi_; }
  const EngineStats &stats(bool store) const { return engines_[store ? 1 : 0].stats; }
  std::uint64_t errors(bool store) const { return engines_[store ? 1 : 0].errors; }
  std::uint64_t fetches() const { return fetches_; }
  Spm &spm() { return spm_; }
  Memory &memory() { return memory_; }

private:
  struct Queued {
    isa::Command command;
    std::uint32_t index;
    std::uint32_t posts;
    std::uint64_t finish; ///< elements written, or responses received, by the time it completes
  };
  struct Engine {
    std::deque<Queued> waiting, started;
    bool offered = false;
    std::uint64_t expected = 0; ///< `finish` of the last command added
    std::uint64_t moved = 0;    ///< elements written, or responses received
    std::uint64_t bytes = 0;    ///< of all elements
    std::vector<Burst> bursts;  ///< expected ones
    std::uint64_t answers = 0;  ///< bursts answered completely
    std::uint64_t errors = 0;
    EngineStats stats;
  };
  /// The engine-side pins of one engine, gathered.
  struct View {
    bool ready, done, error, busy, quiet, active;
    std::uint32_t done_index, posts, error_code, error_index, oldest, counts, bytes;
  };

  void enqueue(bool store, const isa::Decoded &d, std::uint64_t amount);
  void drive();
  void drive_engine(Engine &e, bool store);
  void check_engine(Engine &e, const View &v, const char *name);
  void check_error(Engine &e, const View &v, const char *name, std::uint8_t response, bool last);
  void check_paths();
  void take_load_write();
  void take_store_read();
  void check_reads();
  void compare();
  bool commands_left() const;
  void settle();
  void problem(const std::string &text);
  std::vector<std::uint64_t> bus_outputs() const;
  std::uint32_t step_lane(std::uint32_t lane, std::uint32_t e) const { return (lane + e) % kLanes; }

  BenchOptions options_;
  std::mt19937_64 rng_;
  Memory memory_, expected_memory_;
  Spm spm_, expected_spm_;
  AxiMemory axi_;
  std::unique_ptr<GW_MODEL> model_;
  std::array<Engine, 2> engines_;
  std::uint32_t next_index_ = 0;
  Address fetch_;
  std::uint64_t fetches_ = 0, fetches_pending_ = 0;
  std::array<std::uint32_t, kBus / 4> read_data_{}; ///< the scratchpad's output register
  std::vector<std::string> problems_;
};

} // namespace gradweave::dma_test
