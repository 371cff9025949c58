#include "isa/vector/program.hpp"

#include "isa_defs.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace gradweave::isa::vector {
namespace {

static_assert(kOperandSlots == kTiles && kSlots == kTiles + kOutputs, "as commands have them");

constexpr unsigned kLengthLsb = 8;
constexpr unsigned kMaskBits = kTiles + kOutputs;

std::uint64_t get(std::uint64_t word, const Field &f) { return word >> f.lsb & ((std::uint64_t{1} << f.width) - 1); }
std::uint64_t put(std::uint64_t value, const Field &f) {
  return (value & ((std::uint64_t{1} << f.width) - 1)) << f.lsb;
}

constexpr std::array<std::array<Field, 3>, 3> kOperandFields{{{field::A, field::A_NEG, field::A_ABS},
                                                              {field::B, field::B_NEG, field::B_ABS},
                                                              {field::C, field::C_NEG, field::C_ABS}}};

/// Operations by number: they are asked for at each instruction of all programs that a compiler tries.
struct OpTable {
  static constexpr std::size_t kNumbers = std::numeric_limits<std::uint8_t>::max() + 1;
  std::array<const OpInfo *, kNumbers> ops{};
  std::array<std::uint8_t, kNumbers> operands{};
};

constexpr OpTable op_table() {
  OpTable table;
  for (const OpInfo &o : kOps) {
    const auto number = static_cast<std::uint8_t>(o.op);
    table.ops[number] = &o;
    for (const char c : o.reads)
      table.operands[number] += c == '#' ? 0 : 1;
  }
  return table;
}

constexpr OpTable kOpTable = op_table();

} // namespace

const OpInfo *find_op(std::uint8_t value) { return kOpTable.ops[value]; }

const OpInfo &info(Op op) { return *find_op(static_cast<std::uint8_t>(op)); }

unsigned operand_count(const OpInfo &op) { return kOpTable.operands[static_cast<std::uint8_t>(op.op)]; }

std::uint64_t encode(const Instruction &i) {
  std::uint64_t word = put(static_cast<std::uint64_t>(i.op), field::OP) | put(i.d, field::D);
  for (unsigned n = 0; n < operand_count(info(i.op)); ++n)
    word |= put(i.operands[n].code, kOperandFields[n][0]) | put(i.operands[n].neg ? 1 : 0, kOperandFields[n][1]) |
            put(i.operands[n].abs ? 1 : 0, kOperandFields[n][2]);
  return word | put(i.constant, field::CONSTANT);
}

Instruction decode(std::uint64_t word) {
  Instruction i;
  i.op = static_cast<Op>(get(word, field::OP));
  i.d = static_cast<std::uint8_t>(get(word, field::D));
  for (unsigned n = 0; n < operand_count(info(i.op)); ++n)
    i.operands[n] = {static_cast<std::uint8_t>(get(word, kOperandFields[n][0])), get(word, kOperandFields[n][1]) != 0,
                     get(word, kOperandFields[n][2]) != 0};
  i.constant = static_cast<std::uint32_t>(get(word, field::CONSTANT));
  return i;
}

Mask mask_of(const std::vector<Instruction> &section) {
  unsigned mask = 0;
  for (const Instruction &i : section) {
    for (unsigned n = 0; n < operand_count(info(i.op)); ++n)
      if (i.operands[n].code >= kTileCode && i.operands[n].code < kScalarCode)
        mask |= 1U << (i.operands[n].code - kTileCode);
    if (i.op != Op::SET && i.d >= kOutputCode) mask |= 1U << (kTiles + i.d - kOutputCode);
  }
  return static_cast<Mask>(mask);
}

Words encode(const Program &program) {
  Words words{static_cast<std::uint64_t>(Op::PROGRAM), 0};
  for (unsigned s = 0; s < kSections; ++s) {
    const auto &section = program.sections[s];
    if (section.size() >= 1U << kSectionBits)
      throw std::length_error("section " + std::to_string(s) + " has " + std::to_string(section.size()) +
                              " instructions; a section has at most " + std::to_string((1U << kSectionBits) - 1));
    words[0] |= std::uint64_t{section.size()} << (kLengthLsb + s * kSectionBits);
    words[1] |= std::uint64_t{mask_of(section)} << (s * kMaskBits);
    for (const Instruction &i : section)
      words.push_back(encode(i));
  }
  return words;
}

namespace {

/// Sections as the first two words tell them.
struct Header {
  std::array<std::uint32_t, kSections> lengths{};
  std::array<Mask, kSections> masks{};
  std::uint32_t total = 2;
};

Header read_header(const Words &words) {
  Header h;
  for (unsigned s = 0; s < kSections; ++s) {
    h.lengths[s] = static_cast<std::uint32_t>(words[0] >> (kLengthLsb + s * kSectionBits)) & ((1U << kSectionBits) - 1);
    if (words.size() > 1) h.masks[s] = static_cast<Mask>(words[1] >> (s * kMaskBits) & ((1U << kMaskBits) - 1));
    h.total += h.lengths[s];
  }
  return h;
}

/// Runs over the instructions in order and remembers what was written.
class Checker {
public:
  Checker(const Words &words, const Header &header) : words_(words), header_(header) {}

  std::optional<Fault> run() {
    for (unsigned s = 0; s < kSections; ++s) {
      used_ = 0;
      for (std::uint32_t n = 0; n < header_.lengths[s]; ++n, ++index_)
        if (auto fault = instruction(header_.masks[s])) return fault;
      if (used_ != header_.masks[s])
        return Fault{FaultCode::MASK, index_ - 1,
                     "the mask of section " + std::to_string(s) + " has tiles or results that it does not use"};
    }
    return std::nullopt;
  }

private:
  Fault fault(FaultCode code, const std::string &text) const {
    const OpInfo *op = find_op(static_cast<std::uint8_t>(get(words_[index_], field::OP)));
    const std::string name = op == nullptr ? "" : " (" + std::string(op->name) + ")";
    return {code, index_, "word " + std::to_string(index_) + name + ": " + text};
  }

  std::optional<Fault> instruction(Mask mask) {
    const std::uint64_t word = words_[index_];
    const OpInfo *op = find_op(static_cast<std::uint8_t>(get(word, field::OP)));
    if (op == nullptr || op->to.empty())
      return fault(FaultCode::OPCODE, "no operation has the number " + std::to_string(get(word, field::OP)) +
                                          "; use one of docs/vector-isa.md");
    const Instruction i = decode(word);
    const auto *const end = i.operands.begin() + operand_count(*op);
    const bool constant =
        std::any_of(i.operands.begin(), end, [](const Operand &o) { return o.code == kConstantCode; });
    const bool number = op->reads.find('#') != std::string_view::npos;
    if ((word & ~op->used) != 0 || (!constant && !number && i.constant != 0))
      return fault(FaultCode::UNUSED, "a bit is set that the operation does not use; clear it");
    if (!may_write(*op, i.d)) return fault(FaultCode::RESULT, "it cannot write code " + std::to_string(i.d));
    if (number && i.constant > op->most)
      return fault(FaultCode::NUMBER,
                   "its number is " + std::to_string(i.constant) + "; the most is " + std::to_string(op->most));
    const Mask uses = mask_of({i});
    if ((uses & ~mask) != 0) return fault(FaultCode::MASK, "the section's mask lacks a tile or result that it uses");
    used_ |= uses;
    for (const auto *o = i.operands.begin(); o != end; ++o)
      if (!known(o->code))
        return fault(FaultCode::UNWRITTEN, "it reads code " + std::to_string(o->code) + ", which nothing wrote");
    if (op->to == "s" || i.d < kRegisters) written_ |= std::uint64_t{1} << i.d;
    return std::nullopt;
  }

  static bool may_write(const OpInfo &op, unsigned d) {
    if (op.to == "s") return d >= kScalarCode && d < kScalarCode + kScalars;
    return d < kOutputCode + kOutputs;
  }

  /// Tiles and the constant are there at any time.
  bool known(unsigned code) const {
    const bool state = code < kRegisters || (code >= kScalarCode && code < kScalarCode + kScalars);
    return !state || (written_ >> code & 1U) != 0;
  }

  const Words &words_;
  const Header &header_;
  std::uint32_t index_ = 2;
  std::uint64_t written_ = 0; ///< by code
  unsigned used_ = 0;
};

} // namespace

std::optional<Fault> check(const Words &words, std::size_t memory_words) {
  const auto header_fault = [](const char *text) {
    return Fault{FaultCode::HEADER, 0, std::string("word 0: ") + text};
  };
  if (words.empty() || (words[0] & 0xFFU) != static_cast<std::uint64_t>(Op::PROGRAM))
    return header_fault("a program begins with PROGRAM, bits 7:5 zero");
  const Header header = read_header(words);
  if (header.total == 2) return header_fault("the program has no instruction");
  if (header.total > words.size() || header.total > memory_words)
    return Fault{FaultCode::LENGTH, 0,
                 "word 0 (PROGRAM): the sections need " + std::to_string(header.total) + " words; there are " +
                     std::to_string(words.size()) + ", and the memory has " + std::to_string(memory_words)};
  if (words[1] >> (kSections * kMaskBits) != 0)
    return Fault{FaultCode::HEADER, 1, "word 1: bits above the masks are set; clear them"};
  for (unsigned s = 0; s < kSections; ++s)
    if (header.lengths[s] == 0 && header.masks[s] != 0)
      return Fault{FaultCode::MASK, 1, "word 1: the empty section " + std::to_string(s) + " has a mask; clear it"};
  return Checker(words, header).run();
}

Program decode(const Words &words) {
  const Header header = read_header(words);
  Program program;
  std::size_t at = 2;
  for (unsigned s = 0; s < kSections; ++s)
    for (std::uint32_t n = 0; n < header.lengths[s]; ++n)
      program.sections[s].push_back(decode(words[at++]));
  return program;
}

} // namespace gradweave::isa::vector
