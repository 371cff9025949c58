#include "compiler/items/ordered_commands.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

constexpr std::size_t kCore = 2;

std::size_t engine_of(const OrderedCommands::Op &op) { return isa::engine_place(isa::Decoded{op, {}, 0}.engine(), 1); }

} // namespace

OrderedCommands::Positions OrderedCommands::needs(std::size_t engine, const std::vector<RegionRange> &reads,
                                                  const std::vector<RegionRange> &writes) const {
  Positions needed{};
  const auto need = [&needed](std::size_t of, std::uint32_t position) { needed[of] = std::max(needed[of], position); };
  for (const RegionRange &range : reads)
    for (std::size_t r = range.first; r < range.first + range.count; ++r)
      if (const Region &region = regions_[r]; region.writer && (*region.writer != engine || engine == kCore))
        need(*region.writer, region.written);
  for (const RegionRange &range : writes)
    for (std::size_t r = range.first; r < range.first + range.count; ++r) {
      const Region &region = regions_[r];
      if (region.writer && *region.writer != engine) need(*region.writer, region.written);
      for (std::size_t other = 0; other < kOrderedEngines; ++other)
        if (other != engine) need(other, region.read[other]);
    }
  return needed;
}

void OrderedCommands::wait(Ordered &command, std::size_t engine, std::uint32_t position) {
  Ordered &other = commands_[of_engine_[engine][position - 1]];
  command.waits[engine] = true;
  other.posts[command.engine] = true;
  for (std::size_t e = 0; e < kOrderedEngines; ++e)
    command.known[e] = std::max(command.known[e], other.known[e]);
  command.known[engine] = std::max(command.known[engine], position);
}

void OrderedCommands::add(const Op &op, const std::vector<RegionRange> &reads, const std::vector<RegionRange> &writes) {
  Ordered command;
  command.op = op;
  command.engine = engine_of(op);
  std::vector<std::size_t> &queue = of_engine_[command.engine];
  if (!queue.empty()) command.known = commands_[queue.back()].known;
  const Positions needed = needs(command.engine, reads, writes);
  for (std::size_t engine = 0; engine < kOrderedEngines; ++engine)
    if (needed[engine] > command.known[engine]) wait(command, engine, needed[engine]);
  queue.push_back(commands_.size());
  const auto position = static_cast<std::uint32_t>(queue.size());
  for (const RegionRange &range : reads)
    for (std::size_t r = range.first; r < range.first + range.count; ++r)
      regions_[r].read[command.engine] = position;
  for (const RegionRange &range : writes)
    for (std::size_t r = range.first; r < range.first + range.count; ++r)
      regions_[r] = {command.engine, position, {}};
  commands_.push_back(command);
}

std::vector<isa::Command> OrderedCommands::encoded(std::uint32_t first_semaphore) const {
  std::vector<isa::Command> out;
  for (const Ordered &command : commands_) {
    std::vector<isa::Wait> waits;
    std::vector<std::uint8_t> posts;
    for (std::size_t other = 0; other < kOrderedEngines; ++other) {
      if (command.waits[other]) waits.push_back({pair_semaphore(first_semaphore, other, command.engine), 1});
      if (command.posts[other]) posts.push_back(pair_semaphore(first_semaphore, command.engine, other));
    }
    // A command has room for three of each: a SYNC takes the fourth.
    const isa::SyncCommand sync{isa::engine_at(static_cast<std::uint32_t>(command.engine), 1)};
    if (isa::Decoded first{sync, {}, 0}; waits.size() > first.sync.waits.size()) {
      first.sync.waits[0] = waits.back();
      waits.pop_back();
      out.push_back(isa::encode(first));
    }
    isa::Decoded decoded{command.op, {}, 0}, behind{sync, {}, 0};
    std::copy(waits.begin(), waits.end(), decoded.sync.waits.begin());
    const bool full = posts.size() > decoded.sync.posts.size();
    if (full) {
      behind.sync.posts[0] = posts.back();
      posts.pop_back();
    }
    std::copy(posts.begin(), posts.end(), decoded.sync.posts.begin());
    out.push_back(isa::encode(decoded));
    if (full) out.push_back(isa::encode(behind));
  }
  return out;
}

} // namespace gradweave::compiler
