#include "trace/command_label.hpp"

#include <fmt/format.h>

namespace gradweave::runtime {
namespace {

std::string opcode_of(const isa::DmaCommand &dma) { return dma.store ? "STORE" : "LOAD"; }
std::string opcode_of(const isa::GemmCommand &) { return "GEMM"; }
std::string opcode_of(const isa::ConvCommand &conv) { return conv.weights ? "WGRAD" : "CONV"; }
std::string opcode_of(const isa::AddCommand &) { return "ADD"; }
std::string opcode_of(const isa::SyncCommand &sync) { return sync.mark ? "MARK" : "SYNC"; }

std::string opcode_of(const isa::ProgramCommand &) { return "PROGRAM"; }
std::string opcode_of(const isa::TileCommand &) { return "TILE"; }
std::string opcode_of(const isa::VectorCommand &) { return "VECTOR"; }

std::string tile_of(const isa::DmaCommand &dma) {
  return fmt::format("{}x{} {} dram={:#x} spm={}", dma.rows, dma.cols, dma.fp32 ? "fp32" : "bf16", dma.dram_addr,
                     dma.spm.row);
}
std::string tile_of(const isa::GemmCommand &gemm) {
  return fmt::format("{}x{}x{} a={} b={} cout={}", gemm.m, gemm.n, gemm.k, gemm.a.row, gemm.b.row, gemm.cout.row);
}
std::string tile_of(const isa::ConvCommand &conv) {
  const isa::ImageWalk &i = conv.image;
  return fmt::format("{} image={}x{} taps={}x{}", tile_of(conv.product), i.img_h, i.img_w, i.taps_y, i.taps_x);
}
std::string tile_of(const isa::AddCommand &add) {
  return fmt::format("{}x{} a={} cin={} cout={}", add.m, add.n, add.a.row, add.cin.row, add.cout.row);
}
std::string tile_of(const isa::SyncCommand &) { return {}; }
std::string tile_of(const isa::ProgramCommand &program) { return fmt::format("{} at {}", program.count, program.at); }
std::string tile_of(const isa::TileCommand &command) {
  std::string text;
  for (const isa::VectorTile &tile : command.tiles)
    if (tile.slot != isa::kNoSlot)
      text += fmt::format("{}{}={}x{} spm={}", text.empty() ? "" : " ", isa::slot_name(tile.slot), tile.rows, tile.cols,
                          tile.spm.row);
  return text;
}
std::string tile_of(const isa::VectorCommand &vector) {
  return fmt::format("program {}, {} elements, {} steps", vector.first, vector.elements, vector.steps);
}

} // namespace

std::string engine_name(std::uint8_t engine) {
  if (engine == static_cast<std::uint8_t>(isa::Engine::LOAD)) return "load";
  if (engine == static_cast<std::uint8_t>(isa::Engine::STORE)) return "store";
  if (isa::is_vector_engine(engine))
    return fmt::format("vector{}", engine - static_cast<std::uint8_t>(isa::Engine::VECTOR0));
  return fmt::format("compute{}", engine - static_cast<std::uint8_t>(isa::Engine::COMPUTE0));
}

std::string tile_label(const compiler::CommandInfo &info) {
  if (info.rows == 0) return {};
  std::string text = fmt::format("{}{}[{}:{},{}:{}]", info.spill ? "partial " : "", compiler::to_string(info.tensor),
                                 info.row, info.row + info.rows, info.col, info.col + info.cols);
  if (info.red_n != 0) text += fmt::format(" red {}:{}", info.red, info.red + info.red_n);
  return text;
}

std::string tile_label(const isa::Command &command) {
  const auto decoded = isa::decode(command);
  if (!decoded) return {};
  return std::visit([](const auto &op) { return tile_of(op); }, decoded->op);
}

std::string CommandLabel::text() const {
  std::string joined = opcode;
  for (const std::string *part : {&layer, &tile})
    if (!part->empty()) joined += ' ' + *part;
  return joined;
}

CommandLabel label_command(const std::string &layer, const isa::Command &command, const compiler::CommandInfo *info) {
  CommandLabel label;
  label.layer = layer;
  label.tile = info != nullptr ? tile_label(*info) : tile_label(command);
  if (const auto decoded = isa::decode(command)) {
    label.engine = engine_name(decoded->engine());
    label.opcode = std::visit([](const auto &op) { return opcode_of(op); }, decoded->op);
  } else {
    label.opcode = fmt::format("{:#04x}", command.get(isa::field::OPCODE));
  }
  return label;
}

} // namespace gradweave::runtime
