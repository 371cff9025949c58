#include "app/validate/corpus/parts/errors.hpp"

#include <array>

namespace gradweave::corpus {

namespace {

/// Flips single bits of commands until one earns the error; gives up, with the stream as it was, if none of many does.
void make_illegal(std::vector<isa::Command> &stream, isa::ErrorCode error, const isa::Limits &limits, Dice &dice) {
  for (int attempt = 0; attempt < 4000; ++attempt) {
    isa::Command &command = stream[dice.below(stream.size())];
    const isa::Command before = command;
    command.words[dice.below(isa::kCommandWords)] ^= 1U << dice.below(32);
    if (isa::check_command(command, limits) == error) return;
    command = before;
  }
}

void make_deadlock(std::vector<isa::Command> &stream, std::uint8_t never_posted, Dice &dice) {
  isa::Command &command = stream[dice.below(stream.size())];
  command.set(isa::field::WAIT0_SEM, never_posted);
  command.set(isa::field::WAIT0_COUNT, dice.between(1, 255));
}

} // namespace

void break_stream(std::vector<isa::Command> &stream, const Machine &config, std::uint8_t never_posted, Dice &dice) {
  using isa::ErrorCode;
  constexpr std::array<ErrorCode, 5> kCodes{ErrorCode::ILLEGAL_OPCODE, ErrorCode::ILLEGAL_FIELD, ErrorCode::SPM_RANGE,
                                            ErrorCode::DRAM_RANGE, ErrorCode::DRAM_ALIGN};
  const isa::Limits limits{config.lanes(),           config.spm_rows(), config.cores, config.semaphores, 0,
                           config.memory.size_bytes, config.vectors()};
  const std::uint64_t kind = dice.below(5);
  if (kind < 2) make_deadlock(stream, never_posted, dice);
  if (kind > 0) make_illegal(stream, kCodes[dice.below(kCodes.size())], limits, dice);
}

void overflow_a_semaphore(std::vector<isa::Decoded> &stream, const NpuConfig &npu, Dice &dice) {
  constexpr std::uint32_t kSyncs = (65535 + 3) / 3 + 1;
  for (std::uint32_t i = 0; i < kSyncs; ++i) {
    isa::Decoded d;
    d.op = isa::SyncCommand{isa::engine_at(static_cast<std::uint32_t>(dice.below(npu.engines())), npu.cores)};
    d.sync.posts = {0, 0, 0};
    stream.push_back(d);
  }
}

} // namespace gradweave::corpus
