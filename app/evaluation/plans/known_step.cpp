#include "app/evaluation/plans/known_step.hpp"

#include "app/evaluation/plans/number.hpp"
#include "app/evaluation/plans/plan_text.hpp"
#include "app/evaluation/plans/step_lines.hpp"
#include "base/text/split.hpp"
#include "compiler/back/compile_plan.hpp"
#include "compiler/back/vector_room.hpp"
#include "compiler/ir/contraction.hpp"
#include "compiler/ir/layout.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/tiling.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <stdexcept>
#include <utility>

namespace gradweave::evaluation {
namespace {

using compiler::Layer;
using compiler::Pass;
using compiler::PhasePlan;

/// How often each tensor is computed.
using Results = std::array<std::size_t, compiler::kTensorCount>;

void add_results(const PhasePlan &plan, Results &results) {
  for (const compiler::Tensor result : compiler::form_of(plan.kind).results)
    ++results.at(static_cast<std::size_t>(result));
}

/// Throws unless all that the layer computes in a step is computed once, and nothing else.
void check_results(const Layer &layer, const Results &results) {
  for (const compiler::Tensor tensor : {compiler::Tensor::kY, compiler::Tensor::kDX, compiler::Tensor::kDW}) {
    const std::size_t wanted = compiler::is_computed(layer, tensor, Pass::kBoth) ? 1 : 0;
    const std::size_t times = results.at(static_cast<std::size_t>(tensor));
    if (times != wanted)
      throw std::invalid_argument(fmt::format("layer '{}': {} is computed {} times, not {}", layer.name,
                                              compiler::to_string(tensor), times, wanted));
  }
}

/// The step of a text, and what it is of.
class TimedStep {
public:
  TimedStep(const std::vector<Layer> &layers, const Machine &npu)
      : layers_(layers), npu_(npu), layout_(compiler::make_layout(layers, Pass::kBoth, npu)),
        machine_(compiler::share_step(layers, Pass::kBoth, npu)), results_(layers.size()) {}

  compiler::SearchedStep read(const std::string &text) {
    for (const StepLine &line : lines_of(text))
      try {
        read(line);
      } catch (const std::invalid_argument &error) {
        throw std::invalid_argument(fmt::format("line {} of the step: {}", line.number, error.what()));
      }
    for (std::size_t i = 0; i < layers_.size(); ++i)
      check_results(layers_[i], results_[i]);
    add_layers();
    return std::move(found_);
  }

private:
  struct Plan {
    PhasePlan plan;
    bool is_section = false;
  };
  /// Numbers of the plans of a layer by itself.
  struct Own {
    std::vector<std::uint64_t> conventional, searched;
  };

  void read(const StepLine &line);
  void read_own(const std::string &text);
  void read_run(const std::string &text);
  const Layer &layer(std::uint64_t index) const {
    if (index >= layers_.size()) throw std::invalid_argument(fmt::format("there is no layer {}", index));
    return layers_[index];
  }
  const Plan &plan(std::uint64_t index) const {
    if (index >= plans_.size()) throw std::invalid_argument(fmt::format("there is no plan {} so far", index));
    return plans_[index];
  }
  PhasePlan section(const PhasePlan &like, std::uint32_t layer) const;
  void check(const PhasePlan &plan, const Layer &layer) const;
  std::uint64_t cycles_of(const Layer &layer, const std::vector<std::uint64_t> &plans) const;
  std::uint64_t cycles_of_sections(const Layer &layer) const;
  void add_layers();

  const std::vector<Layer> &layers_;
  const Machine &npu_;
  compiler::Layout layout_;
  compiler::SharedMachine machine_;
  std::vector<Plan> plans_;
  std::map<std::string, Own> own_; ///< by shape
  std::vector<Results> results_;   ///< of each layer in the step
  compiler::SearchedStep found_;
};

/// Parts are of the layer, areas of the scratchpad. Tiles may be larger than the layer: they are as others of the step.
void TimedStep::check(const PhasePlan &plan, const Layer &layer) const {
  const compiler::TileShape largest = compiler::largest_tile(plan.kind, layer);
  const bool fits = plan.parts.count <= compiler::side_of(largest, plan.parts.dim) && plan.parts.cores <= npu_.cores;
  if (!fits || compiler::product_count(plan.kind, plan.tile, layer) > compiler::kMostProducts)
    throw std::invalid_argument(fmt::format("layer '{}': '{}' is no plan of it", layer.name, plan_text(plan)));
  const std::uint32_t rows = npu_.spm_rows();
  for (const compiler::RowRange &area : {plan.split.shared, plan.split.other, plan.split.result})
    if (area.rows == 0 || area.first >= rows || area.rows > rows - area.first)
      throw std::invalid_argument(fmt::format("area {}+{} is not in the scratchpad", area.first, area.rows));
}

void TimedStep::read(const StepLine &line) {
  if (line.word == kEffort) {
    effort_from(line.rest);
  } else if (line.word == kWork) {
    const std::vector<std::uint64_t> work = numbers(line.rest, ' ');
    if (work.size() != 4) throw std::invalid_argument(fmt::format("'{}' is no work of two searches", line.rest));
    found_.conventional_work.tried = work[0];
    found_.conventional_work.bursts = work[1];
    found_.work.tried = work[2];
    found_.work.bursts = work[3];
  } else if (line.word == kPlan) {
    Plan known;
    known.plan = parse_plan(line.rest, known.is_section);
    plans_.push_back(std::move(known));
  } else if (line.word == kOwn) {
    read_own(line.rest);
  } else if (line.word == kRun) {
    read_run(line.rest);
  } else {
    throw std::invalid_argument(fmt::format("'{}' begins no line of a step", line.word));
  }
}

void TimedStep::read_own(const std::string &text) {
  const std::vector<std::string> words = split(text, ' ');
  if (words.size() != 3) throw std::invalid_argument(fmt::format("'{}' is no layer with two lists of plans", text));
  Own own{numbers(words[1], ','), numbers(words[2], ',')};
  const Layer &whose = layer(number<std::uint64_t>(words[0]));
  for (const auto *list : {&own.conventional, &own.searched}) {
    Results results{};
    for (const std::uint64_t index : *list) {
      if (plan(index).is_section) throw std::invalid_argument("a section is no plan of a layer by itself");
      check(plan(index).plan, whose);
      add_results(plan(index).plan, results);
    }
    check_results(whose, results);
  }
  own_[shape_of(whose)] = std::move(own);
}

/// The layer's section of the vector unit that computes the same.
PhasePlan TimedStep::section(const PhasePlan &like, std::uint32_t layer) const {
  if (!machine_.unit || !layers_[layer].vector)
    throw std::invalid_argument(fmt::format("layer {} is not the vector unit's", layer));
  const Pass pass = compiler::form_of(like.kind).forward() ? Pass::kForward : Pass::kBackward;
  for (PhasePlan &phase : compiler::section_phases(layers_[layer], layer, pass, layout_, *machine_.unit)) {
    if (phase.kind != like.kind) continue;
    phase.woven = like.woven;
    phase.joined = like.joined;
    phase.takes_parts = like.takes_parts;
    phase.starts_empty = like.starts_empty;
    phase.reach = like.reach;
    return std::move(phase);
  }
  throw std::invalid_argument(fmt::format("layer {} has no such section", layer));
}

void TimedStep::read_run(const std::string &text) {
  for (const std::string &item : split(text, ' ')) {
    const std::vector<std::uint64_t> pair = numbers(item, ':');
    if (pair.size() != 2) throw std::invalid_argument(fmt::format("'{}' is no layer with a plan", item));
    const Layer &own = layer(pair[0]);
    const Plan &known = plan(pair[1]);
    const auto index = static_cast<std::uint32_t>(pair[0]);
    add_results(known.plan, results_[index]);
    if (known.is_section) {
      found_.plans.push_back(section(known.plan, index));
      continue;
    }
    if (own.vector) throw std::invalid_argument(fmt::format("layer {} is the vector unit's", index));
    check(known.plan, own);
    found_.plans.push_back(known.plan);
    found_.plans.back().layer = index;
  }
}

/// Of both passes, each run by itself.
std::uint64_t TimedStep::cycles_of(const Layer &layer, const std::vector<std::uint64_t> &plans) const {
  std::uint64_t cycles = 0;
  for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
    std::vector<PhasePlan> phases;
    for (const std::uint64_t index : plans)
      if (compiler::form_of(plan(index).plan.kind).forward() == (pass == Pass::kForward))
        phases.push_back(plan(index).plan);
    if (!phases.empty())
      cycles += compiler::time_plans(phases, {layer}, compiler::make_layout({layer}, pass, npu_), npu_).cycles;
  }
  return cycles;
}

std::uint64_t TimedStep::cycles_of_sections(const Layer &layer) const {
  std::uint64_t cycles = 0;
  for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
    const compiler::Layout layout = compiler::make_layout({layer}, pass, npu_);
    std::vector<PhasePlan> phases = compiler::section_phases(layer, 0, pass, layout, *machine_.unit);
    if (!phases.empty()) cycles += compiler::time_plans(std::move(phases), {layer}, layout, npu_).cycles;
  }
  return cycles;
}

void TimedStep::add_layers() {
  std::map<std::string, compiler::LayerCosts> known; // by shape
  for (const Layer &layer : layers_) {
    const std::string shape = shape_of(layer);
    const auto [at, is_new] = known.try_emplace(shape);
    if (is_new && layer.vector) {
      at->second.conventional = at->second.searched = cycles_of_sections(layer);
    } else if (is_new) {
      const auto own = own_.find(shape);
      if (own == own_.end()) throw std::invalid_argument(fmt::format("layer '{}' has no plans of its own", layer.name));
      at->second.conventional = cycles_of(layer, own->second.conventional);
      at->second.searched = own->second.searched == own->second.conventional ? at->second.conventional
                                                                             : cycles_of(layer, own->second.searched);
    }
    found_.layers.push_back(at->second);
  }
}

} // namespace

StepEffort effort_of(const std::string &text) {
  for (const StepLine &line : lines_of(text))
    if (line.word == kEffort) return effort_from(line.rest);
  throw std::invalid_argument("no effort is told");
}

compiler::SearchedStep timed_step(const std::string &text, const std::vector<Layer> &layers, const Machine &npu) {
  return TimedStep(layers, npu).read(text);
}

} // namespace gradweave::evaluation
