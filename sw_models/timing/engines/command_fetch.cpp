#include "sw_models/timing/engines/command_fetch.hpp"

#include <algorithm>

namespace gradweave::timing {

CommandFetch::CommandFetch(std::uint32_t bus_bytes, std::uint64_t stream_addr, std::uint64_t commands)
    : word_commands_(std::max(1U, bus_bytes / isa::kCommandBytes)),
      word_beats_(std::max(1U, isa::kCommandBytes / bus_bytes)), most_commands_(std::max(kLeastBurst, word_commands_)),
      first_slot_(static_cast<std::uint32_t>(stream_addr / isa::kCommandBytes % word_commands_)),
      first_in_burst_(static_cast<std::uint32_t>(stream_addr / isa::kCommandBytes % most_commands_)),
      commands_(commands), free_words_(2 * most_commands_ / word_commands_), available_(2 * most_commands_, 0) {
  plan();
}

void CommandFetch::plan() {
  next_burst_ = kNever;
  if (requested_ == commands_) return;
  burst_commands_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      most_commands_ - (first_in_burst_ + requested_) % most_commands_, commands_ - requested_));
  burst_words_ = (slot_of(requested_) + burst_commands_ + word_commands_ - 1) / word_commands_;
  if (free_words_ >= burst_words_) next_burst_ = not_before_;
}

CommandFetch::Burst CommandFetch::issue(std::uint64_t cycle) {
  if (requested_ > 0 && received_ == requested_ && last_data_ < cycle) blocked_ += cycle - last_data_ - 1;
  const Burst burst{slot_of(requested_) * isa::kCommandBytes, burst_commands_ * isa::kCommandBytes};
  requested_ += burst_commands_;
  free_words_ -= burst_words_;
  not_before_ = cycle + latency::kFetchToFetch;
  plan();
  return burst;
}

void CommandFetch::receive(const FetchedWords &words) {
  for (std::uint32_t word = 0; word < words.words; ++word) {
    last_data_ = words.cycle[word];
    const std::uint64_t in_word = std::min<std::uint64_t>(word_commands_ - slot_of(received_), commands_ - received_);
    for (std::uint64_t i = 0; i < in_word; ++i)
      available_[received_++ % available_.size()] = last_data_ + latency::kWordToCheck;
  }
}

void CommandFetch::moved(std::uint64_t cycle) {
  const bool word_ends = slot_of(moved_) == word_commands_ - 1 || moved_ + 1 == commands_;
  ++moved_;
  if (!word_ends) return;
  ++free_words_;
  if (next_burst_ != kNever) return;
  not_before_ = std::max(not_before_, cycle + latency::kMoveToFetchRoom);
  plan();
}

std::uint64_t CommandFetch::blocked_cycles(std::uint64_t end) const {
  const bool waits = requested_ > 0 && requested_ < commands_ && received_ == requested_ && last_data_ < end;
  return blocked_ + (waits ? end - last_data_ : 0);
}

std::uint64_t CommandFetch::done_cycles(std::uint64_t end) const {
  return received_ == commands_ && last_data_ < end ? end - last_data_ : 0;
}

} // namespace gradweave::timing
