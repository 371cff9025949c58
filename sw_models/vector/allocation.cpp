#include "sw_models/vector/allocation.hpp"

#include <algorithm>
#include <set>

namespace gradweave::vector {

using isa::vector::Instruction;
using isa::vector::kRegisters;
using isa::vector::kScalars;
using isa::vector::kSectionBits;
using isa::vector::kSections;
using isa::vector::Op;
using isa::vector::Operand;
using isa::vector::Program;

namespace {
constexpr unsigned kNoRegister = ~0U;

/// The amount of a shift and the number of an INDEX are the instruction's constant.
bool has_number(Op op) { return isa::vector::info(op).reads.find('#') != std::string_view::npos; }
} // namespace

Allocation::Allocation(const Recording &recording) : nodes_(recording.operations), lives_(recording.results) {}

Program Allocation::program() {
  drop_dead();
  choose_scalars();
  find_lives();
  registers_.assign(lives_.size(), kNoRegister);
  Program program;
  for (const auto &[bits, scalar] : scalars_) {
    Instruction set;
    set.op = Op::SET;
    set.d = isa::vector::scalar(scalar).code;
    set.constant = bits;
    program.sections[0].push_back(set);
  }
  for (std::size_t at = 0; at < nodes_.size(); ++at)
    program.sections[nodes_[at].section].push_back(instruction(nodes_[at], at));
  for (const auto &section : program.sections)
    if (section.size() >= 1U << kSectionBits)
      throw RecordingError("a section has " + std::to_string(section.size()) + " instructions; at most " +
                           std::to_string((1U << kSectionBits) - 1) + " fit");
  return program;
}

/// Backwards, so that what only dead operations read is dead, too. A variable's value may be read in the next step:
/// whatever any operation reads is alive.
void Allocation::drop_dead() {
  std::vector<unsigned> givers(lives_.size());
  for (const Node &n : nodes_)
    if (!n.output) ++givers[n.result];
  std::vector<bool> read(lives_.size());
  for (const Node &n : nodes_)
    for (const Value &v : n.operands)
      if (v.kind == Value::Kind::kResult && givers[v.number] > 1) read[v.number] = true;
  std::vector<Node> kept;
  for (auto n = nodes_.rbegin(); n != nodes_.rend(); ++n) {
    if (!n->output && !read[n->result]) continue;
    for (const Value &v : n->operands)
      if (v.kind == Value::Kind::kResult) read[v.number] = true;
    kept.push_back(*n);
  }
  nodes_.assign(kept.rbegin(), kept.rend());
}

std::vector<std::uint32_t> Allocation::loose_constants(const Node &node) const {
  std::set<std::uint32_t> found;
  for (const Value &v : node.operands)
    if (v.kind == Value::Kind::kConstant && scalars_.count(v.number) == 0) found.insert(v.number);
  return {found.begin(), found.end()};
}

/// An instruction has room for one constant. Where there are more, the one that most instructions with this problem
/// have becomes a scalar, until none has it.
void Allocation::choose_scalars() {
  for (;;) {
    std::map<std::uint32_t, unsigned> wanted;
    for (const Node &n : nodes_) {
      const auto loose = loose_constants(n);
      if (loose.size() > (has_number(n.op) ? 0U : 1U))
        for (const std::uint32_t bits : loose)
          ++wanted[bits];
    }
    if (wanted.empty()) break;
    const auto most = std::max_element(wanted.begin(), wanted.end(),
                                       [](const auto &a, const auto &b) { return a.second < b.second; });
    if (scalars_.size() == kScalars)
      throw RecordingError("the program needs more than " + std::to_string(kScalars) + " scalars");
    scalars_[most->first] = 0;
  }
  unsigned next = 0;
  for (auto &[bits, scalar] : scalars_)
    scalar = next++;
}

void Allocation::find_lives() {
  std::array<std::size_t, kSections> begin{}, end{}; // of sections, in operations
  begin.fill(kNever);
  for (std::size_t at = 0; at < nodes_.size(); ++at) {
    begin[nodes_[at].section] = std::min(begin[nodes_[at].section], at);
    end[nodes_[at].section] = at;
  }
  const auto touch = [&](std::uint32_t result, std::size_t at) {
    Life &life = lives_[result];
    life.first = std::min(life.first, at);
    const unsigned section = nodes_[at].section;
    const bool older = section % 2 == 1 && life.first < begin[section];
    life.last = std::max(life.last, older ? end[section] : at);
  };
  for (std::size_t at = 0; at < nodes_.size(); ++at) {
    for (const Value &v : nodes_[at].operands)
      if (v.kind == Value::Kind::kResult) touch(v.number, at);
    if (!nodes_[at].output) touch(nodes_[at].result, at);
  }
}

unsigned Allocation::take_register(std::uint32_t result, std::size_t at) {
  if (registers_[result] != kNoRegister) return registers_[result]; // a variable
  for (unsigned r = 0; r < kRegisters; ++r) {
    if (in_[r] && lives_[*in_[r]].last > at) continue;
    in_[r] = result;
    registers_[result] = r;
    return r;
  }
  throw RecordingError("operation " + std::to_string(at) + " needs more than " + std::to_string(kRegisters) +
                       " registers");
}

Operand Allocation::operand(const Value &v, Instruction &in) const {
  if (v.kind == Value::Kind::kTile) return {isa::vector::tile(v.number).code, v.neg, v.abs};
  if (v.kind == Value::Kind::kResult) {
    if (registers_[v.number] == kNoRegister) throw RecordingError("a value is read that no operation gave");
    return {static_cast<std::uint8_t>(registers_[v.number]), v.neg, v.abs};
  }
  if (const auto scalar = scalars_.find(v.number); scalar != scalars_.end()) return isa::vector::scalar(scalar->second);
  in.constant = v.number;
  return isa::vector::constant();
}

/// Operands first: a result may have the register of an operand that is read here for the last time.
Instruction Allocation::instruction(const Node &node, std::size_t at) {
  Instruction in;
  in.op = node.op;
  in.constant = node.number;
  for (std::size_t n = 0; n < node.operands.size(); ++n)
    in.operands[n] = operand(node.operands[n], in);
  in.d =
      static_cast<std::uint8_t>(node.output ? isa::vector::kOutputCode + *node.output : take_register(node.result, at));
  return in;
}

} // namespace gradweave::vector
