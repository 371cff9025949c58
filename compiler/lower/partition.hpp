// Parts of a layer: what each computes, on which core, and how their sums come together (igo_micro23, section 5).
#pragma once

#include "compiler/ir/program.hpp"
#include "compiler/request/error.hpp"
#include "compiler/request/options.hpp"
#include "sw_models/config/npu_config.hpp"

namespace gradweave::compiler {

/// First indices of `parts` parts of `extent`, and `extent` at the end. Parts differ by one `unit` at most; by one
/// index, if there are fewer units than parts. Throws std::invalid_argument if parts is 0 or above extent.
std::vector<std::uint32_t> part_bounds(std::uint32_t extent, std::uint32_t parts, std::uint32_t unit);

/// The dimension that a partition cuts, which must be one (figure 11).
Dim cut_dim(Partition partition);

/// The partition that cuts the dimension: the inverse of cut_dim().
Partition partition_along(Dim dim);

/// Indices that can be cut along `dim`: the layer's extent; of a grouped layer along K and N its groups, for these are
/// blocks of the columns of X and of dY. Of a layer that reads images along M its rows, along K its channels, and along
/// N in the backward pass one.
std::uint32_t cuttable(Dim dim, bool forward, const Layer &layer);

/// The part of the layer that a part of a phase computes, as a layer: what tilings and estimates are made for. All of
/// it where cores take turns.
Layer part_of(const Layer &layer, const PhaseParts &parts, const NpuConfig &npu);

/// Cycles of the busiest core by the block formula, ADDs apart, or of all on average where they take turns: no
/// residency can beat them.
std::uint64_t plan_cycles(const PhasePlan &plan, const Layer &layer, const NpuConfig &npu);

/// How the phases of a layer are cut.
struct Cut {
  Partition partition = Partition::kNone;
  std::uint32_t parts = 1;
  Reduction reduction = Reduction::kChain;
  Sharing sharing = Sharing::kParts;
};

/// A way to cut a layer, whatever its extents.
struct CutKind {
  Partition partition = Partition::kNone;
  Reduction reduction = Reduction::kChain;
  Sharing sharing = Sharing::kParts;
};

/// What a search of several cores cuts a layer by first.
inline constexpr CutKind kFirstCut{Partition::kWeightSharing, Reduction::kAdd, Sharing::kParts};

/// The other ways that a search tries, in the order that decides between equally good ones. Without several cores the
/// parts of a layer run one after the other: then they are chained, and only a backward pass has any.
std::vector<CutKind> other_cuts(Pass pass, bool several);

/// How the options cut a layer; parts asked for, or as many as there are cores, or two. Throws CompileError if the
/// layer has too few indices for so many parts, or parts are asked for without a partition.
Cut cut_of(const Layer &layer, const NpuConfig &npu, const CompileOptions &options);

/// The cut of one phase of the forward or the backward pass. A forward phase is cut along M or N, whichever gives the
/// busiest core less to do; where cores take turns, as the partition says, unless that is along the reduction. Parts
/// that a dimension is too small for are left out.
PhaseParts phase_parts(const Cut &cut, bool forward, const Layer &layer, const NpuConfig &npu);

/// The results whose reduction the phase cuts into sums of their own, with the cuts.
void add_reductions(const PhasePlan &plan, const Layer &layer, const NpuConfig &npu, ReductionPlans &plans);

/// All products of a phase in a legal serial order: those of a core in the order of its parts, those of different cores
/// by turns. A core that continues another's sum follows it. ADD products follow as soon as all parts of their result
/// are complete, on the cores by turns.
std::vector<TileProduct> plan_products(const PhasePlan &plan, const Layer &layer, const NpuConfig &npu);

} // namespace gradweave::compiler
