#include "compiler/spm/action_writer.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/grid/tile_rows.hpp"
#include "compiler/ir/vector_section.hpp"

#include <algorithm>

namespace gradweave::compiler {
void ActionWriter::move(Action::Kind kind, Tile &t, std::int64_t row, bool spill) {
  const TensorBinding &binding = layout_.tensors[static_cast<std::size_t>(t.binding)];
  Action action;
  action.kind = kind;
  action.product = product_;
  action.tensor = binding.tensor;
  action.layer = binding.layer;
  action.binding = t.binding;
  action.row = t.rect.row;
  action.col = t.rect.col;
  action.fp32 = t.fp32;
  action.spill = spill;
  action.place = {static_cast<std::uint32_t>(row), t.form};
  if (spill) {
    // A tile is packed in its spill space, as it lies: no other tile shares its bus beats.
    const Rect packed{t.rect.row, t.rect.col, program_.forms[t.form].lines, t.rect.cols};
    if (!(packed == t.rect)) action.place.form = program_.forms.number_of(packed, place_at(t, 0));
    const auto pitch = static_cast<std::uint32_t>(round_up(t.rect.cols * 4ULL, npu_.bus_bytes));
    if (t.scratch < 0) {
      program_.dram_bytes = round_up(program_.dram_bytes, npu_.bus_bytes);
      t.scratch = static_cast<std::int64_t>(program_.dram_bytes);
      program_.dram_bytes += static_cast<std::uint64_t>(pitch) * packed.rows;
    }
    action.memory = {static_cast<std::uint64_t>(t.scratch), pitch};
  } else {
    action.memory = {element_address(binding, t.rect), binding.pitch};
    program_.more_commands += run_count(t.rect) - 1;
    follow_move(t.rect, action);
  }
  program_.actions.push_back(action);
}

void ActionWriter::follow_sections() {
  const auto follow = [&](const SectionOperand &of) {
    stored_rows_.follow(static_cast<std::size_t>(layout_.place(of.layer, of.tensor)));
  };
  for (const auto &[result, section] : program_.sections) {
    follow({result.first, result.second});
    for (const SectionOperand &operand : section->operands)
      follow(operand);
  }
}

/// Of elements of a tensor that sections read or store.
void ActionWriter::follow_move(const Rect &rect, Action &action) {
  const auto binding = static_cast<std::size_t>(action.binding);
  if (!stored_rows_.follows(binding)) return;
  std::uint32_t first = 0, end = 0;
  tensor_rows(rect, first, end);
  if (action.kind == Action::Kind::kStore)
    stored_rows_.store(binding, first, end, std::uint64_t{rect.rows} * rect.cols, program_.actions.size());
  else
    action.memory.stored_by = stored_rows_.stored_by(layout_.tensors[binding], binding, first, end);
}

namespace {

Rect rect_of(const Tile &t, const TilePart &part) {
  return part.rows == 0 ? t.rect : Rect{t.rect.row + part.ahead + part.skip, t.rect.col, part.rows, t.rect.cols};
}

} // namespace

Spot ActionWriter::spot_of(const Tile &t, const TilePart &part) {
  const auto row = static_cast<std::uint32_t>(t.at);
  if (part.rows == 0) return {row, t.form};
  Place place = place_at(t, row);
  place.rows = {place.rows.first + place.guard + part.skip, part.rows};
  place.guard = 0;
  place.panels = static_cast<std::uint32_t>(divide_up(t.rect.cols, npu_.lanes()));
  place.rot = part.skip % npu_.lanes();
  return {place.rows.first, program_.forms.number_of(rect_of(t, part), place)};
}

void ActionWriter::store_part(const Tile &t, const TilePart &part) {
  const TensorBinding &binding = layout_.tensors[static_cast<std::size_t>(t.binding)];
  const Rect rect = rect_of(t, part);
  Action action;
  action.kind = Action::Kind::kStore;
  action.product = product_;
  action.tensor = binding.tensor;
  action.layer = binding.layer;
  action.binding = t.binding;
  action.row = rect.row;
  action.col = rect.col;
  action.place = spot_of(t, part);
  action.memory = {element_address(binding, rect), binding.pitch};
  follow_move(rect, action);
  program_.actions.push_back(action);
}

void ActionWriter::compute(const TileProduct &product, const Needs &needs, const std::array<TilePart, 4> *parts) {
  const auto tile = [&](std::int32_t id) -> const Tile & { return tiles_[static_cast<std::size_t>(id)]; };
  const auto part = [&](std::size_t slot) { return parts == nullptr ? TilePart{} : (*parts)[slot]; };
  const auto spot = [&](std::size_t slot) {
    const std::int32_t id = needs.tile[slot];
    return id < 0 ? Spot{} : spot_of(tile(id), part(slot));
  };
  const Tile &result = tile(needs.tile[Needs::kCout]);
  Action gemm;
  gemm.kind = product.add ? Action::Kind::kAdd : Action::Kind::kGemm;
  gemm.core = product.core;
  gemm.product = product_;
  gemm.tensor = product.result;
  gemm.layer = product.layer;
  gemm.binding = result.binding;
  gemm.row = result.rect.row + part(Needs::kCout).ahead + part(Needs::kCout).skip;
  gemm.col = result.rect.col;
  gemm.acc = !product.add && needs.tile[Needs::kCin] >= 0;
  gemm.out_bf16 = !result.fp32;
  gemm.place = spot(Needs::kCout);
  gemm.in = {spot(Needs::kA), spot(Needs::kB), spot(Needs::kCin)};
  program_.actions.push_back(gemm);
}

void ActionWriter::gate(const SectionOperand &of, const VectorPiece &piece, bool begins) {
  const auto binding = static_cast<std::size_t>(layout_.place(of.layer, of.tensor));
  const auto rows =
      std::find_if(piece.loaded.begin(), piece.loaded.end(), [&](const SectionRows &r) { return r.of == of; });
  const bool loads = rows != piece.loaded.end();
  Action action = action_of(Action::Kind::kGate, of);
  action.memory = {};
  if (loads)
    action.memory.stored_by = stored_rows_.stored_by(layout_.tensors[binding], binding, rows->first, rows->end);
  if (loads ? stored_rows_.has_to_wait(binding, action.memory.stored_by) : begins) program_.actions.push_back(action);
}

Action ActionWriter::action_of(Action::Kind kind, const SectionOperand &of) const {
  Action action;
  action.kind = kind;
  action.product = product_;
  action.tensor = of.tensor;
  action.layer = of.layer;
  action.binding = layout_.place(of.layer, of.tensor);
  return action;
}

void ActionWriter::vector(const TileProduct &product) {
  const VectorSection &section = section_of(program_, product);
  const VectorPiece &piece = section.piece(product);
  const SectionOperand result{product.layer, section.result};
  if (product.m == 0) stored_rows_.begin_section();
  for (const SectionOperand &operand : section.operands)
    gate(operand, piece, product.m == 0);
  program_.actions.push_back(action_of(Action::Kind::kPiece, result));
  program_.more_commands += piece.commands.size() - 1;
  const bool ends = section.ends_with(product);
  if (piece.stored_rows == 0 && !ends) return;
  const Action done = action_of(ends ? Action::Kind::kDone : Action::Kind::kRows, result);
  stored_rows_.store(static_cast<std::size_t>(done.binding), piece.stored.first, piece.stored.end,
                     std::uint64_t{piece.stored_rows} * layout_.tensors[static_cast<std::size_t>(done.binding)].cols,
                     program_.actions.size());
  program_.actions.push_back(done);
}

} // namespace gradweave::compiler
