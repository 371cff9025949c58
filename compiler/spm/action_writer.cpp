#include "compiler/spm/action_writer.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/grid/tile_rows.hpp"
#include "compiler/ir/vector_section.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

Place place_at(const Tile &t, std::int64_t row) {
  const std::uint32_t panel = std::max(tile_rows(t.rect), t.guard.panel) * (t.fp32 ? 2 : 1);
  return {{static_cast<std::uint32_t>(row), t.rows}, panel, t.guard.before};
}

} // namespace

void ActionWriter::move(Action::Kind kind, Tile &t, std::int64_t row, bool spill) {
  Action action;
  action.kind = kind;
  action.product = product();
  const TensorBinding &binding = layout_.tensors[static_cast<std::size_t>(t.binding)];
  action.tensor = binding.tensor;
  action.layer = binding.layer;
  action.binding = t.binding;
  action.rect = t.rect;
  action.fp32 = t.fp32;
  action.spill = spill;
  action.place = place_at(t, row);
  if (spill) {
    // A tile is packed in its spill space, as it lies: no other tile shares its bus beats.
    action.rect = {t.rect.row, t.rect.col, tile_rows(t.rect), t.rect.cols};
    action.pitch = static_cast<std::uint32_t>(round_up(t.rect.cols * 4ULL, npu_.bus_bytes));
    if (t.scratch < 0) {
      program_.dram_bytes = round_up(program_.dram_bytes, npu_.bus_bytes);
      t.scratch = static_cast<std::int64_t>(program_.dram_bytes);
      program_.dram_bytes += static_cast<std::uint64_t>(action.pitch) * action.rect.rows;
    }
    action.dram_addr = static_cast<std::uint64_t>(t.scratch);
  } else {
    action.pitch = binding.pitch;
    action.dram_addr = element_address(binding, t.rect);
  }
  program_.actions.push_back(action);
  program_.more_commands += run_count(action.rect) - 1;
}

Place ActionWriter::place_of(const Tile &t, const TilePart &part) const {
  Place place = place_at(t, t.at);
  if (part.rows == 0) return place;
  place.rows = {place.rows.first + place.guard + part.skip, part.rows};
  place.guard = 0;
  place.panels = static_cast<std::uint32_t>(divide_up(t.rect.cols, npu_.lanes()));
  place.rot = part.skip % npu_.lanes();
  return place;
}

namespace {

Rect rect_of(const Tile &t, const TilePart &part) {
  return part.rows == 0 ? t.rect : Rect{t.rect.row + part.skip, t.rect.col, part.rows, t.rect.cols};
}

} // namespace

void ActionWriter::store_part(const Tile &t, const TilePart &part) {
  const TensorBinding &binding = layout_.tensors[static_cast<std::size_t>(t.binding)];
  Action action;
  action.kind = Action::Kind::kStore;
  action.product = product();
  action.tensor = binding.tensor;
  action.layer = binding.layer;
  action.binding = t.binding;
  action.rect = rect_of(t, part);
  action.place = place_of(t, part);
  action.pitch = binding.pitch;
  action.dram_addr = element_address(binding, action.rect);
  program_.actions.push_back(action);
}

void ActionWriter::compute(const TileProduct &product, const Needs &needs, const TileTable &table,
                           const std::array<TilePart, 4> *parts) {
  const auto tile = [&](std::int32_t id) -> const Tile & { return table.tiles[static_cast<std::size_t>(id)]; };
  const auto part = [&](std::size_t slot) { return parts == nullptr ? TilePart{} : (*parts)[slot]; };
  const auto place = [&](std::size_t slot) {
    const std::int32_t id = needs.tile[slot];
    return id < 0 ? Place{} : place_of(tile(id), part(slot));
  };
  const Tile &result = tile(needs.tile[Needs::kCout]);
  Action gemm;
  gemm.kind = product.add ? Action::Kind::kAdd : Action::Kind::kGemm;
  gemm.core = product.core;
  gemm.product = this->product();
  gemm.tensor = product.result;
  gemm.layer = product.layer;
  gemm.binding = result.binding;
  gemm.rect = rect_of(result, part(Needs::kCout));
  gemm.acc = !product.add && needs.tile[Needs::kCin] >= 0;
  gemm.out_bf16 = !result.fp32;
  gemm.a = place(Needs::kA);
  gemm.b = place(Needs::kB);
  gemm.cin = place(Needs::kCin);
  gemm.cout = place(Needs::kCout);
  program_.actions.push_back(gemm);
}

void ActionWriter::vector(const TileProduct &product) {
  const VectorSection &section = section_of(program_, product);
  const VectorPiece &piece = section.piece(product);
  const auto add = [&](Action::Kind kind, const SectionOperand &of) {
    Action action;
    action.kind = kind;
    action.product = this->product();
    action.tensor = of.tensor;
    action.layer = of.layer;
    action.binding = layout_.place(of.layer, of.tensor);
    program_.actions.push_back(action);
  };
  const SectionOperand result{product.layer, section.result};
  if (product.m == 0)
    for (const SectionOperand &operand : section.operands)
      add(Action::Kind::kGate, operand);
  add(Action::Kind::kPiece, result);
  program_.more_commands += piece.commands.size() - 1;
  if (section.ends_with(product)) add(Action::Kind::kDone, result);
}

} // namespace gradweave::compiler
