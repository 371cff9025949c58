// Each instruction is a loop over lanes, in blocks, and the compiler's vectors; this file is compiled with
// -O3 -march=native like the golden products.
#include "sw_models/vector/interpreter.hpp"

#include "sw_models/functions/fp32.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace gradweave::vector {
namespace {

using functions::Fp32;
using isa::vector::Instruction;
using isa::vector::kConstantCode;
using isa::vector::kOutputCode;
using isa::vector::kOutputs;
using isa::vector::kScalarCode;
using isa::vector::kScalars;
using isa::vector::kSections;
using isa::vector::kTileCode;
using isa::vector::kTiles;
using isa::vector::Op;
using isa::vector::Operand;

constexpr std::uint32_t kBlock = 64;
using Block = std::array<std::uint32_t, kBlock>;
using Line = std::vector<std::uint32_t>;

template <typename F> void each(Block &d, const Block &a, F f) {
  for (std::uint32_t i = 0; i < kBlock; ++i)
    d[i] = f(a[i]);
}
template <typename F> void each(Block &d, const Block &a, const Block &b, F f) {
  for (std::uint32_t i = 0; i < kBlock; ++i)
    d[i] = f(a[i], b[i]);
}
template <typename F> void each(Block &d, const Block &a, const Block &b, const Block &c, F f) {
  for (std::uint32_t i = 0; i < kBlock; ++i)
    d[i] = f(a[i], b[i], c[i]);
}

using Word = std::uint32_t;

void compute_fp32(Op op, Block &d, const Block &a, const Block &b, const Block &c) {
  switch (op) {
  case Op::FMA:
    return each(d, a, b, c, [](Word x, Word y, Word z) { return Fp32::fma(x, y, z); });
  case Op::ADD:
    return each(d, a, b, [](Word x, Word y) { return Fp32::add(x, y); });
  case Op::MUL:
    return each(d, a, b, [](Word x, Word y) { return Fp32::mul(x, y); });
  case Op::MIN:
    return each(d, a, b, [](Word x, Word y) { return Fp32::min(x, y); });
  case Op::MAX:
    return each(d, a, b, [](Word x, Word y) { return Fp32::max(x, y); });
  case Op::LT:
    return each(d, a, b, [](Word x, Word y) { return Fp32::lt(x, y); });
  case Op::LE:
    return each(d, a, b, [](Word x, Word y) { return Fp32::le(x, y); });
  case Op::EQ:
    return each(d, a, b, [](Word x, Word y) { return Fp32::eq(x, y); });
  default:
    return each(d, a, [](Word x) { return Fp32::to_bf16(x); });
  }
}

void compute_bits(Op op, Block &d, const Block &a, const Block &b, const Block &c, Word by) {
  switch (op) {
  case Op::SELECT:
    return each(d, a, b, c, [](Word x, Word y, Word z) { return Fp32::select(x, y, z); });
  case Op::IADD:
    return each(d, a, b, [](Word x, Word y) { return Fp32::iadd(x, y); });
  case Op::ISUB:
    return each(d, a, b, [](Word x, Word y) { return Fp32::isub(x, y); });
  case Op::AND:
    return each(d, a, b, [](Word x, Word y) { return Fp32::band(x, y); });
  case Op::OR:
    return each(d, a, b, [](Word x, Word y) { return Fp32::bor(x, y); });
  case Op::XOR:
    return each(d, a, b, [](Word x, Word y) { return Fp32::bxor(x, y); });
  case Op::SHL:
    return each(d, a, [by](Word x) { return Fp32::shl(x, by); });
  case Op::SHR:
    return each(d, a, [by](Word x) { return Fp32::shr(x, by); });
  default:
    return each(d, a, [by](Word x) { return Fp32::sra(x, by); });
  }
}

bool is_fp32(Op op) { return (op >= Op::FMA && op <= Op::EQ) || op == Op::TO_BF16; }

/// The state of one strip's lanes.
class Strip {
public:
  Strip(const Execution &execution, std::uint32_t strip)
      : x_(execution), strip_(strip), size_((execution.lanes + kBlock - 1) / kBlock * kBlock) {
    for (Line &line : lines_)
      line.resize(size_);
    for (Line &line : outputs_)
      line.resize(size_);
  }

  void run_section(const std::vector<Instruction> &section, unsigned s, std::uint32_t step) {
    step_ = step;
    const unsigned mask = isa::vector::mask_of(section);
    for (unsigned t = 0; t < kTiles; ++t)
      if ((mask >> t & 1U) != 0) x_.read({t, s, strip_, step_}, lines_[kTileCode + t].data());
    for (const Instruction &i : section)
      execute(i);
    for (unsigned o = 0; o < kOutputs; ++o)
      if ((mask >> (kTiles + o) & 1U) != 0) x_.write({o, s, strip_, step_}, outputs_[o].data());
  }

private:
  void execute(const Instruction &i) {
    if (i.op == Op::SET) {
      scalars_[i.d - kScalarCode] = i.constant;
      return;
    }
    Line &to = i.d < kOutputCode ? lines_[i.d] : outputs_[i.d - kOutputCode];
    if (i.op == Op::INDEX) {
      for (std::uint32_t n = 0; n < size_; ++n)
        to[n] = i.constant == 0 ? n : i.constant == 1 ? strip_ : step_;
      return;
    }
    const unsigned operands = isa::vector::operand_count(isa::vector::info(i.op));
    for (std::uint32_t begin = 0; begin < size_; begin += kBlock) {
      std::array<Block, 3> in{};
      for (unsigned n = 0; n < operands; ++n)
        fetch(i.operands[n], i.constant, begin, in[n]);
      Block d{};
      if (is_fp32(i.op))
        compute_fp32(i.op, d, in[0], in[1], in[2]);
      else
        compute_bits(i.op, d, in[0], in[1], in[2], i.constant);
      std::copy(d.begin(), d.end(), to.begin() + begin);
    }
  }

  void fetch(const Operand &o, std::uint32_t constant, std::uint32_t begin, Block &to) const {
    if (o.code >= kScalarCode)
      to.fill(o.code == kConstantCode ? constant : scalars_[o.code - kScalarCode]);
    else
      std::copy_n(lines_[o.code].begin() + begin, kBlock, to.begin());
    const Word keep = o.abs ? ~Fp32::kSign : ~Word{0}, flip = o.neg ? Fp32::kSign : 0;
    for (Word &word : to)
      word = (word & keep) ^ flip;
  }

  const Execution &x_;
  std::uint32_t strip_;
  std::uint32_t size_; ///< lanes, rounded up to blocks
  std::uint32_t step_ = 0;
  std::array<Line, kScalarCode> lines_;
  std::array<Line, kOutputs> outputs_;
  std::array<std::uint32_t, kScalars> scalars_{};
};

} // namespace

void interpret(const isa::vector::Program &program, const Execution &execution) {
  std::vector<Strip> group;
  for (std::uint32_t first = 0; first < execution.strips; first += execution.strips_in_turn) {
    group.clear();
    for (std::uint32_t strip = first; strip < std::min(execution.strips, first + execution.strips_in_turn); ++strip)
      group.emplace_back(execution, strip);
    for (unsigned s = 0; s < kSections; ++s)
      for (std::uint32_t step = 0; step < (s % 2 == 1 ? execution.steps : 1); ++step)
        for (Strip &strip : group)
          strip.run_section(program.sections[s], s, step);
  }
}

} // namespace gradweave::vector
