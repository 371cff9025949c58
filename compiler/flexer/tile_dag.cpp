#include "compiler/flexer/tile_dag.hpp"

namespace gradweave::compiler::flexer {

TileDag::TileDag(const std::vector<PhasePlan> &plans, const TileWalk &walk) : uses_(walk.table().tiles.size(), 0) {
  const std::vector<Needs> &needs = walk.table().needs;
  operations_.resize(needs.size());
  std::vector<std::int32_t> writer(uses_.size(), Operation::kNone); // of each sum, so far
  std::size_t end = 0, phase = 0;
  for (std::size_t i = 0; i < needs.size(); ++i) {
    while (phase < plans.size() && i == end + plans[phase].products.size())
      end += plans[phase++].products.size();
    Operation &o = operations_[i];
    const auto &tile = needs[i].tile;
    o.operands = {tile[Needs::kA], tile[Needs::kB]};
    o.sum = tile[Needs::kCin];
    o.result = tile[Needs::kCout];
    o.phase = static_cast<std::uint32_t>(phase);
    for (const std::int32_t read : {o.operands[0], o.operands[1], o.sum})
      if (read >= 0) ++uses_[static_cast<std::size_t>(read)];
    if (o.sum >= 0)
      operations_[static_cast<std::size_t>(writer[static_cast<std::size_t>(o.sum)])].next =
          static_cast<std::int32_t>(i);
    writer[static_cast<std::size_t>(o.result)] = static_cast<std::int32_t>(i);
  }
}

std::vector<std::int32_t> TileDag::sources(std::uint32_t phase) const {
  std::vector<std::int32_t> all;
  for (std::size_t i = 0; i < operations_.size(); ++i)
    if (operations_[i].phase == phase && operations_[i].sum < 0) all.push_back(static_cast<std::int32_t>(i));
  return all;
}

} // namespace gradweave::compiler::flexer
