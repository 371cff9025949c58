#include "app/evaluation/layerweaver/figures.hpp"
#include "app/evaluation/study/figure_table.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <utility>

namespace gradweave::evaluation::layerweaver {
namespace {

constexpr std::array<FigureMaker<Inputs>, 12> kMakers{{{"2", figure2},
                                                       {"3", figure3},
                                                       {"4", figure4},
                                                       {"7", figure7},
                                                       {"8", figure8},
                                                       {"9", figure9},
                                                       {"10", figure10},
                                                       {"11", figure11},
                                                       {"abstract", abstract},
                                                       {"pairs", gains},
                                                       {"buffers", buffers},
                                                       {"sensitivity", sensitivity}}};

class LayerweaverRepetition : public Repetition {
public:
  LayerweaverRepetition(const Study &study, const Request &request)
      : study_(read_weave_study(study, request.networks)), command_(request.command) {}

  Presentation presentation() const override {
    Presentation said;
    said.columns = {{"ours", "ours", "ours"}, {"difference", "differs", "difference"}};
    said.purpose = "What the paper's text says of its scheduler, beside what this project's model of it gives.";
    said.work = "networks by themselves, and pairs of them, each under several policies";
    said.method = fmt::format(
        "The text that is stored ends in section III: the NPUs' parameters, sequence lengths and the rule that selects "
        "are assumptions, named beside each number. Throughput is the time that all requests take one model at a "
        "time over the time that they take woven, {} times that of the longer model.",
        study_.repeats);
    said.terms = {"difference: ours less the paper's. In percent of throughput or of utilisation these are points.",
                  "attainable under: the model gives the number, within 3 points, under these assumptions. Some were "
                  "chosen with the number in view, so that the paper assumed the same does not follow.",
                  "Policies: round robin (a layer each), AI-MT-like (what fetches most, if computing hides it), greedy "
                  "(the paper's), bounded (greedy among models that lead by so much at most), tiles (the same, parts "
                  "of layers); docs/layerweaver.md."};
    said.left_out = "These have no numbers.";
    return said;
  }

  Figure figure(std::string_view id, Evaluations &evaluations, bool /*planning*/) const override {
    const Inputs inputs{study_, Weavings(study_, evaluations), command_};
    return make_figure(kMakers, id, inputs);
  }

private:
  WeaveStudy study_;
  std::string command_;
};

bool has(const std::pair<WeaveNetwork, WeaveNetwork> &pair, const std::string &name) {
  return pair.first.name == name || pair.second.name == name;
}

} // namespace

const std::vector<std::string_view> &figures() {
  static const std::vector<std::string_view> ids = ids_of(kMakers);
  return ids;
}

std::unique_ptr<Repetition> open(const Study &study, const Request &request) {
  return std::make_unique<LayerweaverRepetition>(study, request);
}

Row Inputs::row(const std::string &figure, const std::string &key, std::optional<double> ours, std::string note) const {
  return compared_row(study, figure, key, command, ours, std::move(note));
}

Means means(const Inputs &inputs, const Scenario &scenario, Mix mix, bool beyond, const Which &which) {
  Means sum;
  double count = 0;
  for (const auto &pair : inputs.weavings.pairs()) {
    if (!which.network.empty() && has(pair, which.network) != which.with) continue;
    const PairResult r = inputs.weavings.pair({scenario, pair.first, pair.second, mix, beyond});
    ++count;
    sum.round_robin += r.round_robin.throughput;
    sum.ai_mt += r.ai_mt.throughput;
    sum.greedy += r.greedy.throughput;
    sum.bounded += r.bounded.throughput;
    sum.tiles += r.tiles.throughput;
    sum.bound += r.bound;
    sum.compute += 100 * (r.greedy.compute - r.compute);
    sum.fetch += 100 * (r.greedy.fetch - r.fetch);
  }
  for (double *value :
       {&sum.round_robin, &sum.ai_mt, &sum.greedy, &sum.bounded, &sum.tiles, &sum.bound, &sum.compute, &sum.fetch})
    *value /= count;
  return sum;
}

std::string assumptions(const Scenario &s) {
  const weave_model::Arrays &a = s.machine.arrays;
  return fmt::format("{} ({} arrays of {} x {}, {:.4g} TMAC/s, {} GB/s, {} bytes a weight), batch {}, {} tokens a "
                     "sequence, {} MiB of weights, idle time: {}, ties: {}",
                     s.machine.name, a.count, a.rows, a.cols, a.peak() / 1e12, s.machine.bandwidth, a.element_bytes,
                     s.batch, s.tokens, s.buffer, to_string(s.rule.idle), to_string(s.rule.ties));
}

} // namespace gradweave::evaluation::layerweaver
