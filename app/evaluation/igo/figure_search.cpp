// Whole training steps: searched schedules against the paper's scheme, the strongest conventional one, and bounds.
#include "app/evaluation/igo/figure_support.hpp"
#include "compiler/cost/image_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

namespace gradweave::evaluation::igo {
namespace {

/// A step that keeps the array or the memory busy for so much of its time waits for nothing else.
constexpr double kBusy = 0.9;

double share(std::uint64_t part, std::uint64_t of) { return static_cast<double>(part) / static_cast<double>(of); }

double percent_saved(double cycles, double than) { return 100 * (1 - cycles / than); }

/// What keeps the step from being faster.
std::string binding(const StepResult &r) {
  const double array = share(r.array, r.step), memory = share(r.memory, r.step);
  if (array >= memory) return array >= kBusy ? "multiply-adds" : "multiply-adds, and waiting for operands and sums";
  const std::string traffic = share(r.traffic_bound, r.memory) >= kBusy ? "compulsory traffic" : "scratchpad size";
  return memory >= kBusy ? traffic : traffic + ", and waiting for operands and sums";
}

std::string effort(std::uint64_t tried, std::uint64_t bursts) {
  return fmt::format("{} plans, {:.0f} M bursts", tried, static_cast<double>(bursts) / 1e6);
}

/// A network's numbers in percent.
struct Gains {
  std::vector<double> paper, conventional, limit, above_bound;
};

/// `paper`: cycles of the paper's scheme.
void add_network(Gains &gains, Table &table, const StepResult &r, double paper, const Workload &workload,
                 const std::string &command) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const bool known = r.problem.empty();
  const auto cycles = static_cast<double>(r.step), conventional = static_cast<double>(r.conventional);
  const auto bound = static_cast<double>(std::max(r.compute_bound, r.traffic_bound));
  gains.paper.push_back(known ? percent_saved(cycles, paper) : kNone);
  gains.conventional.push_back(known ? percent_saved(cycles, conventional) : kNone);
  gains.limit.push_back(known ? percent_saved(bound, conventional) : kNone);
  gains.above_bound.push_back(known ? 100 * r.above_bound : kNone);
  if (!known) {
    std::vector<std::string> line(table.columns.size(), "-");
    line.front() = workload.name;
    line.back() = command;
    table.rows.push_back(std::move(line));
    return;
  }
  const auto percent = [](double value) { return fmt::format("{:.1f}", value); };
  const auto of_step = [&](std::uint64_t part) { return percent(100 * share(part, r.step)); };
  table.rows.push_back(
      {workload.name, fmt::format("{:.0f}", paper), std::to_string(r.conventional), std::to_string(r.searched),
       std::to_string(r.step), percent(gains.paper.back()), percent(gains.conventional.back()),
       percent(gains.limit.back()), percent(gains.above_bound.back()), of_step(r.compute_bound),
       of_step(r.traffic_bound), of_step(r.array), of_step(r.memory), binding(r),
       effort(r.conventional_tried, r.conventional_bursts), effort(r.step_tried, r.step_bursts), command});
}

std::string model_of(const LayerStudy &study, const std::string &network, bool large) {
  for (const StudyNetwork &n : study.networks)
    if (n.name == network) return large ? n.large : n.small;
  throw std::logic_error("no such network");
}

Row target_row(const Context &context, const std::string &key, std::string text, double target, bool at_most = false) {
  Row row = published_row(context, "search", key);
  row.text = std::move(text);
  row.unit = "%";
  row.note = fmt::format("target: at {} {} %", at_most ? "most" : "least", target);
  return row;
}

/// The layers with convolutions over images; none if no layer reads one.
std::vector<compiler::Layer> with_images(std::vector<compiler::Layer> layers, const Machine &npu) {
  if (compiler::read_images(layers, compiler::Pass::kBoth, npu) == 0) layers.clear();
  return layers;
}

/// The step with what is known of it; nothing if it is not known, and not to be searched.
std::optional<StepUnit> known_unit(const StepSearch &search, StepUnit unit) {
  const auto at = search.known.find(plans_key(unit));
  if (at == search.known.end()) return search.anew ? std::optional(std::move(unit)) : std::nullopt;
  unit.plans = at->second.text;
  unit.place = at->second.place;
  const StepEffort effort = effort_of(unit.plans);
  unit.effort.layer_plans = effort.layer_plans;
  unit.effort.step_plans = effort.step_plans;
  unit.effort.start = effort.start;
  return unit;
}

/// What searches it anew.
std::string search_command(const SearchEffort &effort, const std::string &work, bool images) {
  return fmt::format("gradweave search {} --plans {} --step-plans {}{}{}", work, effort.layer_plans, effort.step_plans,
                     effort.start == compiler::StepStart::kPlacement ? " --start placement" : "",
                     images ? "" : " --convolution im2col");
}

/// Steps of all networks over im2col, or of those with `images` over these, as a table; their numbers are in `gains`,
/// too. What is not known of them and would take long is in `notes`.
Table step_table(const Context &context, bool large, bool images, Gains &gains, std::vector<std::string> &notes) {
  const Setting setting = large ? context.workloads.large() : context.workloads.small();
  Table table{fmt::format("Cycles of a training step{}, {} NPU; the last shares are of the step's time",
                          images ? " over images" : "", large ? "large" : "small"),
              {"network", "paper's scheme", "conventional, searched", "layers, searched", "step",
               "saved over paper's, %", "saved over conventional, %", "most that can be, %", "layers above bound, %",
               "compute bound, %", "traffic bound, %", "array busy, %", "memory busy, %", "what binds",
               "tried for conventional", "tried for the step", "command"},
              {}};
  const Costs costs = costs_of(context, setting, context.policy);
  for (const Workload &workload : context.workloads.at(setting)) {
    const std::vector<compiler::Layer> layers =
        images ? with_images(workload.network.layers, setting.npu) : workload.network.layers;
    if (layers.empty()) continue;
    const std::string model = model_of(context.study, workload.name, large);
    const std::string npu = large ? context.study.large_npus.front() : context.study.small_npu;
    const std::optional<StepUnit> unit =
        known_unit(context.study.search,
                   {layers, setting.npu, context.study.search.effort, "",
                    fmt::format("{} on {}, batch {}, {}", model, npu, setting.batch, images ? "images" : "im2col")});
    const std::string command =
        search_command(unit ? unit->effort : context.study.search.effort,
                       fmt::format("--model {} --npu {} --batch {}", model, npu, setting.batch), images);
    const double paper_cycles = costs.cycles(workload, Technique::kPartition);
    StepResult result;
    if (unit) {
      result = context.evaluations.get(*unit);
    } else {
      result.problem = "not known";
      notes.push_back(fmt::format("{} ({}): nobody has searched this step; --search does.", workload.name, npu));
    }
    add_network(gains, table, result, paper_cycles, workload, command);
  }
  return table;
}

void add_npu(Figure &figure, const Context &context, bool large) {
  const StepSearch &search = context.study.search;
  const std::string size = large ? "large" : "small";
  Gains gains;
  Table table = step_table(context, large, false, gains, figure.notes);
  Row paper = target_row(context, size + ".paper", "Whole step against the paper's scheme on its own tiling, " + size,
                         large ? search.large_paper : search.small_paper);
  paper.ours[kOursDescribed] = mean(gains.paper);
  Row conventional =
      target_row(context, size + ".conventional", "Whole step against the searched conventional schedule, " + size,
                 large ? search.large_conventional : search.small_conventional);
  conventional.ours[kOursSearched] = mean(gains.conventional);
  conventional.note += fmt::format("; no schedule can reach more than {:.1f} %", mean(gains.limit));
  Row above = target_row(context, size + ".above_bound", "Searched layers above their lower bounds, " + size,
                         search.above_bound, true);
  above.ours[kOursSearched] = mean(gains.above_bound);
  figure.rows.insert(figure.rows.end(), {std::move(paper), std::move(conventional), std::move(above)});
  figure.charts.push_back(network_chart(context, "search-" + size,
                                        fmt::format("Time saved by the whole step, {} NPU", size), "time saved, %",
                                        {{"over the paper's scheme", std::move(gains.paper)},
                                         {"over the searched conventional schedule", std::move(gains.conventional)},
                                         {"the most that any schedule can", std::move(gains.limit)}},
                                        std::nullopt));
  figure.tables.push_back(std::move(table));
}

} // namespace

Figure images(const Context &context) {
  Figure figure;
  figure.id = "images";
  figure.title = "Images: whole training steps without im2col";
  figure.method =
      "As the section on search, for the networks of which some convolutions read images where they lie "
      "(docs/convolution.md) as they do unless told otherwise. The paper's scheme goes by im2col here, too.";
  for (const bool large : {false, true}) {
    Gains gains;
    figure.tables.push_back(step_table(context, large, true, gains, figure.notes));
  }
  return figure;
}

Figure search(const Context &context) {
  Figure figure;
  figure.id = "search";
  figure.title = "Search: whole training steps";
  figure.method =
      "Forward and backward passes of all layers in one stream, searched (docs/search.md). (a): over the paper's "
      "scheme with Algorithm 1 and the best partitioning on its own tiling, layer by layer; (b): over the fastest "
      "searched plans that compute dX, then dW, whose search simulated as many bursts and commands as that for the "
      "step. Plans that a search found before are placed, compiled, verified and timed again; the command beside each "
      "is that search, and --search searches all. "
      "Averages are means over the networks; that above the bounds is first taken over "
      "the layers of each, but those of several groups, whose bounds assume one group a command.";
  for (const bool large : {false, true})
    add_npu(figure, context, large);
  figure.notes.emplace_back(
      "What binds: the busier of array and memory. Memory is bound by compulsory traffic if its bound "
      "(docs/search.md) is nine tenths of the time that its transfers take, else by the size of the scratchpad, "
      "for which tensors are moved again.");
  return figure;
}

} // namespace gradweave::evaluation::igo
