#include "compiler/paper/planner.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/contraction.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/paper/slot_cache.hpp"

#include <algorithm>

namespace gradweave::compiler::paper {
namespace {

/// Operand tiles kept at a time, of `slots`.
std::uint32_t operands_kept(const Policy &policy, const Step &step, std::uint32_t slots) {
  if (policy.replacement == Replacement::kNone) return step.operands();
  const bool half = policy.replacement == Replacement::kHalves || policy.reuse == Reuse::kHalf;
  return half ? slots / 2 : slots - 2 * spare_slots(slots, step.cores); // of either colour
}

/// Partial sums kept at a time, of `slots`: those of a step at least.
std::uint32_t sums_kept(const Step &step, std::uint32_t slots) {
  return std::max(step.sums(), slots - std::min(slots, spare_slots(slots, step.cores)));
}

Replacement rule_for_sums(const Policy &policy) {
  if (policy.partial_rule == PartialRule::kSoonest) return Replacement::kBelady;
  const bool streams = policy.replacement == Replacement::kNone || policy.replacement == Replacement::kHalves;
  return streams ? Replacement::kLru : policy.replacement;
}

class Planner {
public:
  Planner(const Stage &stage, const Layout &layout, const Policy &policy, const NpuConfig &npu, Program &program)
      : stage_(stage), layout_(layout), npu_(npu), program_(program),
        numbers_(stage.products, program.layers.front(), program.reductions.front()),
        areas_(make_areas(stage.tile, stage.step, numbers_.most_open_sums(), policy, npu)),
        operands_(policy.replacement, numbers_.operands(), areas_.operands.count,
                  operands_kept(policy, stage.step, areas_.operands.count), 2),
        sums_(rule_for_sums(policy), numbers_.sums(), areas_.partials.count,
              sums_kept(stage.step, areas_.partials.count), 1),
        spill_address_(numbers_.sums(), 0), product_of_sum_(numbers_.sums(), 0) {
    // Sums are replaced so too wherever operands are.
    const bool looks_ahead = rule_for_sums(policy) == Replacement::kBelady;
    uses_ = looks_ahead ? numbers_.next_uses() : std::vector<NextUses>(stage.products.size());
  }

  void run();

private:
  Spot place(const Slots &area, std::uint32_t slot, const Rect &rect, bool fp32) {
    const Place at{{area.row(slot), spm_rows(rect.rows, rect.cols, fp32, npu_.lanes())}, rect.rows * (fp32 ? 2 : 1)};
    return {at.rows.first, program_.forms.number_of(rect, at)};
  }
  Spot operand_place(std::uint32_t tile, const Rect &rect) {
    return place(areas_.operands, static_cast<std::uint32_t>(operands_.slot(tile)), rect, false);
  }
  Spot sum_place(std::uint32_t sum, const Rect &rect) {
    return place(areas_.partials, static_cast<std::uint32_t>(sums_.slot(sum)), rect, true);
  }
  void bring_operands(const ProductTiles &t, const NextUses &next, const GemmRoles &r);
  void bring_sum(std::uint32_t sum, bool begins, std::uint32_t next_use);
  void load_operand(std::uint32_t tile, Tensor tensor, const Rect &rect);
  void move(Action::Kind kind, Tensor tensor, const Rect &rect, const Spot &at, bool fp32);
  void move_spill(Action::Kind kind, std::uint32_t sum, std::uint32_t slot);
  void compute(const ProductTiles &t, const GemmRoles &r);

  const Stage &stage_;
  const Layout &layout_;
  const NpuConfig &npu_;
  Program &program_;
  TileNumbers numbers_;
  std::vector<NextUses> uses_;
  Areas areas_;
  SlotCache operands_, sums_;
  std::uint32_t next_result_ = 0;
  std::vector<std::uint64_t> spill_address_;  ///< by sum; 0: none yet
  std::vector<std::uint32_t> product_of_sum_; ///< the last one
  std::vector<std::uint32_t> spared_;
  std::vector<SlotCache::GivenUp> given_up_;
  std::size_t now_ = 0;
  const TileProduct *product_ = nullptr;
};

/// A LOAD or STORE between a place and the tensor.
void Planner::move(Action::Kind kind, Tensor tensor, const Rect &rect, const Spot &at, bool fp32) {
  Action a;
  a.binding = layout_.place(0, tensor);
  const TensorBinding &binding = layout_.tensors[static_cast<std::size_t>(a.binding)];
  a.kind = kind;
  a.product = static_cast<std::uint32_t>(program_.products.size());
  a.tensor = tensor;
  a.row = rect.row;
  a.col = rect.col;
  a.fp32 = fp32;
  a.memory = {binding.offset + std::uint64_t{rect.row} * binding.pitch + rect.col * (binding.fp32 ? 4ULL : 2ULL),
              binding.pitch};
  a.place = at;
  program_.actions.push_back(a);
}

/// A LOAD or STORE between a slot and the sum's spill space, where it is packed in whole beats.
void Planner::move_spill(Action::Kind kind, std::uint32_t sum, std::uint32_t slot) {
  if (stage_.ideal.spill == SpillCost::kFree) return;
  const TileProduct &p = stage_.products[product_of_sum_[sum]];
  Action a;
  a.kind = kind;
  a.product = static_cast<std::uint32_t>(program_.products.size());
  a.tensor = p.result;
  a.binding = layout_.place(0, p.result);
  const Rect rect = roles(p, program_.layers.front()).c_rect;
  a.row = rect.row;
  a.col = rect.col;
  a.fp32 = stage_.ideal.spill == SpillCost::kFp32;
  a.spill = true;
  const auto pitch = static_cast<std::uint32_t>(round_up(rect.cols * (a.fp32 ? 4ULL : 2ULL), npu_.bus_bytes));
  if (spill_address_[sum] == 0) {
    program_.dram_bytes = round_up(program_.dram_bytes, npu_.bus_bytes);
    spill_address_[sum] = program_.dram_bytes;
    program_.dram_bytes += std::uint64_t{pitch} * rect.rows;
  }
  a.memory = {spill_address_[sum], pitch};
  a.place = place(areas_.partials, slot, rect, a.fp32);
  program_.actions.push_back(a);
}

void Planner::load_operand(std::uint32_t tile, Tensor tensor, const Rect &rect) {
  const Contraction &c = contraction_of(product_->result);
  const bool shared = tensor == c.shared;
  operands_.insert(tile, shared ? 0 : 1);
  // What sums over lines, dW, finds dY where dX left it.
  if (stage_.ideal.dy_once && c.red == Dim::kM && shared) return;
  move(Action::Kind::kLoad, tensor, rect, operand_place(tile, rect), false);
}

void Planner::bring_operands(const ProductTiles &t, const NextUses &next, const GemmRoles &r) {
  const auto missing = [&] { return (operands_.slot(t.a) < 0 ? 1U : 0U) + (operands_.slot(t.b) < 0 ? 1U : 0U); };
  if (missing() > 0) {
    spared_ = {t.a, t.b};
    given_up_.clear();
    operands_.make_room(missing(), spared_, given_up_);
    if (operands_.slot(t.a) < 0) load_operand(t.a, r.a, r.a_rect);
    if (operands_.slot(t.b) < 0) load_operand(t.b, r.b, r.b_rect);
  }
  operands_.use(t.a, next.a);
  operands_.use(t.b, next.b);
}

/// Gives a sum of the product a slot, with what it has come to.
void Planner::bring_sum(std::uint32_t sum, bool begins, std::uint32_t next_use) {
  if (sums_.slot(sum) < 0) {
    given_up_.clear();
    sums_.make_room(1, spared_, given_up_);
    for (const SlotCache::GivenUp &g : given_up_)
      move_spill(Action::Kind::kStore, g.tile, g.slot);
    const std::uint32_t slot = sums_.insert(sum, 0);
    if (!begins) move_spill(Action::Kind::kLoad, sum, slot);
  }
  product_of_sum_[sum] = static_cast<std::uint32_t>(now_);
  sums_.use(sum, next_use);
}

/// The GEMM or ADD; a complete result leaves, and sums that are done with give up their slots.
void Planner::compute(const ProductTiles &t, const GemmRoles &r) {
  const bool leaves_rounded = t.last && rounds(program_.layers.front(), product_->result);
  Action action;
  action.kind = t.add ? Action::Kind::kAdd : Action::Kind::kGemm;
  action.product = static_cast<std::uint32_t>(program_.products.size());
  action.core = product_->core;
  action.tensor = product_->result;
  action.binding = layout_.place(0, product_->result);
  action.row = r.c_rect.row;
  action.col = r.c_rect.col;
  action.acc = !t.add && !t.first;
  action.out_bf16 = leaves_rounded;
  if (t.add) {
    action.in.a = sum_place(t.sum, r.c_rect);
    action.in.cin = sum_place(t.a, r.c_rect);
  } else {
    action.in.a = operand_place(t.a, r.a_rect);
    action.in.b = operand_place(t.b, r.b_rect);
    if (action.acc) action.in.cin = sum_place(t.sum, r.c_rect);
  }
  if (leaves_rounded) {
    action.place = place(areas_.results, next_result_, r.c_rect, false);
    next_result_ = (next_result_ + 1) % areas_.results.count;
  } else {
    action.place = sum_place(t.sum, r.c_rect);
  }
  program_.actions.push_back(action);
  if (t.add) sums_.remove(t.a);
  if (!t.last) return;
  move(Action::Kind::kStore, product_->result, r.c_rect, action.place, !leaves_rounded);
  if (sums_.slot(t.sum) >= 0) sums_.remove(t.sum);
}

void Planner::run() {
  program_.products.reserve(program_.products.size() + stage_.products.size());
  program_.actions.reserve(program_.actions.size() + 4 * stage_.products.size());
  for (now_ = 0; now_ < stage_.products.size(); ++now_) {
    product_ = &stage_.products[now_];
    const ProductTiles &t = numbers_.products()[now_];
    const NextUses &next = uses_[now_];
    const GemmRoles r = roles(*product_, program_.layers.front());
    if (!t.add) bring_operands(t, next, r);
    spared_.clear();
    if (t.add) {
      spared_ = {t.sum, t.a};
      bring_sum(t.a, false, next.a);
    }
    const bool at_once = t.first && t.last && rounds(program_.layers.front(), product_->result);
    if (!at_once) bring_sum(t.sum, t.first, next.sum);
    compute(t, r);
    program_.products.push_back(*product_);
  }
}

} // namespace

void plan_stage(const Stage &stage, const Layout &layout, const Policy &policy, const NpuConfig &npu,
                Program &program) {
  Planner(stage, layout, policy, npu, program).run();
}

} // namespace gradweave::compiler::paper
