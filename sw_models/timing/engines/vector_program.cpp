#include "sw_models/timing/engines/vector_program.hpp"

#include "sw_models/timing/engines/command_times.hpp"
#include "sw_models/timing/engines/latencies.hpp"

#include <algorithm>

namespace gradweave::timing {
namespace {

using isa::vector::kOutputs;
using isa::vector::kSections;
using isa::vector::kTiles;
using Section = VectorSections::Section;

constexpr std::uint64_t kTurns = latency::kVectorTurns;

std::uint32_t ones(unsigned mask) {
  std::uint32_t count = 0;
  for (; mask != 0; mask &= mask - 1)
    ++count;
  return count;
}

/// Cycles of first to end - 1 up to the limit.
std::uint64_t cycles_to(std::uint64_t limit, std::uint64_t first, std::uint64_t end) {
  if (limit < first || end <= first) return 0;
  return std::min(end - 1, limit) - first + 1;
}

/// Runs of sections in their order (rtl/vector/gw_vector_sections.sv).
class RunWalk {
public:
  RunWalk(const VectorSections &program, std::uint32_t group, std::uint32_t strips, std::uint32_t steps)
      : program_(program), most_(group), left_(strips), steps_(steps) {
    skip_empty();
  }
  bool valid() const { return left_ != 0; }
  std::uint32_t number() const { return section_; }
  const Section &section() const { return program_.sections[section_]; }
  /// Strips that the run works on.
  std::uint32_t group() const { return std::min(most_, left_); }
  void next() {
    if (section_ % 2 == 1 && ++step_ < steps_) return;
    step_ = 0;
    ++section_;
    skip_empty();
  }

private:
  /// Some section has an instruction.
  void skip_empty() {
    while (left_ != 0 && (section_ == kSections || section().length() == 0)) {
      if (section_ != kSections) {
        ++section_;
        continue;
      }
      section_ = 0;
      left_ -= group();
    }
  }

  const VectorSections &program_;
  std::uint32_t most_, left_, steps_;
  std::uint32_t section_ = 0, step_ = 0;
};

/// Lines that pass one a cycle, without a gap within a run.
class Lines {
public:
  /// `count` more, from cycle `from` on or when those before have passed.
  void add(std::uint64_t from, std::uint64_t count, std::uint64_t limit) {
    before_ = last_;
    last_.first = std::max(from, last_.end);
    last_.end = last_.first + count;
    counted_ += passed(last_, limit);
  }
  /// From cycle `stop` + 1 on none passes.
  void cut(std::uint64_t stop, std::uint64_t limit) {
    for (Span *span : {&before_, &last_}) {
      counted_ -= passed(*span, limit);
      span->end = std::max(span->first, std::min(span->end, stop + 1));
      counted_ += passed(*span, limit);
    }
  }
  /// One past the cycle of the last one; 0 if there was none.
  std::uint64_t end() const { return last_.end > last_.first ? last_.end : before_.end; }
  /// The same of all but the newest run's.
  std::uint64_t end_before() const { return before_.end; }
  std::uint64_t counted() const { return counted_; }

private:
  struct Span {
    std::uint64_t first = 0, end = 0;
  };
  static std::uint64_t passed(const Span &s, std::uint64_t limit) { return cycles_to(limit, s.first, s.end); }
  Span before_, last_;
  std::uint64_t counted_ = 0;
};

class ProgramClock {
public:
  explicit ProgramClock(std::uint64_t limit) : limit_(limit) {}

  void run(const RunWalk &at) {
    const Section &s = at.section();
    const std::uint64_t begin = begin_run(at);
    next_ = begin + kTurns * s.length();
    issue(s, begin, s.length());
    if (s.reads()) read_ends_ = {read_ends_[1], next_};
    if (s.outputs != 0)
      written_.add(next_ - 1 + latency::kVectorRunToDrain, std::uint64_t{s.outputs} * at.group(), limit_);
  }

  /// The run's instruction `index` is faulty; it need not wait for the run's lines to be found so.
  void fail(RunWalk at, std::uint32_t index) {
    std::uint64_t stop = next_;
    if (index != 0) {
      const std::uint64_t begin = begin_run(at);
      issue(at.section(), begin, index);
      stop = begin + kTurns * index;
      if (at.section().reads()) read_ends_ = {read_ends_[1], kNever};
      at.next();
    }
    for (; at.valid() && read_ends_[0] <= stop; at.next()) { // lines of runs that do not come
      if (!at.section().reads()) continue;
      ask(at);
      read_ends_ = {read_ends_[1], kNever};
    }
    asked_.cut(stop, limit_);
    written_.cut(stop, limit_);
    next_ = stop + 1;
  }

  VectorTimes times() const {
    VectorTimes t;
    t.done = std::max({next_ - 1 + latency::kVectorEndToDone, idle_, asked_.end() + latency::kVectorAskToLine,
                       written_.end() + latency::kVectorWriteToDone});
    t.active = active_;
    t.stalled = stalled_;
    t.lines_read = asked_.counted();
    t.lines_written = written_.counted();
    return t;
  }

private:
  void ask(const RunWalk &at) {
    asked_.add(std::max<std::uint64_t>(read_ends_[0], latency::kVectorStartToRun), at.section().lines_read(at.group()),
               limit_);
  }

  /// Lines are asked for when the reading run before the one before has ended. The run begins when the last of them is
  /// there, the run before has ended, and of the writing runs before all but one have no results left.
  std::uint64_t begin_run(const RunWalk &at) {
    std::uint64_t begin = next_;
    if (at.section().reads()) {
      ask(at);
      begin = std::max(begin, asked_.end() + latency::kVectorAskToLine);
    }
    if (at.section().outputs != 0) begin = std::max(begin, written_.end_before());
    stalled_ += cycles_to(limit_, next_, begin);
    return begin;
  }

  /// Turns of the first `count` instructions.
  void issue(const Section &s, std::uint64_t begin, std::uint32_t count) {
    active_ += cycles_to(limit_, begin, begin + kTurns * count);
    for (std::uint32_t i = count; i-- > 0;)
      if (s.issued[i]) {
        idle_ = begin + kTurns * (i + 1) - 1 + latency::kVectorIssueToIdle;
        break;
      }
  }

  std::uint64_t limit_;
  std::uint64_t next_ = latency::kVectorStartToRun; ///< first cycle of the next run, if nothing is in its way
  std::array<std::uint64_t, 2> read_ends_{};        ///< first cycles behind the last two runs that read
  Lines asked_, written_;
  std::uint64_t idle_ = 0; ///< first cycle in which the lanes have nothing
  std::uint64_t active_ = 0, stalled_ = 0;
};

} // namespace

VectorSections::VectorSections(const isa::vector::Words &words, const std::optional<isa::vector::Fault> &broken,
                               unsigned same) {
  no_program = broken && broken->index < 2;
  if (no_program) return;
  std::size_t at = 2;
  for (std::uint32_t s = 0; s < kSections; ++s) {
    const auto length = static_cast<std::uint32_t>(words[0] >> (8 + s * isa::vector::kSectionBits)) &
                        ((1U << isa::vector::kSectionBits) - 1);
    const auto mask = static_cast<unsigned>(words[1] >> (s * (kTiles + kOutputs)));
    const unsigned read = mask & ((1U << kTiles) - 1);
    sections[s].tiles = ones(read & ~same);
    sections[s].shared = ones(read & same);
    sections[s].outputs = ones(mask >> kTiles & ((1U << kOutputs) - 1));
    for (std::uint32_t i = 0; i < length; ++i, ++at) {
      sections[s].issued.push_back((words[at] & 31U) != static_cast<std::uint64_t>(isa::vector::Op::SET));
      if (broken && broken->index == at) fault = Place{s, i};
    }
  }
}

VectorTimes time_program(const VectorSections &program, std::uint32_t strips_at_once, std::uint32_t strips,
                         std::uint32_t steps, std::uint64_t limit) {
  ProgramClock clock(limit);
  if (program.no_program) {
    VectorTimes t;
    t.done = latency::kVectorStartToRun - 1 + latency::kVectorEndToDone;
    return t;
  }
  for (RunWalk at(program, latency::kVectorTurns * strips_at_once, strips, steps); at.valid(); at.next()) {
    if (program.fault && program.fault->section == at.number()) {
      clock.fail(at, program.fault->instruction);
      break;
    }
    clock.run(at);
  }
  return clock.times();
}

} // namespace gradweave::timing
