// The baseline of igo_micro23 and its schedules as the paper describes them, without any search
// (docs/paper-baseline.md).
#pragma once

#include "compiler/ir/compiled.hpp"
#include "compiler/ir/error.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/paper/planner.hpp"
#include "sw_models/npu_config.hpp"

namespace gradweave::compiler::paper {

struct PaperOptions {
  Policy policy;
  Schedule schedule = Schedule::kSequential; ///< kIdeal: the fastest of interleave, dx_major and dw_major
  Pass pass = Pass::kBackward;
  /// Of the backward pass, and with several cores of the forward pass; Algorithm 1 looks at a part's own dimensions.
  Cut cut;
  /// For igo_micro23's section 3.3 (dy_once, with sequential only) and for asking what its gains depend on.
  Idealisation ideal;
  /// Whether to emit the stream and verify every pass. Without, cycles and traffic are the same, but `stream` and
  /// `info` stay empty.
  bool stream = true;
};

/// Plans, and times by the timing model. `tiling` describes the policy and what became of it. One core is used unless
/// the layer is cut. Throws CompileError if the tiles or the layer do not fit, std::invalid_argument if an
/// idealisation is asked for with a stream, or dy_once with another schedule than sequential.
Compiled compile_paper_layer(const Layer &layer, const NpuConfig &npu, const PaperOptions &options);

} // namespace gradweave::compiler::paper
