#include "sw_models/timing/engines/command_fetch.hpp"

#include <algorithm>

namespace gradweave::timing {

CommandFetch::CommandFetch(std::uint32_t bus_bytes, std::uint64_t stream_addr, std::uint64_t commands)
    : word_commands_(std::max(1U, bus_bytes / isa::kCommandBytes)),
      word_beats_(std::max(1U, isa::kCommandBytes / bus_bytes)), most_commands_(std::max(kLeastBurst, word_commands_)),
      first_slot_(static_cast<std::uint32_t>(stream_addr / isa::kCommandBytes % word_commands_)),
      first_in_burst_(static_cast<std::uint32_t>(stream_addr / isa::kCommandBytes % most_commands_)),
      commands_(commands), free_words_(2 * most_commands_ / word_commands_), open_ends_(2 * most_commands_),
      held_ends_(2 * most_commands_), available_(2 * most_commands_, 0) {
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
  const std::uint64_t quiet_from = std::max(last_data_, idle_to_);
  if (requested_ > 0 && received_ == requested_ && quiet_from < cycle) blocked_ += cycle - quiet_from - 1;
  const Burst burst{slot_of(requested_) * isa::kCommandBytes, burst_commands_ * isa::kCommandBytes};
  requested_ += burst_commands_;
  open_ends_.push(requested_);
  held_ends_.push(requested_);
  free_words_ -= burst_words_;
  not_before_ = cycle + latency::kFetchToFetch;
  plan();
  return burst;
}

void CommandFetch::receive(const FetchedWords &words) {
  if (words.words == 0) return;
  const std::uint64_t end = open_ends_.front();
  open_ends_.pop();
  for (std::uint32_t word = 0; word < words.words; ++word) {
    last_data_ = words.cycle[word];
    const std::uint64_t in_word = std::min<std::uint64_t>(word_commands_ - slot_of(received_), end - received_);
    for (std::uint64_t i = 0; i < in_word; ++i)
      available_[received_++ % available_.size()] = last_data_ + latency::kWordToCheck;
  }
}

void CommandFetch::moved(std::uint64_t cycle) {
  const bool burst_ends = ++moved_ == held_ends_.front();
  if (burst_ends) held_ends_.pop();
  const bool word_ends = burst_ends || slot_of(moved_) == 0;
  if (!word_ends) return;
  ++free_words_;
  if (next_burst_ != kNever) return;
  not_before_ = std::max(not_before_, cycle + latency::kMoveToFetchRoom);
  plan();
}

void CommandFetch::raise(std::uint64_t commands, std::uint64_t cycle) {
  if (commands == commands_) return;
  if (received_ == commands_ && last_data_ < cycle) {
    done_ += cycle - last_data_;
    idle_to_ = cycle;
  }
  commands_ = commands;
  not_before_ = std::max(not_before_, cycle + latency::kTailToFetch);
  plan();
}

std::uint64_t CommandFetch::received_before(std::uint64_t cycle) const {
  std::uint64_t n = received_;
  while (n > moved_ && available_[(n - 1) % available_.size()] >= cycle + latency::kWordToCheck)
    --n;
  return n;
}

std::uint64_t CommandFetch::blocked_cycles(std::uint64_t end) const {
  const std::uint64_t quiet_from = std::max(last_data_, idle_to_);
  const bool waits = requested_ > 0 && requested_ < commands_ && received_ == requested_ && quiet_from < end;
  return blocked_ + (waits ? end - quiet_from : 0);
}

std::uint64_t CommandFetch::done_cycles(std::uint64_t end) const {
  return done_ + (received_ == commands_ && last_data_ < end ? end - last_data_ : 0);
}

} // namespace gradweave::timing
