#include "app/report/page/training_page.hpp"

#include "app/page/bar_rows.hpp"
#include "app/page/document.hpp"
#include "app/page/line_chart.hpp"
#include "app/report/page/layer_data.hpp"
#include "app/report/text_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradweave::report {
namespace {

/// So many losses a drawing shows; of more, means of as many in a row as it takes.
constexpr std::size_t kDrawnLosses = 4000;
constexpr std::size_t kMeanOver = 20, kMeansFrom = 100, kLossRows = 40;

class TrainingPage {
public:
  explicit TrainingPage(const Json &report)
      : report_(report), page_(fmt::format("{}: training", report.at("model").get<std::string>())) {
    for (const Json &loss : report.at("losses"))
      losses_.push_back(loss.is_number() ? loss.get<double>() : std::nan(""));
  }

  std::string write() {
    summary();
    losses();
    shares();
    table();
    return page_.finish();
  }

private:
  std::string word(const char *field) const { return report_.at(field).get<std::string>(); }
  double real(const char *field) const { return report_.at(field).get<double>(); }
  bool has_device() const { return word("backend") != "golden"; }
  /// The NPU ran whole steps.
  bool alone() const { return has_device() && report_.at("step").at("host_ops").get<std::uint64_t>() == 0; }

  void summary() {
    const bool good = word("verdict") == "pass";
    const Json &compared = report_.at("compared");
    const auto elements = compared.at("elements").get<std::uint64_t>();
    if (has_device())
      page_.verdict(
          good ? elements == 0
                     ? std::string("PASS: counters add up; the timing model has no data, so no result was compared")
                     : fmt::format("PASS: {} elements of all steps compared with a golden execution, every bit equal",
                                   runtime::grouped(elements))
               : "FAIL: a step differs from the golden execution",
          good);
    std::vector<page::Fact> facts{{"steps", runtime::grouped(losses_.size())}};
    if (!losses_.empty()) {
      facts.push_back({"loss, first step", fmt::format("{:.4f}", losses_.front())});
      facts.push_back({"loss, last step", fmt::format("{:.4f}", losses_.back())});
    }
    if (report_.contains("test"))
      facts.push_back(
          {"accuracy on test images", fmt::format("{:.2f} %", 100 * report_.at("test").at("accuracy").get<double>())});
    if (const auto cycles = report_.at("step").at("cycles").get<std::uint64_t>(); cycles != 0)
      facts.push_back({alone() ? "cycles of a step" : "cycles of products, a step", runtime::grouped(cycles)});
    facts.push_back({"wall time of the steps", fmt::format("{:.3g} s", real("seconds"))});
    page_.facts(facts);
    page_.paragraph(fmt::format("Data {}, batch {}, {} with a rate of {:.6g} ({}), seed {}; products {}.", word("data"),
                                report_.at("batch").get<std::uint64_t>(), word("optimizer"), real("rate"),
                                word("rate_schedule"), report_.at("seed").get<std::uint64_t>(),
                                has_device() ? fmt::format("on {} ({})", word("npu"), word("backend"))
                                             : std::string("on the host, by their golden definition")));
    page_.command(word("reproduce"));
    difference();
  }

  void difference() {
    std::vector<std::string> wrong = report_.value("failures", std::vector<std::string>());
    if (report_.contains("difference")) {
      const Json &d = report_.at("difference");
      wrong.push_back(fmt::format("step {}, op {}, tensor {}, element {}: {} instead of {}; {} of {} elements differ",
                                  d.at("step").dump(), d.at("op").dump(), d.at("tensor").dump(), d.at("element").dump(),
                                  d.at("got").dump(), d.at("golden").dump(), d.at("differing").dump(),
                                  d.at("elements").dump()));
    }
    if (wrong.empty()) return;
    page_.heading("What went wrong", "failures");
    page_.list(wrong);
  }

  void losses() {
    if (losses_.size() < 2) return;
    const std::size_t apart = (losses_.size() - 1) / kDrawnLosses + 1;
    page::LineChart chart{"Loss", "loss", {}, 1};
    for (std::size_t i = 0; i < losses_.size(); i += apart) {
      double sum = 0;
      const std::size_t end = std::min(losses_.size(), i + apart);
      for (std::size_t j = i; j < end; ++j)
        sum += losses_[j];
      chart.values.push_back(sum / static_cast<double>(end - i));
    }
    if (chart.values.size() >= kMeansFrom) chart.mean_over = kMeanOver;
    page_.heading("Loss", "loss");
    page_.figure(draw(chart, page_.next_drawing()),
                 fmt::format("The loss of each step{}{}.",
                             apart > 1 ? fmt::format(", {} steps a point", apart) : std::string(),
                             chart.mean_over > 1 ? fmt::format("; thick: the mean of {} points", kMeanOver) : ""));
  }

  void shares() {
    const Json &step = report_.at("step");
    const auto row = [&](const char *name, const char *device, const char *host) {
      const auto on_device = step.at(device).get<double>(), on_host = step.at(host).get<double>();
      const double all = std::max(1.0, on_device + on_host);
      return page::BarRows::Row{
          name, {{{}, {100 * on_device / all, 100 * on_host / all}, {}}}, runtime::human(on_device + on_host)};
    };
    page::BarRows chart{"Shares of a step", "%", {"NPU", "host"}, {}};
    chart.rows = {row("multiply-adds of products", "device_multiply_adds", "host_multiply_adds"),
                  row("bytes of operands and results", "device_bytes", "host_bytes"),
                  row("ops", "device_ops", "host_ops")};
    page_.heading("What ran where", "shares");
    page_.figure(draw(chart, page_.next_drawing()),
                 alone() ? std::string("Of the last step, which the NPU ran alone.")
                         : fmt::format("Of the last step. Operators that are no products run on the host: {} fp32 "
                                       "operations.",
                                       runtime::human(step.at("host_operations").get<double>())));
  }

  void table() {
    if (losses_.empty()) return;
    page::Table table{"Losses, a step now and then", {"step", "loss"}, {}};
    const std::size_t apart = (losses_.size() - 1) / kLossRows + 1;
    for (std::size_t i = 0; i < losses_.size(); i += apart)
      table.rows.push_back({runtime::grouped(i + 1), fmt::format("{:.6f}", losses_[i])});
    if ((losses_.size() - 1) % apart != 0)
      table.rows.push_back({runtime::grouped(losses_.size()), fmt::format("{:.6f}", losses_.back())});
    page_.heading("Steps", "steps");
    page_.table(table, {{page::CellKind::kNumber, page::CellKind::kNumber}, true});
  }

  const Json &report_;
  std::vector<double> losses_;
  page::Document page_;
};

} // namespace

std::string training_page(const Json &report) { return TrainingPage(report).write(); }

} // namespace gradweave::report
