// From recorded operations to a program: dead results, constants, registers.
#pragma once

#include "sw_models/vector/recording.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace gradweave::vector {

/// Registers by linear scan: a result has its register from the first operation that gives it to the last that reads
/// it, to the end of a loop if it is older than the loop.
class Allocation {
public:
  explicit Allocation(const Recording &recording);

  isa::vector::Program program();

private:
  using Node = RecordedOperation;
  using Value = RecordedValue;
  static constexpr std::size_t kNever = ~std::size_t{0};

  struct Life {
    std::size_t first = kNever;
    std::size_t last = 0;
  };

  void drop_dead();
  void choose_scalars();
  void find_lives();
  unsigned take_register(std::uint32_t result, std::size_t at);
  isa::vector::Instruction instruction(const Node &node, std::size_t at);
  isa::vector::Operand operand(const Value &v, isa::vector::Instruction &in) const;
  /// Constants among the operands that have no scalar, each once.
  std::vector<std::uint32_t> loose_constants(const Node &node) const;

  std::vector<Node> nodes_;
  std::map<std::uint32_t, unsigned> scalars_; ///< by bits, in the order of the bits: the same everywhere
  std::vector<Life> lives_;
  std::vector<unsigned> registers_;                                        ///< of each result
  std::array<std::optional<std::uint32_t>, isa::vector::kRegisters> in_{}; ///< whose a register is
};

} // namespace gradweave::vector
