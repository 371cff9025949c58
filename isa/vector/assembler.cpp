// Reads and writes the text form of programs.
#include "isa/vector/assembler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace gradweave::isa::vector {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char &c : result)
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return result;
}

/// Words of a line, at spaces and commas.
std::vector<std::string_view> split_line(std::string_view line) {
  line = line.substr(0, line.find('#'));
  constexpr std::string_view kSpace = " \t\r,";
  std::vector<std::string_view> parts;
  for (std::size_t at = line.find_first_not_of(kSpace); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kSpace, at), line.size());
    parts.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kSpace, end);
  }
  return parts;
}

class Reader {
public:
  explicit Reader(std::string_view name) : name_(name) {}

  Words read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      ++line_;
      if (const auto parts = split_line(text.substr(0, end)); !parts.empty()) read_line(parts);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (!raw_.empty()) return raw_;
    try {
      return encode(program_);
    } catch (const std::length_error &error) {
      fail(error.what());
    }
  }

private:
  [[noreturn]] void fail(const std::string &problem) const {
    throw AssemblyError(fmt::format("{}:{}: {}", name_, line_, problem));
  }

  void read_line(const std::vector<std::string_view> &parts) {
    if (parts[0] == ".word") return read_word(parts);
    if (!raw_.empty()) fail("an instruction among .word lines; write all words, or none, as .word");
    typed_ = true;
    if (parts[0] == "once" || parts[0] == "loop") {
      if (parts.size() > 1) fail(fmt::format("'{}' behind {}; it takes no operand", parts[1], parts[0]));
      return next_section(parts[0] == "loop");
    }
    read_instruction(parts);
  }

  void read_word(const std::vector<std::string_view> &parts) {
    if (typed_) fail(".word among instructions; write all words, or none, as .word");
    if (parts.size() != 2) fail(".word takes one number of 64 bits");
    std::uint64_t word = 0;
    if (!hexadecimal(parts[1], word)) fail(fmt::format("'{}' is no 0x number of at most 64 bits", parts[1]));
    raw_.push_back(word);
  }

  void next_section(bool loop) {
    unsigned next = section_;
    if (begun_ || (next % 2 == 1) != loop) ++next;
    if ((next % 2 == 1) != loop) ++next;
    if (next >= kSections) fail(fmt::format("more than {} sections; join some", kSections));
    section_ = next;
    begun_ = true;
  }

  void read_instruction(const std::vector<std::string_view> &parts) {
    const auto *const op = std::find_if(kOps.begin(), kOps.end(),
                                        [&](const OpInfo &o) { return !o.to.empty() && lower(o.name) == parts[0]; });
    if (op == kOps.end()) fail(fmt::format("'{}' is no operation; docs/vector-isa.md lists them", parts[0]));
    if (parts.size() != 2 + op->reads.size())
      fail(
          fmt::format("{} takes a result and {} operands; there are {}", parts[0], op->reads.size(), parts.size() - 1));
    Instruction i;
    i.op = op->op;
    i.d = result(*op, parts[1]);
    constant_ = nullptr;
    i_ = &i;
    unsigned operand = 0;
    for (std::size_t n = 0; n < op->reads.size(); ++n) {
      if (op->reads[n] == '#')
        set_constant(parts[2 + n]);
      else
        i.operands[operand++] = read_operand(parts[2 + n]);
    }
    begun_ = true;
    program_.sections[section_].push_back(i);
  }

  /// A letter and a number below `count`; false if it is none.
  static bool named(std::string_view text, char letter, unsigned &number) {
    if (text.size() < 2 || text[0] != letter) return false;
    const auto r = std::from_chars(text.data() + 1, text.data() + text.size(), number);
    return r.ec == std::errc{} && r.ptr == text.data() + text.size();
  }

  std::uint8_t numbered(std::string_view text, unsigned number, unsigned count, unsigned first) const {
    if (number >= count) fail(fmt::format("there is no {}; {}0 to {}{} are", text, text[0], text[0], count - 1));
    return static_cast<std::uint8_t>(first + number);
  }

  std::uint8_t result(const OpInfo &op, std::string_view text) const {
    unsigned number = 0;
    if (op.to == "s") {
      if (named(text, 's', number)) return numbered(text, number, kScalars, kScalarCode);
      fail(fmt::format("'{}' is no scalar; the result of {} is one: s0 to s{}", text, lower(op.name), kScalars - 1));
    }
    if (named(text, 'r', number)) return numbered(text, number, kRegisters, 0);
    if (named(text, 'o', number)) return numbered(text, number, kOutputs, kOutputCode);
    fail(fmt::format("'{}' cannot be written; a result is r0 to r{} or o0 to o{}", text, kRegisters - 1, kOutputs - 1));
  }

  Operand read_operand(std::string_view text) {
    const std::string_view whole = text;
    Operand o;
    const bool bits = text.substr(0, 3) == "-0x"; // the sign of a number is part of it, that of bits is the operand's
    const bool negative = text.size() > 1 && text[0] == '-' && (bits || text[1] < '0' || text[1] > '9');
    if (negative) text.remove_prefix(1);
    if (text.size() > 2 && text.front() == '|' && text.back() == '|') {
      o.abs = true;
      text = text.substr(1, text.size() - 2);
    }
    o.neg = negative;
    unsigned number = 0;
    if (named(text, 'r', number))
      o.code = numbered(text, number, kRegisters, 0);
    else if (named(text, 't', number))
      o.code = numbered(text, number, kTiles, kTileCode);
    else if (named(text, 's', number))
      o.code = numbered(text, number, kScalars, kScalarCode);
    else if (text.empty() || (text[0] != '-' && (text[0] < '0' || text[0] > '9')))
      fail(fmt::format("'{}' is no operand; use r, t or s and a number, or a constant", whole));
    else {
      o.code = kConstantCode;
      set_constant(text);
    }
    return o;
  }

  void set_constant(std::string_view text) {
    const std::uint32_t value = number(text);
    if (constant_ != nullptr && value != i_->constant)
      fail(fmt::format("'{}' is a second constant; an instruction has one: set a scalar to the other", text));
    i_->constant = value;
    constant_ = &i_->constant;
  }

  std::uint32_t number(std::string_view text) const {
    std::uint64_t bits = 0;
    if (hexadecimal(text, bits)) {
      if (bits > 0xFFFFFFFFU) fail(fmt::format("'{}' has more than 32 bits", text));
      return static_cast<std::uint32_t>(bits);
    }
    const char *const end = text.data() + text.size();
    if (text.find_first_of(".eE") != std::string_view::npos) {
      float value = 0;
      const auto r = std::from_chars(text.data(), end, value);
      if (r.ec != std::errc{} || r.ptr != end) fail(fmt::format("'{}' is no fp32 number", text));
      std::uint32_t result = 0;
      std::memcpy(&result, &value, sizeof result);
      return result;
    }
    std::int64_t value = 0;
    const auto r = std::from_chars(text.data(), end, value);
    if (r.ec != std::errc{} || r.ptr != end || value > 0xFFFFFFFFLL || value < -0x80000000LL)
      fail(fmt::format("'{}' is no number of 32 bits; write 0x and bits, an integer, or a number with a point", text));
    return static_cast<std::uint32_t>(value);
  }

  static bool hexadecimal(std::string_view text, std::uint64_t &value) {
    if (text.size() < 3 || text[0] != '0' || (text[1] != 'x' && text[1] != 'X')) return false;
    const auto r = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    return r.ec == std::errc{} && r.ptr == text.data() + text.size();
  }

  std::string_view name_;
  std::size_t line_ = 0;
  Program program_;
  Words raw_;
  unsigned section_ = 0;
  bool begun_ = false, typed_ = false;
  const std::uint32_t *constant_ = nullptr; ///< of the line being read, once there is one
  Instruction *i_ = nullptr;
};

std::string operand_text(const Operand &o, std::uint32_t constant) {
  std::string text = o.code < kTileCode       ? fmt::format("r{}", o.code)
                     : o.code < kScalarCode   ? fmt::format("t{}", o.code - kTileCode)
                     : o.code < kConstantCode ? fmt::format("s{}", o.code - kScalarCode)
                                              : fmt::format("0x{:08X}", constant);
  if (o.abs) text = "|" + text + "|";
  return o.neg ? "-" + text : text;
}

std::string instruction_text(const Instruction &i) {
  const OpInfo &op = info(i.op);
  std::string text = fmt::format("  {} {}", lower(op.name),
                                 op.to == "s"        ? fmt::format("s{}", i.d - kScalarCode)
                                 : i.d < kOutputCode ? fmt::format("r{}", i.d)
                                                     : fmt::format("o{}", i.d - kOutputCode));
  for (unsigned n = 0; n < operand_count(op); ++n)
    text += ", " + operand_text(i.operands[n], i.constant);
  if (op.reads.find('#') != std::string_view::npos)
    text += op.op == Op::SET ? fmt::format(", 0x{:08X}", i.constant) : fmt::format(", {}", i.constant);
  return text + "\n";
}

} // namespace

Words assemble(std::string_view text, std::string_view name) { return Reader(name).read(text); }

std::string disassemble(const Words &words) {
  std::string text;
  if (check(words) || encode(decode(words)) != words) {
    for (const std::uint64_t word : words)
      text += fmt::format(".word 0x{:016X}\n", word);
    return text;
  }
  const Program program = decode(words);
  std::size_t written = 2;
  for (unsigned s = 0; s < kSections; ++s) {
    text += s % 2 == 1 ? "loop\n" : "once\n";
    for (const Instruction &i : program.sections[s])
      text += instruction_text(i);
    written += program.sections[s].size();
    if (written == words.size()) break;
  }
  return text;
}

} // namespace gradweave::isa::vector
