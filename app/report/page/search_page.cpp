#include "app/report/page/search_page.hpp"

#include "app/page/bar_rows.hpp"
#include "app/page/document.hpp"
#include "app/page/plot.hpp"
#include "app/report/page/layer_data.hpp"
#include "app/report/text_format.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::report {
namespace {

constexpr std::size_t kSearchRows = 1000;

std::uint64_t whole(const Json &json, const char *field) { return json.at(field).get<std::uint64_t>(); }
std::string times(std::uint64_t cycles, std::uint64_t bound) { return runtime::ratio(cycles, bound) + " x"; }

class SearchPage {
public:
  explicit SearchPage(const Json &report)
      : report_(report), page_(fmt::format("{} on {}: search", report.at("network").get<std::string>(),
                                           report.at("npu").get<std::string>())),
        unit_(report.at("cost_unit").get<std::string>()) {}

  std::string write() {
    summary();
    falls();
    layers();
    table();
    return page_.finish();
  }

private:
  /// What the paper, the conventional or the searched plans cost.
  std::uint64_t cost(const Json &of, const char *plans) const {
    return whole(of, fmt::format("{}_{}", plans, report_.at("objective") == "cycles" ? "cycles" : "cost").c_str());
  }

  void summary() {
    const std::uint64_t step = whole(report_, "step_cycles"), bound = whole(report_, "step_bound_cycles");
    if (report_.contains("check")) check(report_.at("check"));
    page_.facts({{"cycles of the step", runtime::grouped(step)},
                 {"its bound", runtime::grouped(bound)},
                 {"against the bound", times(step, bound)},
                 {"paper, layer by layer", runtime::grouped(cost(report_, "paper"))},
                 {"conventional, layer by layer", runtime::grouped(cost(report_, "conventional"))},
                 {"searched, layer by layer", runtime::grouped(cost(report_, "searched"))},
                 {"plans tried", runtime::grouped(whole(report_.at("step_effort"), "plans_tried"))},
                 {"of them simulated", runtime::grouped(whole(report_.at("step_effort"), "simulated"))}});
    page_.paragraph(
        fmt::format("{} layers, {}, searched for the least {}. The step is all of them in one stream; cycles "
                    "are those of the exact timing model.",
                    report_.at("layers").size(), report_.at("pass").get<std::string>(), unit_));
    page_.command(report_.at("reproduce").get<std::string>());
  }

  void check(const Json &check) {
    std::uint64_t elements = 0;
    for (const Json &output : check.at("outputs"))
      elements += whole(output, "elements");
    const auto outcome = check.at("outcome").get<std::string>();
    page_.verdict(outcome == "pass"
                      ? fmt::format("PASS: the step ran, {} elements compared", runtime::grouped(elements))
                      : "FAIL: " + outcome,
                  outcome == "pass");
    page_.list(check.at("failures").get<std::vector<std::string>>());
  }

  /// A stair down from what the search began with.
  void falls() {
    const Json &falls = report_.at("step_falls");
    if (falls.size() < 2) return;
    const DrawnUnit unit = unit_of_count(falls.front().at("cost").get<double>(), unit_);
    page::Plot plot{"falls", "Best step so far", "changes simulated", unit.name, false, {}, false};
    page::Plot::Points line{"best step so far", {}, {}};
    for (const Json &fall : falls) {
      const auto simulated = fall.at("simulated").get<double>(), cost = fall.at("cost").get<double>() / unit.size;
      if (!line.x.empty()) {
        line.x.push_back(simulated);
        line.y.push_back(line.y.back());
      }
      line.x.push_back(simulated);
      line.y.push_back(cost);
    }
    const double end = std::max(line.x.back(), report_.at("step_simulated").get<double>());
    line.x.push_back(end);
    line.y.push_back(line.y.back());
    plot.series.push_back(std::move(line));
    page_.heading("How the search went", "falls");
    page_.figure(draw(plot, page_.next_drawing()),
                 fmt::format("Changes of the whole step that the timing model judged, of the beginning that the result "
                             "comes from: {} improvements, {} to {} {}.",
                             falls.size() - 1, runtime::grouped(whole(falls.front(), "cost")),
                             runtime::grouped(whole(falls.back(), "cost")), unit_));
  }

  void layers() {
    std::vector<const Json *> chosen;
    for (const Json &layer : report_.at("layers"))
      chosen.push_back(&layer);
    slowest_first(chosen, report_.at("objective") == "cycles" ? "searched_cycles" : "searched_cost");
    chosen.resize(std::min(chosen.size(), kDrawnLayers));
    page::BarRows chart{"Layers", "1000 " + unit_, {"paper", "conventional", "searched"}, {}};
    for (const Json *layer : chosen) {
      const auto thousands = [&](const char *plans) { return static_cast<double>(cost(*layer, plans)) / 1000; };
      const double bound = static_cast<double>(whole(*layer, "bound_cycles")) / 1000;
      chart.rows.push_back({layer->at("name").get<std::string>(),
                            {{"paper", {thousands("paper")}, bound},
                             {"conventional", {0, thousands("conventional")}, bound},
                             {"searched", {0, 0, thousands("searched")}, bound}},
                            times(cost(*layer, "searched"), whole(*layer, "bound_cycles"))});
    }
    page_.heading("Layers", "layers");
    page_.figure(
        draw(chart, page_.next_drawing()),
        "Each layer by itself: the paper's scheme on its own tiling, the fastest conventional plan, the fastest "
        "searched one, which has its cycles against the bound beside it; the mark is the bound." +
            which_are_drawn(report_.at("layers").size(), kDrawnLayers));
  }

  void table() {
    page::Table table{
        "",
        {"layer", "M x K x N", "bound", "paper", "conventional", "searched", "x bound", "order", "plan in the step"},
        {}};
    for (const Json &layer : report_.at("layers")) {
      if (table.rows.size() == kSearchRows) break;
      const std::uint64_t bound = whole(layer, "bound_cycles"), searched = cost(layer, "searched");
      table.rows.push_back({layer.at("name").get<std::string>(),
                            fmt::format("{}x{}x{}{}", whole(layer, "m"), whole(layer, "k"), whole(layer, "n"),
                                        whole(layer, "groups") > 1 ? fmt::format(" x{}", whole(layer, "groups")) : ""),
                            runtime::grouped(bound), runtime::grouped(cost(layer, "paper")),
                            runtime::grouped(cost(layer, "conventional")), runtime::grouped(searched),
                            runtime::ratio(searched, bound), layer.at("order").get<std::string>(),
                            layer.at("step_plan").get<std::string>()});
    }
    if (table.rows.size() < report_.at("layers").size())
      page_.paragraph(fmt::format("The first {} layers; --json has all.", table.rows.size()), "soft");
    using page::CellKind;
    page_.table(table, {{CellKind::kText, CellKind::kText, CellKind::kNumber, CellKind::kNumber, CellKind::kNumber,
                         CellKind::kNumber, CellKind::kNumber, CellKind::kText, CellKind::kText},
                        true});
  }

  const Json &report_;
  page::Document page_;
  std::string unit_;
};

} // namespace

std::string search_page(const Json &report) { return SearchPage(report).write(); }

} // namespace gradweave::report
