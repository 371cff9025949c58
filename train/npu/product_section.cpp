#include "train/npu/product_section.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "isa/command.hpp"
#include "train/npu/staging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <variant>

namespace gradweave::runtime::train {
namespace {

using compiler::TensorBinding;

/// A binding's elements in memory: row by row, or those of each group of columns by themselves.
struct Target {
  std::uint64_t address = 0;
  std::uint32_t pitch = 0;      ///< bytes
  std::uint32_t group_cols = 0; ///< 0: all columns of a row are side by side
  std::uint64_t group_bytes = 0;
};

Target target_of(const TensorBinding &binding, const PlacedTensor &placed, const compiler::Layer &layer,
                 std::uint64_t address) {
  const std::uint32_t element = binding.fp32 ? 4 : 2;
  Target target{address, binding.cols * element, 0, 0};
  if (placed.batch && layer.groups > 1 && !compiler::form_of(placed.as).groups_below) {
    target.group_cols = binding.cols / layer.groups;
    target.pitch = target.group_cols * element;
    target.group_bytes = std::uint64_t{binding.rows} * target.pitch;
  }
  return target;
}

/// Rewrites the addresses and pitches of a compiled pass.
class Mover {
public:
  Mover(const compiler::Compiled &compiled, std::vector<Target> targets, std::uint64_t spill)
      : tensors_(compiled.layout.tensors), targets_(std::move(targets)), spill_from_(compiled.layout.bytes),
        spill_(spill) {}

  isa::Command move(const isa::Command &command) const {
    std::optional<isa::Decoded> decoded = isa::decode(command);
    auto *dma = std::get_if<isa::DmaCommand>(&decoded->op);
    if (dma == nullptr) return command;
    if (dma->dram_addr >= spill_from_)
      dma->dram_addr += spill_ - spill_from_;
    else
      move(*dma);
    return isa::encode(*decoded);
  }

private:
  void move(isa::DmaCommand &dma) const {
    const auto behind = std::upper_bound(tensors_.begin(), tensors_.end(), dma.dram_addr,
                                         [](std::uint64_t at, const TensorBinding &b) { return at < b.offset; });
    const TensorBinding &binding = *std::prev(behind);
    const Target &target = targets_[static_cast<std::size_t>(std::prev(behind) - tensors_.begin())];
    const std::uint32_t element = binding.fp32 ? 4 : 2;
    const std::uint64_t at = dma.dram_addr - binding.offset;
    const std::uint64_t row = at / binding.pitch;
    std::uint64_t col = at % binding.pitch / element;
    dma.dram_addr = target.address + row * target.pitch;
    if (target.group_cols != 0) {
      const std::uint64_t group = col / target.group_cols;
      col %= target.group_cols;
      if (col + dma.cols > target.group_cols)
        throw std::logic_error(fmt::format("a command moves columns {} to {} of groups of {}", col, col + dma.cols,
                                           target.group_cols));
      dma.dram_addr += group * target.group_bytes;
    }
    dma.dram_addr += col * element;
    dma.pitch = dma.pitch / binding.pitch * target.pitch; // rows of images are moved several apart
  }

  const std::vector<TensorBinding> &tensors_;
  std::vector<Target> targets_;
  std::uint64_t spill_from_, spill_;
};

} // namespace

ProductSection place_product(const ProductPass &pass, const compiler::Compiled &compiled, const graph::Graph &graph,
                             const StepMemory &memory) {
  ProductSection section;
  std::uint64_t scratch = memory.scratch;
  std::vector<Target> targets;
  for (const TensorBinding &binding : compiled.layout.tensors) {
    PlacedTensor placed = pass.placed(binding.tensor);
    std::uint64_t address = memory.tensors[placed.id];
    if (needs_staging(placed)) {
      const std::uint64_t matrix = compiler::round_up(scratch, compiler::kTensorAlignment);
      StagedMatrix staged{
          staging_jobs(placed, pass.layer, graph, binding.rows, binding.cols, !binding.input, pass.begins), address,
          matrix};
      (binding.input ? section.before : section.behind).push_back(std::move(staged));
      scratch = matrix + std::uint64_t{binding.rows} * binding.cols * (binding.fp32 ? 4 : 2);
      address = matrix;
      placed.batch = placed.batch && placed.form == Form::kMatrix;
    }
    targets.push_back(target_of(binding, placed, pass.layer, address));
  }
  const std::uint64_t spill = compiler::round_up(scratch, compiler::kTensorAlignment);
  const Mover mover(compiled, std::move(targets), spill);
  section.commands.reserve(compiled.stream.size());
  for (const isa::Command &command : compiled.stream)
    section.commands.push_back(mover.move(command));
  section.scratch_end = spill + (compiled.dram_bytes - std::min(compiled.dram_bytes, compiled.layout.bytes));
  return section;
}

} // namespace gradweave::runtime::train
