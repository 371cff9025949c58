#include "train/npu/plan/product_section.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "isa/command.hpp"
#include "train/npu/plan/staging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <variant>

namespace gradweave::runtime::train {
namespace {

using compiler::TensorBinding;

std::uint32_t element_of(const TensorBinding &binding) { return binding.fp32 ? 4 : 2; }

/// A binding's elements in memory: row by row, or those of each group by themselves.
struct Target {
  std::uint64_t address = 0;
  std::uint32_t pitch = 0;           ///< bytes
  std::vector<std::uint64_t> groups; ///< bytes from the address to the matrix of each; none: it is one matrix
  std::uint32_t group_rows = 0, group_cols = 0; ///< of the binding
};

Target dense_target(const TensorBinding &binding, std::uint64_t address) {
  return {address, binding.cols * element_of(binding), {}, binding.rows, binding.cols};
}

Target target_of(const TensorBinding &binding, const PlacedTensor &placed, const compiler::Layer &layer,
                 const graph::Shape &shape, const TensorPlace &place) {
  Target target = dense_target(binding, place.address);
  if (!placed.batch || (layer.groups == 1 && place.strides.empty())) return target;
  (compiler::form_of(placed.as).groups_below ? target.group_rows : target.group_cols) /= layer.groups;
  const StoredMatrices stored =
      stored_matrices(placed, layer.groups, target.group_rows, target.group_cols, shape, place);
  target.pitch = static_cast<std::uint32_t>(stored.pitch) * element_of(binding);
  for (const std::size_t first : stored.firsts)
    target.groups.push_back(first * element_of(binding));
  return target;
}

/// Of the matrix that a tensor's are staged in: dense, groups of a batch each on its own.
Target staged_target(const TensorBinding &binding, const PlacedTensor &placed, const compiler::Layer &layer,
                     std::uint64_t matrix) {
  if (placed.form != Form::kMatrix) return dense_target(binding, matrix);
  PlacedTensor dense = placed;
  dense.transposed = false;
  TensorPlace place;
  place.address = matrix;
  return target_of(binding, dense, layer, {}, place);
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
    const std::uint64_t at = dma.dram_addr - binding.offset;
    std::uint64_t row = at / binding.pitch, col = at % binding.pitch / element_of(binding);
    dma.dram_addr = target.address;
    if (!target.groups.empty()) {
      const std::uint64_t group = row / target.group_rows + col / target.group_cols; // one of both is 0
      const std::uint64_t apart = dma.pitch / binding.pitch;
      row %= target.group_rows;
      col %= target.group_cols;
      if (col + dma.cols > target.group_cols || row + (dma.rows - 1) * apart >= target.group_rows)
        throw std::logic_error("a command moves elements of two groups at once");
      dma.dram_addr += target.groups[group];
    }
    dma.dram_addr += row * target.pitch + col * element_of(binding);
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
    const PlacedTensor &placed = pass.placed(binding.tensor);
    const TensorPlace &place = memory.places[placed.id];
    if (!needs_staging(placed)) {
      targets.push_back(target_of(binding, placed, pass.layer, graph.tensors[placed.id].shape, place));
      continue;
    }
    const std::uint64_t matrix = compiler::round_up(scratch, compiler::kTensorAlignment);
    scratch = matrix + std::uint64_t{binding.rows} * binding.cols * element_of(binding);
    for (const PlacedTensor &staged : binding.input ? pass.inputs : pass.results) {
      if (staged.as != binding.tensor) continue;
      const TensorPlace &at = memory.places[staged.id];
      StagedMatrix all{
          staging_jobs(staged, pass.layer, graph, at, binding.rows, binding.cols, !binding.input, pass.begins),
          {at.address, matrix}};
      for (std::size_t v = all.addresses.size(); v < all.jobs.values.size(); ++v) {
        all.addresses.push_back(compiler::round_up(scratch, compiler::kTensorAlignment));
        scratch = all.addresses.back() + all.jobs.values[v].elements * graph::bytes_of(all.jobs.values[v].type);
      }
      (binding.input ? section.before : section.behind).push_back(std::move(all));
    }
    targets.push_back(staged_target(binding, placed, pass.layer, matrix));
  }
  const std::uint64_t spill = compiler::round_up(scratch, compiler::kTensorAlignment);
  const Mover mover(compiled, std::move(targets), spill);
  section.commands.reserve(compiled.stream.size());
  for (const isa::Command &command : compiled.stream)
    section.commands.push_back(mover.move(command));
  section.scratch_end = spill + (compiled.dram_bytes - std::min(compiled.dram_bytes, compiled.layout.bytes));
  return section;
}

std::vector<compiler::ResultStore> result_stores(const compiler::Compiled &compiled, compiler::Tensor result,
                                                 std::size_t rows, std::size_t cols, std::size_t epilogue) {
  const TensorBinding &binding = compiled.layout.tensors[static_cast<std::size_t>(compiled.layout.place(0, result))];
  if (binding.rows != rows || binding.cols != cols) return {};
  std::vector<compiler::ResultStore> stores;
  for (std::size_t i = 0; i < compiled.stream.size(); ++i) {
    const isa::Decoded decoded = *isa::decode(compiled.stream[i]);
    const auto *dma = std::get_if<isa::DmaCommand>(&decoded.op);
    if (dma == nullptr || !dma->store || dma->dram_addr < binding.offset) continue;
    const std::uint64_t at = dma->dram_addr - binding.offset, row = at / binding.pitch;
    if (row >= binding.rows) continue;
    if (dma->rows > 1 && dma->pitch != binding.pitch) return {};
    stores.push_back({i, epilogue, static_cast<std::uint32_t>(row),
                      static_cast<std::uint32_t>(at % binding.pitch / element_of(binding))});
  }
  return stores;
}

} // namespace gradweave::runtime::train
