#include "compiler/schedule/step/step_placement.hpp"

#include "compiler/ir/contraction.hpp"
#include "compiler/ir/cut.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/tiling.hpp"
#include "memory_model/placement.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace gradweave::compiler {
namespace {

/// What a section does with a tensor.
struct Use {
  bool reads = false, writes = false;
  std::uint32_t lines = 0; ///< of the scratchpad that two of its tiles take
};

/// The tensors of a section, by binding.
std::map<std::uint32_t, Use> uses_of(const PlacedSection &section, const std::vector<Layer> &layers,
                                     const Layout &layout, const Machine &npu) {
  std::map<std::uint32_t, Use> uses;
  const Layer &layer = layers[section.layer];
  for (const PhasePlan &plan : *section.plans)
    for (const Tensor result : form_of(plan.kind).results) {
      const Contraction &c = contraction_of(result);
      for (const Tensor tensor : {c.a, c.b, c.result}) {
        const std::int32_t place = layout.place(section.layer, tensor);
        if (place == Layout::kNone) continue;
        const TensorForm &form = form_of(tensor);
        const std::uint32_t rows = longest_range(layer, result, form.row, side_of(plan.tile, form.row));
        const std::uint32_t cols = std::min(longest_range(layer, result, form.col, side_of(plan.tile, form.col)),
                                            layout.tensors[static_cast<std::size_t>(place)].cols);
        Use &use = uses[static_cast<std::uint32_t>(place)];
        (tensor == c.result ? use.writes : use.reads) = true;
        use.lines = std::max(use.lines, 2 * spm_rows(rows, cols, tensor == c.result, npu.lanes()));
      }
    }
  return uses;
}

/// The step as an iteration of the memory model: bindings that nothing touches are left out.
memory_model::Iteration iteration_of(const std::vector<PlacedSection> &sections, const std::vector<Layer> &layers,
                                     const Layout &layout, const Machine &npu) {
  const std::uint64_t line = std::uint64_t{2} * npu.lanes();
  memory_model::Iteration iteration;
  std::map<std::uint32_t, std::uint32_t> numbers; // of bindings
  for (const PlacedSection &section : sections) {
    memory_model::Step step;
    std::uint64_t window = 0;
    for (const auto &[place, use] : uses_of(section, layers, layout, npu)) {
      const auto [at, is_new] = numbers.try_emplace(place, static_cast<std::uint32_t>(iteration.tensors.size()));
      const TensorBinding &binding = layout.tensors[place];
      if (is_new) {
        const std::uint64_t bytes = std::uint64_t{binding.rows} * spm_rows(1, binding.cols, false, npu.lanes()) / 2 *
                                    line * (binding.fp32 ? 2 : 1);
        iteration.tensors.push_back({{}, std::max(bytes, line), line, !use.writes, binding.result, false});
      }
      // Its window is as large as the scratchpad at most: the tiles do fit.
      const std::uint64_t left = npu.spm_rows() - window;
      const auto rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(use.lines, left));
      window += rows;
      step.accesses.push_back({at->second, use.reads, use.writes, rows, 0});
    }
    iteration.steps.push_back(std::move(step));
  }
  return iteration;
}

} // namespace

std::vector<TakenOver> place_tensors(const std::vector<PlacedSection> &sections, const std::vector<Layer> &layers,
                                     const Layout &layout, const Machine &npu) {
  const memory_model::Iteration iteration = iteration_of(sections, layers, layout, npu);
  const memory_model::Uses uses(iteration);
  memory_model::Planner planner(iteration, uses);
  const std::uint64_t capacity = std::uint64_t{npu.spm_rows()} * 2 * npu.lanes();
  const memory_model::Plan plan = planner.rows(std::max(capacity, uses.largest_window()));
  std::vector<TakenOver> taken(sections.size());
  for (std::uint32_t a = 0; a < uses.accesses(); ++a) {
    const std::uint32_t next = uses.next[a];
    if (next == memory_model::kNever || 2 * plan.kept[a] < iteration.tensors[uses.what[a].tensor].bytes) continue;
    for (std::uint32_t s = uses.step[a] + 1; s <= uses.step[next]; ++s)
      taken[s].any = true;
    taken[uses.step[next]].from.push_back(uses.step[a]);
  }
  for (TakenOver &t : taken)
    std::sort(t.from.begin(), t.from.end());
  return taken;
}

} // namespace gradweave::compiler
