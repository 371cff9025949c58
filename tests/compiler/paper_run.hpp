// Compiles layers by the paper's own scheme.
#pragma once

#include "compiler/compiler.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/paper/paper.hpp"

namespace gradweave::compiler::paper {

/// What the scheme is asked for.
struct PaperOptions {
  Policy policy;
  Schedule schedule = Schedule::kSequential;
  Pass pass = Pass::kBackward;
  Cut cut;
  Idealisation ideal;
  bool stream = true;
};

inline Compiled compile_paper_layer(const Layer &layer, const Machine &npu, const PaperOptions &options) {
  CompileOptions asked;
  asked.schedule = options.schedule;
  asked.pass = options.pass;
  asked.partition = options.cut.partition;
  asked.parts = options.cut.parts;
  asked.reduction = options.cut.reduction;
  asked.stream = options.stream;
  CompileCache cache;
  return compile(PaperScheduler(options.policy, options.ideal), {layer}, npu, asked, cache);
}

} // namespace gradweave::compiler::paper
