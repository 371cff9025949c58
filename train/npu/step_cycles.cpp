#include "train/npu/step_cycles.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace gradweave::runtime::train {
namespace {

using Span = std::pair<std::uint64_t, std::uint64_t>; ///< first cycle, one past the last
using Spans = std::vector<Span>;

/// Ascending, none of which meet.
Spans merged(Spans spans) {
  std::sort(spans.begin(), spans.end());
  Spans result;
  for (const Span &span : spans)
    if (!result.empty() && span.first <= result.back().second)
      result.back().second = std::max(result.back().second, span.second);
    else
      result.push_back(span);
  return result;
}

std::uint64_t length_of(const Spans &spans) {
  std::uint64_t sum = 0;
  for (const Span &span : spans)
    sum += span.second - span.first;
  return sum;
}

enum class Kind { kArray, kMemory, kVector, kNone };

Kind kind_of(const isa::Command &command) {
  switch (static_cast<isa::Opcode>(command.get(isa::field::OPCODE))) {
  case isa::Opcode::LOAD:
  case isa::Opcode::STORE:
    return Kind::kMemory;
  case isa::Opcode::GEMM:
  case isa::Opcode::ADD:
  case isa::Opcode::CONV:
  case isa::Opcode::WGRAD:
    return Kind::kArray;
  case isa::Opcode::VECTOR:
    return Kind::kVector;
  default:
    return Kind::kNone;
  }
}

void count_bytes(const isa::Command &command, OperatorCycles &sum) {
  if (kind_of(command) != Kind::kMemory) return;
  const std::optional<isa::Decoded> decoded = isa::decode(command);
  const auto &dma = std::get<isa::DmaCommand>(decoded->op);
  (dma.store ? sum.write_bytes : sum.read_bytes) += std::uint64_t{dma.rows} * dma.cols * (dma.fp32 ? sizeof(float) : 2);
}

std::vector<OperatorCycles> by_operator(const StepStream &stream, const std::vector<timing::CommandTimes> &times,
                                        std::uint64_t cycles) {
  std::map<std::string, OperatorCycles> sums;
  std::uint64_t ended = 0;
  for (const StepSection &section : stream.sections) {
    OperatorCycles &sum = sums[section.what];
    sum.what = section.what;
    ++sum.sections;
    sum.commands += section.count;
    std::uint64_t end = ended;
    for (std::size_t i = section.first; i < section.first + section.count; ++i) {
      end = std::max(end, times[i].done + 1);
      count_bytes(stream.commands[i], sum);
    }
    if (&section == &stream.sections.back()) end = std::max(end, cycles);
    sum.cycles += end - ended;
    ended = end;
  }
  std::vector<OperatorCycles> all;
  for (auto &[what, sum] : sums)
    all.push_back(std::move(sum));
  std::sort(all.begin(), all.end(), [](const OperatorCycles &a, const OperatorCycles &b) {
    return a.cycles != b.cycles ? a.cycles > b.cycles : a.what < b.what;
  });
  return all;
}

} // namespace

StepCycles count_cycles(const StepStream &stream, const std::vector<timing::CommandTimes> &times,
                        std::uint64_t cycles) {
  StepCycles result;
  result.operators = by_operator(stream, times, cycles);
  std::array<Spans, 4> spans;
  for (std::size_t i = 0; i < times.size(); ++i)
    spans[static_cast<std::size_t>(kind_of(stream.commands[i]))].emplace_back(times[i].start, times[i].done + 1);
  const auto of = [&spans](Kind kind) -> Spans & { return spans[static_cast<std::size_t>(kind)]; };
  result.array = length_of(merged(of(Kind::kArray)));
  result.memory = length_of(merged(of(Kind::kMemory)));
  result.vector = length_of(merged(of(Kind::kVector)));
  Spans others = of(Kind::kArray);
  others.insert(others.end(), of(Kind::kMemory).begin(), of(Kind::kMemory).end());
  const std::uint64_t without = length_of(merged(others));
  others.insert(others.end(), of(Kind::kVector).begin(), of(Kind::kVector).end());
  result.vector_alone = length_of(merged(others)) - without;
  return result;
}

} // namespace gradweave::runtime::train
