#include "app/evaluation/flexer/figures.hpp"

#include "app/evaluation/study/figure_table.hpp"
#include "compiler/cost/image_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gradweave::evaluation::flexer {
namespace {

constexpr std::array<FigureMaker<Inputs>, 9> kMakers{{{"1", figure1},
                                                      {"8", figure8},
                                                      {"9a", figure9a},
                                                      {"9b", figure9b},
                                                      {"9c", figure9c},
                                                      {"10", figure10},
                                                      {"11", figure11},
                                                      {"12", figure12},
                                                      {"tables", tables}}};

class FlexerRepetition : public Repetition {
public:
  FlexerRepetition(const Study &study, const Request &request)
      : study_(read_flexer_study(study, request.networks, request.machines)), command_(request.command) {}

  Presentation presentation() const override {
    Presentation said;
    said.columns = {{"Flexer over (a)", "F/(a)", "flexer_over_a"},
                    {"Flexer over (b)", "F/(b)", "flexer_over_b"},
                    {"list over (a)", "list/(a)", "list_over_a"},
                    {"list over (b)", "list/(b)", "list_over_b"},
                    {"bound over (a)", "bound/(a)", "bound_over_a"}};
    said.purpose = "What the paper says of its out-of-order scheduler, beside the same scheduler, two baselines and a "
                   "list scheduler that knows time, all as command streams whose cycles are those of the RTL.";
    said.work = "schedules of a layer on a machine";
    said.method = fmt::format(
        "Cycles by the timing model, bytes of elements that loads and stores move. bf16 elements, fp32 sums, batch 1, "
        "convolutions only; the paper names no widths. Effort: {} plans for each schedule (--schedule on the command "
        "line takes 300).",
        study_.plans);
    said.terms = {"(a): the paper's baseline, figure 3: the best loop order, its innermost loop unrolled over the "
                  "cores, a region each for input, weights and sums (--schedule loop_order).",
                  "(b): the strongest static order that is known: parts or tiles by turns, regions searched, loads "
                  "ahead (--schedule search).",
                  "Flexer: the paper's scheduler, read literally (--schedule flexer). list: ours (--schedule list).",
                  "bound: cycles that no schedule beats; of data, each tensor once."};
    said.left_out = "These have no numbers.";
    return said;
  }

  Figure figure(std::string_view id, Evaluations &evaluations, bool /*planning*/) const override {
    return make_figure(kMakers, id, Inputs{study_, Runs(study_, evaluations), command_});
  }

private:
  FlexerStudy study_;
  std::string command_;
};

} // namespace

const std::vector<std::string_view> &figures() {
  static const std::vector<std::string_view> ids = ids_of(kMakers);
  return ids;
}

std::unique_ptr<Repetition> open(const Study &study, const Request &request) {
  return std::make_unique<FlexerRepetition>(study, request);
}

Gain gain(const Taken &baseline, const Taken &other) {
  return {baseline.cycles / other.cycles, baseline.bytes / other.bytes};
}

Gains gains_of(const LayerRuns &runs) {
  return {gain(runs[Way::kLoopOrder], runs[Way::kFlexer]), gain(runs[Way::kSearch], runs[Way::kFlexer]),
          gain(runs[Way::kLoopOrder], runs[Way::kList]), gain(runs[Way::kSearch], runs[Way::kList]),
          gain(runs[Way::kLoopOrder], runs.bound)};
}

Row row_of(const Inputs &inputs, const std::string &figure, const std::string &key, const Gains &gains, bool data,
           std::string note) {
  Row row = published_row(inputs.study, figure, key, inputs.command);
  row.unit = "x";
  for (const Gain &g : gains)
    row.ours.emplace_back(data ? g.data : g.speed);
  row.note = std::move(note);
  return row;
}

std::vector<compiler::Layer> layers_on(const FlexerNetwork &network, const Machine &npu) {
  std::vector<compiler::Layer> layers = network.layers;
  compiler::read_images(layers, compiler::Pass::kForward, npu);
  return layers;
}

LayerRuns network_on(const Inputs &inputs, const FlexerNetwork &network, const Machine &npu) {
  LayerRuns sum;
  sum.of.fill({0, 0});
  sum.bound = {0, 0};
  for (const compiler::Layer &layer : layers_on(network, npu)) {
    const LayerRuns one = inputs.runs.all(layer, npu);
    for (std::size_t i = 0; i < sum.of.size(); ++i)
      sum.of.at(i) += one.of.at(i);
    sum.bound += one.bound;
  }
  return sum;
}

std::optional<Case> find_case(const FlexerStudy &study, const std::string &network, const std::string &layer,
                              const std::string &machine) {
  const FlexerNetwork *in = study.network(network);
  const FlexerMachine *on = study.machine(machine);
  if (in == nullptr || on == nullptr) return std::nullopt;
  for (const compiler::Layer &one : layers_on(*in, on->npu))
    if (one.name == layer) return Case{on, one};
  return std::nullopt;
}

} // namespace gradweave::evaluation::flexer
