#include "compiler/vector_stream/cut/values_through_memory.hpp"

#include "compiler/vector/chain.hpp"
#include "compiler/vector_stream/group/group.hpp"
#include "compiler/vector_stream/stage/result_slice.hpp"
#include "isa/vector/registers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace gradweave::compiler {
namespace {

using isa::vector::gives_register;
using isa::vector::Instruction;
using isa::vector::kConstantCode;
using isa::vector::kOutputCode;
using isa::vector::kRegisters;
using isa::vector::kScalarCode;
using isa::vector::kTileCode;
using isa::vector::kTiles;
using isa::vector::Mask;
using isa::vector::Op;
using isa::vector::Operand;
using isa::vector::Program;

using Code = std::vector<Instruction>;

/// A program that reads values, and those that give them.
struct Hoisted {
  struct Value {
    Program program;
    std::vector<unsigned> operands; ///< which of the whole program's
  };
  std::vector<Value> values;
  Program rest;
  std::vector<unsigned> operands; ///< of the whole program's, in t0, t1, ...; values stand behind them
};

/// What an instruction computes of operands alone.
struct Expression {
  std::string text; ///< equal ones give equal bits
  Mask tiles = 0;
};

class Hoisting {
public:
  explicit Hoisting(const Program &program) { hoisted_.rest = program; }

  /// Nothing if the rest cannot be cut either.
  std::optional<Hoisted> run() {
    for (const unsigned loop : loops_of(hoisted_.rest))
      hoist(hoisted_.rest.sections[loop]);
    hoisted_.rest = result_slice(hoisted_.rest, 0);
    if (hoisted_.values.empty() || !name_tiles() || !parts_fit(hoisted_.rest)) return std::nullopt;
    return std::move(hoisted_);
  }

private:
  static constexpr unsigned kValueCode = kConstantCode + 1; ///< until all tiles have names

  void hoist(Code &loop) {
    const Code whole = loop;
    std::map<unsigned, Expression> known; // by register
    for (std::size_t at = 0; at < loop.size(); ++at) {
      Instruction &i = loop[at];
      if (const auto expression = expression_of(i, known)) {
        known[i.d] = *expression;
        continue;
      }
      for (unsigned n = 0; n < isa::vector::operand_count(isa::vector::info(i.op)); ++n)
        if (const auto found = known.find(i.operands[n].code); found != known.end())
          if (std::bitset<kTiles>(found->second.tiles).count() > 1)
            i.operands[n].code = value_of(found->second.text, {whole.begin(), whole.begin() + at}, found->first);
      if (gives_register(i)) known.erase(i.d);
    }
  }

  static std::optional<Expression> expression_of(const Instruction &i, const std::map<unsigned, Expression> &known) {
    if (!gives_register(i) || i.op == Op::INDEX) return std::nullopt;
    Expression all{fmt::format("({}", static_cast<unsigned>(i.op)), 0};
    for (unsigned n = 0; n < isa::vector::operand_count(isa::vector::info(i.op)); ++n) {
      const Operand &operand = i.operands[n];
      all.text += fmt::format(" {:d}{:d}", operand.neg, operand.abs);
      if (const auto found = known.find(operand.code); found != known.end()) {
        all.text += found->second.text;
        all.tiles = static_cast<Mask>(all.tiles | found->second.tiles);
      } else if (operand.code >= kTileCode && operand.code < kScalarCode) {
        all.text += fmt::format("t{}", operand.code - kTileCode);
        all.tiles = static_cast<Mask>(all.tiles | 1U << (operand.code - kTileCode));
      } else if (operand.code == kConstantCode) {
        all.text += fmt::format("c{}", i.constant);
      } else {
        return std::nullopt;
      }
    }
    all.text += ")";
    return all;
  }

  /// The code of a value's tile; `before` gives the value in a register.
  std::uint8_t value_of(const std::string &text, Code before, unsigned reg) {
    const auto [found, is_new] = codes_.try_emplace(text, static_cast<std::uint8_t>(kValueCode + codes_.size()));
    if (is_new) {
      Instruction out;
      out.op = Op::OR;
      out.d = kOutputCode;
      out.operands[0] = out.operands[1] = isa::vector::reg(reg);
      before.push_back(out);
      Hoisted::Value value;
      value.program.sections[1] = std::move(before);
      value.program = result_slice(value.program, 0);
      value.operands = name_used_tiles({&value.program.sections[1]}).operands;
      hoisted_.values.push_back(std::move(value));
    }
    return found->second;
  }

  /// Whether there are enough.
  bool name_tiles() {
    std::vector<Code *> sections;
    Mask mask = 0;
    for (Code &section : hoisted_.rest.sections) {
      sections.push_back(&section);
      mask = static_cast<Mask>(mask | isa::vector::mask_of(section));
    }
    const std::size_t tiles = std::bitset<kTiles>(mask).count();
    if (tiles + codes_.size() > kTiles) return false;
    hoisted_.operands = name_used_tiles(sections).operands;
    for (Code *section : sections)
      for (Instruction &i : *section)
        for (Operand &operand : i.operands)
          if (operand.code >= kValueCode)
            operand.code = static_cast<std::uint8_t>(kTileCode + tiles + operand.code - kValueCode);
    return true;
  }

  std::map<std::string, std::uint8_t> codes_; ///< of values, by what they compute
  Hoisted hoisted_;
};

class Rewriting {
public:
  Rewriting(OpJobs jobs, const NpuConfig &npu) : jobs_(std::move(jobs)), npu_(npu) {}

  OpJobs run() {
    std::vector<JobStep> steps;
    std::swap(steps, jobs_.steps);
    for (JobStep &step : steps) {
      auto *job = std::get_if<VectorJob>(&step);
      const Known *known = job != nullptr && is_too_large(*job) ? hoisted_of(job->program) : nullptr;
      if (known != nullptr) rewrite(*job, *known);
      jobs_.steps.push_back(std::move(step));
    }
    return std::move(jobs_);
  }

private:
  struct Known {
    std::optional<Hoisted> hoisted;
    std::size_t first = 0; ///< which of OpJobs::programs: those of values, and the rest's
  };

  bool is_too_large(const VectorJob &job) const {
    if (job.elementwise || job.results.size() != 1 || parts_fit(jobs_.programs[job.program])) return false;
    JobGroup group;
    group.stages = {stage_of(jobs_, job)};
    group.in_memory.assign(jobs_.values.size(), true);
    return !fits(group, std::min<std::size_t>(job.lanes, npu_.lanes()), job.steps, npu_);
  }

  const Known *hoisted_of(std::size_t program) {
    const auto [found, is_new] = known_.try_emplace(program);
    Known &known = found->second;
    if (is_new && (known.hoisted = Hoisting(jobs_.programs[program]).run())) {
      known.first = jobs_.programs.size();
      for (const Hoisted::Value &value : known.hoisted->values)
        jobs_.programs.push_back(value.program);
      jobs_.programs.push_back(known.hoisted->rest);
    }
    return known.hoisted ? &known : nullptr;
  }

  void rewrite(VectorJob &job, const Known &known) {
    const auto operands_of = [whole = job.operands](const std::vector<unsigned> &which) {
      std::vector<JobTile> tiles;
      for (const unsigned operand : which)
        tiles.push_back(whole[operand]);
      return tiles;
    };
    const Hoisted &hoisted = *known.hoisted;
    const JobTile like = job.results[0];
    job.program = known.first + hoisted.values.size();
    job.operands = operands_of(hoisted.operands);
    for (std::size_t v = 0; v < hoisted.values.size(); ++v) {
      const JobTile tile{jobs_.values.size(), 0,    like.line == LineOf::kRow ? job.lanes : job.steps,
                         like.line,           true, true};
      jobs_.values.push_back({fmt::format("{}.{}", jobs_.values[like.value].name, jobs_.values.size()), graph::kNone,
                              graph::ElementType::kFp32, std::size_t{job.lanes} * job.steps});
      jobs_.steps.emplace_back(
          VectorJob{known.first + v, job.lanes, job.steps, operands_of(hoisted.values[v].operands), {tile}, true});
      job.operands.push_back(tile);
    }
  }

  OpJobs jobs_;
  const NpuConfig &npu_;
  std::map<std::size_t, Known> known_; ///< by program
};

} // namespace

OpJobs values_through_memory(OpJobs jobs, const NpuConfig &npu) { return Rewriting(std::move(jobs), npu).run(); }

} // namespace gradweave::compiler
