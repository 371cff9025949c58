// An NPU that uses every freedom the ordering rules leave, at random: it shows whether a stream's result depends on
// timing. It shares no code with the functional model but the arithmetic.
#pragma once

#include "base/random/dice.hpp"
#include "isa/command.hpp"
#include "sw_models/config/machine.hpp"
#include "sw_models/vector/unit_state.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

namespace gradweave::test {

/// Engines progress in random turns. Loads and stores overlap within their engine and read early or late; results of
/// the last two blocks of a core are still on their way when a block reads its operands and initial values. An ADD has
/// its core to itself, and reads early or late. Results of a VECTOR are written as they come, or all at its end.
class RacingNpu {
public:
  /// `memory` is the DRAM from `dram_base` on; it is changed.
  RacingNpu(const Machine &config, std::uint64_t dram_base, std::vector<std::uint8_t> &memory, std::uint64_t seed);

  /// False if the stream deadlocks.
  bool run(const std::vector<isa::Command> &stream);

private:
  struct Transfer { ///< a LOAD, STORE or SYNC under way
    isa::Decoded command;
    bool has_read = false;
    std::vector<std::uint32_t> data;
  };
  struct Result { ///< a block's results, or with no elements the end of a command
    std::vector<std::pair<std::size_t, std::uint16_t>> writes;
    bool ends_command = false;
    isa::Sync sync;
  };

  /// A core: what is between its queue and the scratchpad.
  struct Core {
    std::deque<isa::Decoded> queue;
    std::deque<Result> results;
    bool busy = false;      ///< the queue's head, a GEMM or ADD, has started
    bool holds_sum = false; ///< the result is that of an ADD: nothing starts before it is written
    std::uint32_t block_row = 0, block_col = 0;
  };

  struct Unit {
    std::deque<isa::Decoded> queue;
    vector::UnitState state;
    bool busy = false;                                         ///< the queue's head has started
    std::vector<std::pair<std::size_t, std::uint16_t>> writes; ///< that come with its end
  };

  bool turn(std::size_t engine);
  bool turn_unit(Unit &unit);
  void run_vector(Unit &unit, const isa::VectorCommand &run);
  void put(std::size_t word, std::uint16_t value, Unit *late);
  /// Element `lane` of the line of a strip and step, in the scratchpad.
  std::size_t word(const isa::VectorTile &t, std::uint32_t strip, std::uint32_t step, std::uint32_t lane) const;
  bool turn_dma(std::size_t engine);
  bool turn_compute(Core &core);
  bool may_start(const Core &core) const;
  void start(Core &core);
  bool can_start(const isa::Sync &sync) const;
  void take(const isa::Sync &sync);
  void post(const isa::Sync &sync);
  void read(Transfer &t);
  void write(const Transfer &t);
  /// `chain`: the steps of element (i, j) on its initial value.
  template <typename Chain> void compute_block(Core &core, const isa::GemmCommand &g, Chain chain);
  float multiply(const isa::GemmCommand &g, std::uint32_t i, std::uint32_t j, float c) const;
  float convolve(const isa::ConvCommand &v, std::uint32_t i, std::uint32_t j, float c) const;
  void compute_sum(Core &core, const isa::AddCommand &a);
  void add_result(Result &result, const isa::SpmTile &t, std::uint32_t i, std::uint32_t j, bool bf16,
                  float value) const;
  void end_command(Core &core, Result &result);
  void write_oldest_result(Core &core);
  std::size_t word(const isa::SpmTile &t, std::uint32_t i, std::uint32_t j, bool fp32) const;
  std::uint32_t element(const isa::SpmTile &t, std::uint32_t i, std::uint32_t j, bool fp32) const;

  Machine npu_;
  std::uint64_t dram_base_;
  std::vector<std::uint8_t> &memory_;
  Dice dice_;
  std::vector<std::uint16_t> spm_;
  std::vector<std::uint32_t> semaphores_;
  std::array<std::deque<isa::Decoded>, 2> queues_; ///< of load and store
  std::array<std::deque<Transfer>, 2> transfers_;
  std::vector<Core> cores_;
  std::vector<Unit> units_;
};

} // namespace gradweave::test
