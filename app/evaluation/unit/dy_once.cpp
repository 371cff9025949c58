#include "app/evaluation/unit/dy_once.hpp"

#include "compiler/ir/contraction.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <variant>
#include <vector>

namespace gradweave::evaluation {
namespace {

using compiler::CommandInfo;
using compiler::Compiled;
using compiler::Tensor;

/// LOADs of dY that a dX product reads; the others are for dW alone.
std::set<std::size_t> loads_for_dx(const Compiled &compiled) {
  std::set<std::size_t> needed;
  std::vector<std::size_t> loads; // of dY, latest last
  for (std::size_t i = 0; i < compiled.stream.size(); ++i) {
    const CommandInfo &info = compiled.info[i];
    const isa::Decoded command = isa::decode(compiled.stream[i]).value();
    if (const auto *dma = std::get_if<isa::DmaCommand>(&command.op)) {
      if (!dma->store && info.tensor == compiler::shared_gradient()) loads.push_back(i);
    } else if (const auto *gemm = std::get_if<isa::GemmCommand>(&command.op)) {
      if (info.tensor != Tensor::kDX) continue;
      // dX = dY W^T: its A operand is what was loaded last to that place.
      const auto load = std::find_if(loads.rbegin(), loads.rend(), [&](std::size_t l) {
        return compiled.stream[l].get(isa::field::SPM_ROW) == gemm->a.row;
      });
      if (load != loads.rend()) needed.insert(*load);
    }
  }
  return needed;
}

} // namespace

void drop_second_dy_reads(Compiled &compiled, const Machine &npu) {
  const std::set<std::size_t> needed = loads_for_dx(compiled);
  if (needed.empty()) return;
  std::uint64_t dropped = 0;
  for (std::size_t i = 0; i < compiled.stream.size(); ++i) {
    isa::Command &command = compiled.stream[i];
    const CommandInfo &info = compiled.info[i];
    if (command.get(isa::field::OPCODE) != static_cast<std::uint32_t>(isa::Opcode::LOAD) ||
        info.tensor != compiler::shared_gradient() || needed.count(i) != 0)
      continue;
    dropped += 2ULL * info.rows * info.cols - 2;
    command.set(isa::field::ROWS, 1);
    command.set(isa::field::COLS, 1);
  }
  compiled.traffic.front()[static_cast<std::size_t>(compiler::shared_gradient())].read_bytes -= dropped;
  const timing::RunResult run = timing::run(npu, compiled.stream);
  if (!run.ok())
    throw compiler::CompilerDefect(
        fmt::format("layer '{}': the stream without the second reads of dY stops with error {} at command {}",
                    compiled.layer().name, static_cast<int>(run.error), run.error_index));
  compiled.predicted_cycles = run.cycles();
}

} // namespace gradweave::evaluation
