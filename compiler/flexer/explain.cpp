#include "compiler/flexer/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace gradweave::compiler::flexer {
namespace {

/// "partial Y[0:8,8:16]"
std::string name_of(std::int32_t id, const TileWalk &walk) {
  const Tile &t = walk.table().tiles[static_cast<std::size_t>(id)];
  const Tensor tensor = walk.layout().tensors[static_cast<std::size_t>(t.binding)].tensor;
  return fmt::format("{}{}[{}:{},{}:{}]", t.role == TileRole::kPartial ? "partial " : "", to_string(tensor), t.rect.row,
                     t.rect.row + t.rect.rows, t.rect.col, t.rect.col + t.rect.cols);
}

std::string text_of(const OperationSet &set) {
  return fmt::format("{{{}}}", fmt::join(set.operations.begin(), set.operations.begin() + set.count, " "));
}

bool same(const OperationSet &x, const OperationSet &y) {
  return x.count == y.count && std::equal(x.operations.begin(), x.operations.begin() + x.count, y.operations.begin());
}

/// "operation 3 on core 1: partial Y[0:8,0:8] of X[0:8,8:16], W[8:16,0:8], partial Y[0:8,0:8]"
std::string text_of(const ListStep::Issued &issued, const TileWalk &walk) {
  const Needs &needs = walk.table().needs[static_cast<std::size_t>(issued.operation)];
  std::vector<std::string> operands;
  for (const std::size_t slot : {Needs::kA, Needs::kB, Needs::kCin})
    if (needs.tile.at(slot) >= 0) operands.push_back(name_of(needs.tile.at(slot), walk));
  return fmt::format("  operation {} on core {}: {} of {}\n", issued.operation, issued.core,
                     name_of(needs.tile[Needs::kCout], walk), fmt::join(operands, ", "));
}

} // namespace

std::string explain(std::uint64_t number, const ListStep &step, const TileWalk &walk) {
  std::string text = fmt::format("step {}: {} ready, {} sets told apart, {} weighed\n", number, step.ready, step.sets,
                                 step.weighed.size());
  for (const ListStep::Weighed &w : step.weighed) {
    if (!w.fits) {
      text += fmt::format("  {} finds no room\n", text_of(w.set));
      continue;
    }
    text += fmt::format("  {} benefit {:.6g}, spilled {}, utility {}, moved {} bytes{}\n", text_of(w.set),
                        w.value.benefit, w.value.spilled, w.value.utility, w.value.moved,
                        !step.repacked && same(w.set, step.set) ? ": taken" : "");
  }
  if (step.repacked) text += fmt::format("  {} in a scratchpad that is emptied for it: taken\n", text_of(step.set));
  for (const ListStep::Victim &v : step.victims)
    text += fmt::format("  {} gives way, still to be read by {}{}\n", name_of(v.tile, walk), v.uses,
                        v.stored ? ", and is stored" : "");
  for (const ListStep::Placed &p : step.placed)
    text += fmt::format("  {} {} row {}\n", name_of(p.tile, walk), p.loaded ? "is loaded to" : "begins at", p.row);
  for (const ListStep::Issued &issued : step.issued)
    text += text_of(issued, walk);
  return text;
}

} // namespace gradweave::compiler::flexer
