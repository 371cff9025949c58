#include "app/validate/corpus/vector/unit_writer.hpp"

#include <algorithm>

namespace gradweave::corpus {
namespace {

bool same(const isa::VectorTile &a, const isa::VectorTile &b) {
  isa::TileCommand x, y;
  x.tiles[0] = a;
  y.tiles[0] = b;
  return isa::encode({x, {}, 0}) == isa::encode({y, {}, 0});
}

} // namespace

std::uint32_t UnitWriter::place(const isa::vector::Words &words, std::vector<Operation> &out) {
  const auto known = std::find(programs_.begin(), programs_.end(), words);
  if (known != programs_.end()) return first_[static_cast<std::size_t>(known - programs_.begin())];
  const auto size = static_cast<std::uint32_t>(words.size());
  const std::uint32_t last = isa::kProgramWords - size;
  const std::uint32_t first = dice_.chance(0.2) ? (dice_.chance(0.5) ? 0 : last) : dice_.between(0, last);
  for (std::size_t i = programs_.size(); i-- > 0;) { // those that it overwrites are no more
    if (first_[i] + programs_[i].size() <= first || first + size <= first_[i]) continue;
    programs_.erase(programs_.begin() + static_cast<std::ptrdiff_t>(i));
    first_.erase(first_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (!isa::vector::check(words)) {
    programs_.push_back(words);
    first_.push_back(first);
  }
  for (std::uint32_t at = 0; at < size;) {
    isa::ProgramCommand command;
    command.unit = unit_;
    command.at = first + at;
    command.count = std::min<std::uint32_t>(size - at, dice_.chance(0.8) ? 6 : dice_.between(1, 6));
    std::copy_n(words.begin() + at, command.count, command.words.begin());
    state_.take(command);
    out.emplace_back(command);
    at += command.count;
  }
  return first;
}

void UnitWriter::describe(const std::vector<isa::VectorTile> &tiles, std::vector<Operation> &out) {
  std::vector<isa::VectorTile> wanted;
  for (const isa::VectorTile &tile : tiles)
    if (!same(tile, state_.slot(tile.slot)) || dice_.chance(0.2)) wanted.push_back(tile);
  dice_.shuffle(wanted);
  while (!wanted.empty()) {
    isa::TileCommand command;
    command.unit = unit_;
    const std::size_t count = std::min<std::size_t>(wanted.size(), dice_.chance(0.7) ? 3 : dice_.between(1, 3));
    std::copy_n(wanted.end() - static_cast<std::ptrdiff_t>(count), count, command.tiles.begin());
    wanted.resize(wanted.size() - count);
    dice_.shuffle(command.tiles);
    state_.take(command);
    out.emplace_back(command);
  }
}

std::vector<Operation> UnitWriter::run(const VectorWork &work) {
  std::vector<Operation> out;
  const bool tiles_first = dice_.chance(0.3);
  if (tiles_first) describe(work.tiles, out);
  isa::VectorCommand run;
  run.unit = unit_;
  run.first = place(work.words, out);
  if (!tiles_first) describe(work.tiles, out);
  run.elements = work.elements;
  run.steps = work.steps;
  out.emplace_back(run);
  return out;
}

} // namespace gradweave::corpus
