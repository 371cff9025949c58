#include "app/evaluation/igo/figures.hpp"

#include "app/evaluation/igo/figure_support.hpp"
#include "compiler/paper/policy.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace gradweave::evaluation::igo {

const std::vector<FigureMaker> &figure_makers() {
  static const std::vector<FigureMaker> makers{
      {"table3", table3}, {"table4", table4},     {"5", figure5},     {"6", figure6},    {"algorithm1", algorithm1},
      {"knn", knn},       {"12", figure12},       {"13", figure13},   {"14", figure14},  {"15", figure15},
      {"16", figure16},   {"policies", policies}, {"search", search}, {"images", images}};
  return makers;
}

Costs costs_of(const Context &context, const Setting &setting, const std::string &policy) {
  const bool searched = policy == kSearched;
  return {context.evaluations, setting.npu, policy, searched ? std::vector<std::uint32_t>{} : context.study.parts,
          context.study.plans};
}

Costs costs_of(const Context &context, const Setting &setting, bool searched) {
  return costs_of(context, setting, searched ? std::string(kSearched) : context.policy);
}

Normalised normalised(const Context &context, const Setting &setting, Technique technique) {
  const Costs described = costs_of(context, setting, false);
  const Costs searched = costs_of(context, setting, true);
  Normalised result;
  for (const Workload &workload : context.workloads.at(setting)) {
    const double described_time = described.cycles(workload, technique);
    const double searched_baseline = searched.cycles(workload, Technique::kBaseline);
    result.described.push_back(described_time / described.cycles(workload, Technique::kBaseline));
    result.searched.push_back(searched.cycles(workload, technique) / searched_baseline);
    result.crossed.push_back(described_time / searched_baseline);
  }
  return result;
}

double gain_percent(const std::vector<double> &normalised) { return 100 * (1 - mean(normalised)); }

bool is_published(const Context &context, const std::string &figure, const std::string &key) {
  return find_published(context.study, figure, key) != nullptr;
}

Row published_row(const Context &context, const std::string &figure, const std::string &key) {
  Row row = evaluation::published_row(context.study, figure, key, context.command);
  row.ours.resize(kOursColumns);
  if (context.some_networks && row.paper && figure != "table3") {
    row.note = fmt::format("the paper's {:g} is of all its networks, not of these", *row.paper);
    row.paper.reset();
  }
  return row;
}

Row gain_row(const Context &context, const std::string &figure, const std::string &key, const Normalised &values) {
  Row row = published_row(context, figure, key);
  row.ours[kOursDescribed] = gain_percent(values.described);
  row.ours[kOursSearched] = gain_percent(values.searched);
  row.ours[kOursCrossed] = gain_percent(values.crossed);
  return row;
}

Chart network_chart(const Context &context, std::string name, std::string title, std::string axis,
                    std::vector<Series> series, std::optional<double> reference) {
  Chart chart{std::move(name),           std::move(title),  std::move(axis),
              context.workloads.names(), std::move(series), reference};
  chart.groups.emplace_back("mean");
  for (Series &s : chart.series)
    s.values.push_back(mean(s.values));
  return chart;
}

namespace {

/// The policy asked for, with cheaper spills, and those near the default.
std::vector<std::string> policies_near(const std::string &first) {
  std::vector<std::string> all{first, first + std::string(kHalfSpills), first + std::string(kFreeSpills)};
  for (const compiler::paper::Policy &policy : compiler::paper::policies_near_default())
    if (std::string text = to_string(policy); text != first) all.push_back(std::move(text));
  return all;
}

class IgoRepetition : public Repetition {
public:
  IgoRepetition(const Study &study, const Request &request)
      : study_(read_layer_study(study)), known_(study_.search.known), request_(request),
        policy_(to_string(compiler::paper::parse_policy(request.policy))), policies_(policies_near(policy_)),
        workloads_(study_, request.networks) {
    study_.search.anew = request.search || study_.search.known_file.empty();
    if (request.search) study_.search.known.clear();
  }

  Presentation presentation() const override {
    Presentation said;
    said.columns = {{"ours (a)", "ours (a)", "against_described_baseline"},
                    {"ours (b)", "ours (b)", "searched_against_searched_baseline"},
                    {"(a) over (b)", "(a) over b", "against_searched_baseline"}};
    said.purpose =
        "Each number of the paper beside the one that this compiler gets on the exact timing model of the NPU.";
    said.work = "evaluations of a layer";
    said.method = "A gain is the time saved, forward and backward pass, as the mean over the networks.";
    said.terms = {
        fmt::format("(a): the technique and the baseline both with the tiles, replacement and loop orders that "
                    "the paper describes, policy {}. What the paper leaves open is swept in the section on "
                    "policies.",
                    policy_),
        "(b): the technique and the sequential baseline both with tiles, loop orders and residency found by "
        "the compiler's search: the strongest baseline.",
        "(a) over (b): the technique as the paper describes it against the strongest baseline. A negative "
        "gain means that it is slower."};
    said.settings = {{"policy", policy_}};
    said.left_out = "Networks with one of these layers are left out of the averages that need it.";
    return said;
  }

  Figure figure(std::string_view id, Evaluations &evaluations, bool planning) const override {
    const Context context{study_,           workloads_,    evaluations,
                          planning,         policy_,       policies_,
                          request_.command, request_.seed, !request_.networks.empty()};
    for (const FigureMaker &maker : figure_makers())
      if (maker.id == id) return maker.make(context);
    throw std::logic_error(fmt::format("no figure '{}'", id));
  }

  /// The file of known plans with what was found, to take the place of the study's.
  std::vector<std::pair<std::string, std::string>> files(const std::vector<StepUnit> &steps,
                                                         Evaluations &results) const override {
    if (steps.empty()) return {};
    KnownSteps known = known_;
    for (const StepUnit &step : steps)
      if (const StepResult result = results.get(step); result.problem.empty())
        known[plans_key(step)] = {step.name, result.plans};
    return {{study_.search.known_file.empty() ? "steps.plans" : study_.search.known_file, plans_file_text(known)}};
  }

  const Workloads *workloads() const override { return &workloads_; }

private:
  LayerStudy study_;
  KnownSteps known_; ///< to the study
  Request request_;
  std::string policy_;
  std::vector<std::string> policies_;
  Workloads workloads_;
};

} // namespace

const std::vector<std::string_view> &figures() {
  static const std::vector<std::string_view> ids = [] {
    std::vector<std::string_view> all;
    for (const FigureMaker &maker : figure_makers())
      all.push_back(maker.id);
    return all;
  }();
  return ids;
}

std::unique_ptr<Repetition> open(const Study &study, const Request &request) {
  return std::make_unique<IgoRepetition>(study, request);
}

} // namespace gradweave::evaluation::igo
