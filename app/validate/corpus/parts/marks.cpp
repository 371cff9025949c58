#include "app/validate/corpus/parts/marks.hpp"

#include "base/random/dice.hpp"

#include <array>
#include <cstddef>
#include <optional>

namespace gradweave::corpus {
namespace {

constexpr std::uint64_t kSalt = 0x6d61726b; // what is drawn for MARKs is apart from what the seed decides otherwise
constexpr auto kStore = static_cast<std::uint8_t>(isa::Engine::STORE);

/// The command as a MARK, if it is a SYNC of the store engine.
std::optional<isa::Command> as_mark(const isa::Command &command) {
  std::optional<isa::Decoded> decoded = isa::decode(command);
  auto *sync = decoded ? std::get_if<isa::SyncCommand>(&decoded->op) : nullptr;
  if (sync == nullptr || sync->engine != kStore) return std::nullopt;
  if (isa::encode(*decoded).words != command.words) return std::nullopt; // it has bits for which the NPU refuses it
  sync->mark = true;
  return isa::encode(*decoded);
}

} // namespace

void add_marks(std::vector<isa::Command> &stream, std::uint64_t seed) {
  Dice dice(seed ^ kSalt);
  const double become = dice.chance(0.5) ? 0.5 : 0;
  const double come = std::array<double, 8>{0, 0, 0, 0, 0, 0.1, 0.1, 0.5}[dice.below(8)];
  std::uint32_t marks = 0;
  std::vector<isa::Command> with;
  with.reserve(stream.size() + kMostMarks);
  for (const isa::Command &command : stream) {
    if (marks < kMostMarks && dice.chance(come)) {
      ++marks;
      with.push_back(isa::encode({isa::SyncCommand{kStore, true}, {}, static_cast<std::uint16_t>(dice.below(65536))}));
    }
    const std::optional<isa::Command> mark =
        marks < kMostMarks && dice.chance(become) ? as_mark(command) : std::nullopt;
    if (mark) ++marks;
    with.push_back(mark.value_or(command));
  }
  stream = std::move(with);
}

} // namespace gradweave::corpus
