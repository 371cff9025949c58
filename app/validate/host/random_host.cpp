#include "app/validate/host/random_host.hpp"

#include <algorithm>
#include <array>

namespace gradweave::corpus {
namespace {

constexpr std::uint32_t kMostRings = 3;                               // of the smallest ring, in places
constexpr std::array<std::uint64_t, 3> kLongestPauses{20, 400, 8000}; // cycles: faster than the NPU, like it, slower
constexpr std::uint64_t kLargestPiece = 32;

} // namespace

RandomHost::RandomHost(Device &device, const std::vector<isa::Command> &stream, std::uint64_t seed)
    : device_(device), stream_(stream), dice_(seed), places_(isa::kRingMultiple * dice_.between(1, kMostRings)),
      longest_pause_(kLongestPauses[dice_.below(kLongestPauses.size())]) {
  record_.places = places_;
}

HostRecord RandomHost::run() {
  device_.open(places_);
  note();
  bool goes_on = true;
  for (std::size_t at = 0; at < stream_.size() && goes_on;) {
    std::vector<isa::Command> piece = next_piece(at);
    goes_on = make_room(piece.size() + 1);
    if (!goes_on) break;
    at += piece.size();
    append(std::move(piece));
    goes_on = pause();
  }
  record_.writes.push_back({timing::HostWrite::Kind::kClose, device_.close(), 0});
  note();
  while (device_.advance(timing::kNever))
    take();
  note();
  while (take()) {
  }
  record_.status = device_.wait();
  return record_;
}

void RandomHost::abandon() {
  device_.open(places_);
  append(next_piece(0));
  device_.advance(device_.now() + dice_.below(longest_pause_));
  device_.reset();
}

std::vector<isa::Command> RandomHost::next_piece(std::size_t at) {
  const std::size_t most = std::min<std::size_t>(stream_.size() - at, places_ - 1);
  const std::size_t size = std::min<std::size_t>(most, 1 + dice_.below(std::uint64_t{1} << dice_.below(6)));
  const auto first = stream_.begin() + static_cast<std::ptrdiff_t>(at);
  return {first, first + static_cast<std::ptrdiff_t>(size)};
}

bool RandomHost::take() {
  const auto mark = device_.take_mark();
  if (!mark) return false;
  record_.marks.push_back(*mark);
  record_.writes.push_back({timing::HostWrite::Kind::kTakeMark, device_.now() - HostLatency::kAnswer, 0});
  note();
  return true;
}

bool RandomHost::make_room(std::size_t commands) {
  if (device_.room() < commands) ++record_.waits;
  while (device_.room() < commands) {
    if (!take() && !device_.advance(timing::kNever)) return false;
    note();
  }
  return true;
}

void RandomHost::append(std::vector<isa::Command> piece) {
  if (dice_.chance(0.8)) piece.push_back(mark());
  write_tail(piece);
  unmarked_ = isa::is_mark(piece.back()) ? 0 : unmarked_ + piece.size();
  if (unmarked_ + kLargestPiece + 2 > places_) append_mark(); // or the room of these is never known
}

void RandomHost::append_mark() {
  unmarked_ = 0;
  if (make_room(1)) write_tail({mark()});
}

void RandomHost::write_tail(const std::vector<isa::Command> &piece) {
  if (appended_ / places_ != (appended_ + piece.size()) / places_) ++record_.wraps;
  appended_ += piece.size();
  record_.sent.insert(record_.sent.end(), piece.begin(), piece.end());
  record_.writes.push_back(
      {timing::HostWrite::Kind::kTail, device_.append(piece), static_cast<std::uint32_t>(appended_)});
  note();
}

isa::Command RandomHost::mark() {
  return isa::encode({isa::SyncCommand{static_cast<std::uint8_t>(isa::Engine::STORE), true}, {}, tag_++});
}

/// Takes marks at once, or leaves them until there is no other way, so that their log fills up.
bool RandomHost::pause() {
  const std::uint64_t until = device_.now() + dice_.below(longest_pause_);
  while (device_.now() < until) {
    if (!device_.advance(until)) return false;
    note();
    if (!dice_.chance(0.5) || !take()) break;
  }
  return true;
}

} // namespace gradweave::corpus
