// The bins of single commands, as dispatch sees them.
#include "tests/coverage/functional.hpp"

namespace gradweave::coverage {

using isa::ErrorCode;

std::string opcode_name(const isa::Command &c) {
  switch (c.get(isa::field::OPCODE)) {
  case static_cast<std::uint32_t>(isa::Opcode::LOAD):
    return "LOAD";
  case static_cast<std::uint32_t>(isa::Opcode::STORE):
    return "STORE";
  case static_cast<std::uint32_t>(isa::Opcode::GEMM):
    return "GEMM";
  case static_cast<std::uint32_t>(isa::Opcode::SYNC):
  case static_cast<std::uint32_t>(isa::Opcode::MARK): // a SYNC of the store engine, to all but the log
    return "SYNC";
  case static_cast<std::uint32_t>(isa::Opcode::ADD):
    return "ADD";
  case static_cast<std::uint32_t>(isa::Opcode::CONV):
    return "CONV";
  case static_cast<std::uint32_t>(isa::Opcode::WGRAD):
    return "WGRAD";
  case static_cast<std::uint32_t>(isa::Opcode::PROGRAM):
    return "PROGRAM";
  case static_cast<std::uint32_t>(isa::Opcode::TILE):
    return "TILE";
  case static_cast<std::uint32_t>(isa::Opcode::VECTOR):
    return "VECTOR";
  default:
    return "UNKNOWN";
  }
}

std::vector<std::pair<std::string, std::string>> flags_of(const isa::Command &c) {
  std::vector<std::pair<std::string, std::string>> flags;
  const auto add = [&](const isa::Field &f) {
    if (f.name == isa::field::PACKED.name) return; // how phases lie: of the bins of walks
    if (f.width == 1) flags.emplace_back(std::string(f.name), std::to_string(c.get(f)));
  };
  const std::string opcode = opcode_name(c);
  if (opcode == "LOAD")
    for (const isa::Field &f : isa::kLOADFields)
      add(f);
  else if (opcode == "STORE")
    for (const isa::Field &f : isa::kSTOREFields)
      add(f);
  else if (opcode == "GEMM")
    for (const isa::Field &f : isa::kGEMMFields)
      add(f);
  else if (opcode == "ADD")
    for (const isa::Field &f : isa::kADDFields)
      add(f);
  else if (opcode == "CONV")
    for (const isa::Field &f : isa::kCONVFields)
      add(f);
  else if (opcode == "WGRAD")
    for (const isa::Field &f : isa::kWGRADFields)
      add(f);
  return flags;
}

std::string FunctionalCoverage::opcode_here(const isa::Command &c) const {
  const std::string name = opcode_name(c);
  const bool of_unit = name == "PROGRAM" || name == "TILE" || name == "VECTOR";
  return of_unit && geometry_.vectors() == 0 ? "UNKNOWN" : name;
}

void FunctionalCoverage::command(const isa::Command &c, ErrorCode error) {
  const auto d = isa::decode(c);
  if (!d) return;
  if (error == ErrorCode::NONE) {
    const std::string opcode = opcode_name(c);
    hit("command." + opcode);
    if (isa::is_mark(c)) hit("command.MARK");
    std::string all = "flags." + opcode;
    for (const auto &[flag, value] : flags_of(c))
      all += "." + value;
    if (all != "flags." + opcode) hit(all);
    if (const auto *v = std::get_if<isa::ConvCommand>(&d->op)) walk(*v);
    if (const auto *v = std::get_if<isa::VectorCommand>(&d->op)) vector(*v);
    if (const auto *t = std::get_if<isa::TileCommand>(&d->op)) vector_tiles(*t);
  }
  if (error == ErrorCode::NONE || error == ErrorCode::SPM_RANGE) tiles(*d, error);
}

void FunctionalCoverage::tiles(const isa::Decoded &d, ErrorCode error) {
  if (const auto *dma = std::get_if<isa::DmaCommand>(&d.op)) {
    tile(dma->store ? "STORE" : "LOAD", dma->spm, dma->rows, dma->cols, dma->fp32, error);
  } else if (const auto *g = std::get_if<isa::GemmCommand>(&d.op)) {
    tile("GEMM_A", g->a, g->a_col ? g->m : g->k, g->a_col ? g->k : g->m, false, error);
    tile("GEMM_B", g->b, g->b_col ? g->n : g->k, g->b_col ? g->k : g->n, false, error);
    if (g->acc) tile("GEMM_CIN", g->cin, g->m, g->n, true, error);
    tile("GEMM_COUT", g->cout, g->m, g->n, !g->out_bf16, error);
  } else if (const auto *a = std::get_if<isa::AddCommand>(&d.op)) {
    tile("ADD_A", a->a, a->m, a->n, true, error);
    tile("ADD_CIN", a->cin, a->m, a->n, true, error);
    tile("ADD_COUT", a->cout, a->m, a->n, !a->out_bf16, error);
  }
}

void FunctionalCoverage::walk(const isa::ConvCommand &v) {
  if (v.weights || v.image.taps() == 1) return;
  hit("walk.stride_" + std::to_string(v.image.stride) + (v.image.packed ? ".packed" : ".planes"));
}

void FunctionalCoverage::vector(const isa::VectorCommand &v) {
  const std::uint32_t strips = (v.elements - 1) / geometry_.lanes + 1, group = 4 * geometry_.vector_groups;
  hit(v.elements % geometry_.lanes == 0 ? "vector.last_strip_whole" : "vector.last_strip_in_part");
  hit(strips > group ? "vector.several_groups" : "vector.one_group");
  hit(strips % group == 0 ? "vector.last_group_whole" : "vector.last_group_in_part");
  hit(strips == 1 ? "vector.one_strip" : "vector.several_strips");
  hit(v.steps == 1 ? "vector.one_step" : "vector.several_steps");
}

void FunctionalCoverage::vector_tiles(const isa::TileCommand &t) {
  for (const isa::VectorTile &tile : t.tiles) {
    if (tile.slot == isa::kNoSlot) continue;
    const std::string kind = tile.slot < isa::kOperandSlots ? "operand" : "result";
    std::string flags = "vector_tile." + kind;
    for (const bool flag : {tile.fp32, tile.by_col, tile.same_element, tile.same_step})
      flags += flag ? ".1" : ".0";
    hit(flags);
    hit("vector_window." + kind + (tile.col == 0 ? ".begins_panel" : ".begins_within"));
    hit("vector_window." + kind + (tile.col + tile.cols > geometry_.lanes ? ".several_panels" : ".one_panel"));
  }
}

void FunctionalCoverage::tile(const std::string &operand, const isa::SpmTile &t, std::uint32_t rows, std::uint32_t cols,
                              bool fp32, ErrorCode error) {
  const std::string name = "spm." + operand + ".";
  const std::uint32_t step = fp32 ? 2 : 1;
  const std::uint32_t panels = (cols - 1) / geometry_.lanes + 1;
  const std::uint64_t end = t.row + std::uint64_t{panels - 1} * t.pstride + std::uint64_t{rows} * step;
  if (error == ErrorCode::SPM_RANGE) {
    if (end == geometry_.spm_rows + step) hit(name + "ends_one_row_beyond");
    return;
  }
  const std::uint32_t bank_rows = geometry_.spm_rows / geometry_.spm_banks;
  if (t.row == 0) hit(name + "begins_scratchpad");
  if (end == geometry_.spm_rows)
    hit(name + "ends_scratchpad");
  else if (end % bank_rows == 0)
    hit(name + "ends_bank");
  if (t.row / bank_rows != (end - 1) / bank_rows) hit(name + "crosses_banks");
  hit(name + (panels > 1 ? "several_panels" : "one_panel"));
  hit(name + (cols % geometry_.lanes == 0 ? "last_panel_full" : "last_panel_in_part"));
  if (rows == 1 && cols == 1) hit(name + "one_element");
  hit(name + (t.rot == 0 ? "not_rotated" : "rotated"));
  if (t.rot == geometry_.lanes - 1) hit(name + "rotated_most");
  if (panels > 1 && t.pstride == rows * step) hit(name + "panels_adjacent");
}

} // namespace gradweave::coverage
