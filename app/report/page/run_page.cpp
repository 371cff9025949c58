#include "app/report/page/run_page.hpp"

#include "app/report/page/sections.hpp"
#include "app/report/text_format.hpp"
#include "timeline_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace gradweave::report {
namespace {

using runtime::grouped;

/// So many rows a table has at most; the page says how many it leaves out.
constexpr std::size_t kTableRows = 300, kShownFailures = 20;

std::uint64_t number(const Json &json, const char *field) { return json.at(field).get<std::uint64_t>(); }
std::string text(const Json &json, const char *field) { return json.value(field, std::string()); }
std::string percent_of(const Json &json, const char *field) { return runtime::percent(json.at(field).get<double>()); }

std::string kilobytes(std::uint64_t bytes) { return grouped(bytes / 1000) + fmt::format(".{}", bytes % 1000 / 100); }

class RunPage {
public:
  explicit RunPage(const Json &report)
      : report_(report), npu_(report.at("npu")), stream_(report.contains("stream")),
        page_(title(report), kTimelineStyle) {
    for (const Json &totals : report.at("totals"))
      if (totals_ == nullptr || number(totals, "cycles") < number(*totals_, "cycles")) totals_ = &totals;
    if (totals_ == nullptr) return;
    layers_ = layers_of(report, text(*totals_, "schedule"));
    timed_ = number(*totals_, "cycles") != 0;
  }

  std::string write() {
    summary();
    if (report_.at("totals").size() > 1) schedules();
    if (!stream_ && timed_) add_roofline(page_, layers_, npu_);
    if (timed_) add_engine_time(page_, layers_, npu_);
    if (!stream_ && !layers_.empty()) {
      add_traffic(page_, layers_);
      add_ladder(page_, layers_);
    }
    if (timed_) add_energy(page_, *totals_, layers_);
    if (timed_) add_timeline(page_, layers_, npu_);
    table();
    return page_.finish();
  }

private:
  static std::string title(const Json &report) {
    return fmt::format("{} on {}", text(report, "network"), report.at("npu").at("name").get<std::string>());
  }

  void summary() {
    const std::string verdict = text(report_, "verdict");
    page_.verdict(verdict + checked(), verdict == "PASS");
    if (totals_ != nullptr) page_.facts(facts());
    page_.paragraph(what());
    page_.command(text(report_, "reproduce"));
    std::vector<std::string> failures = report_.at("failures").get<std::vector<std::string>>();
    if (failures.empty()) return;
    const std::size_t all = failures.size();
    failures.resize(std::min(all, kShownFailures));
    if (all > failures.size()) failures.push_back(fmt::format("and {} others", all - failures.size()));
    page_.heading("What went wrong", "failures");
    page_.list(failures);
  }

  /// What the verdict rests on.
  std::string checked() const {
    std::uint64_t elements = 0, differ = 0;
    for (const Json &layer : report_.at("layers"))
      for (const Json &output : layer.at("outputs")) {
        elements += number(output, "elements");
        differ += number(output, "mismatches");
      }
    if (elements == 0)
      return stream_ ? ": counters add up; the timing model has no data, so no result was compared"
                     : ": counters add up and are those of the plan; the timing model has no data, so no result was "
                       "compared";
    return differ == 0
               ? fmt::format(": every bit of {} elements equals the golden model's", grouped(elements))
               : fmt::format(": {} of {} elements differ from the golden model's", grouped(differ), grouped(elements));
  }

  std::vector<page::Fact> facts() const {
    const Json &t = *totals_;
    const std::uint64_t cycles = number(t, "cycles"), bound = number(t, "bound");
    std::vector<page::Fact> facts;
    if (cycles != 0) {
      facts = {
          {"cycles", grouped(cycles)},
          {fmt::format("at {:.6g} GHz", npu_.clock_ghz), fmt::format("{:.4g} ms", t.at("milliseconds").get<double>())},
          {"array in use", percent_of(t, "array_utilisation")},
          {"memory bandwidth in use", percent_of(t, "dram_utilisation")}};
      if (bound != 0) facts.push_back({"against the bound", runtime::ratio(cycles, bound) + " x"});
    } else {
      facts.push_back({"backend", text(report_, "backend") + ", no time"});
    }
    facts.push_back({"multiply-adds", runtime::human(static_cast<double>(number(t, "macs")))});
    if (!stream_)
      facts.push_back(
          {"read and written",
           runtime::human(static_cast<double>(number(t, "dram_read_bytes") + number(t, "dram_write_bytes"))) + "B"});
    if (t.contains("energy") && cycles != 0)
      facts.push_back({"energy", fmt::format("{:.4g} mJ", t.at("energy").at("total_pj").get<double>() / 1e9)});
    facts.push_back({"wall time of the run", fmt::format("{:.3g} s", report_.at("wall_seconds").get<double>())});
    return facts;
  }

  std::string what() const {
    std::string said = fmt::format("{}: {:.0f} x {:.0f} PEs{}, {}B of scratchpad, {:.6g} GB/s. ", npu_.name, npu_.rows,
                                   npu_.cols, npu_.cores > 1 ? fmt::format(" in each of {:.0f} cores", npu_.cores) : "",
                                   runtime::human(report_.at("npu").at("spm_bytes").get<double>()), npu_.dram_gb_s);
    if (stream_)
      return said + "The commands of " + text(report_, "stream") + " on the timing model, which is equal to the RTL.";
    said += fmt::format("{} of {} layers, {} pass, schedule {}; backend {}, data {}, seed {}.", layers_.size(),
                        number(report_, "network_layers"), text(report_, "pass"),
                        totals_ == nullptr ? "none" : text(*totals_, "schedule"), text(report_, "backend"),
                        text(report_, "data"), number(report_, "seed"));
    if (const Json &left = report_.at("not_counted").at("text"); !left.get<std::string>().empty())
      said += fmt::format(" Not counted: {}, and all that is no product; --step has the whole step.",
                          left.get<std::string>());
    if (report_.at("totals").size() > 1) said += " Numbers and drawings are of the fastest schedule.";
    return said;
  }

  void schedules() {
    page::Table all{"", {"schedule", "cycles", "ms", "array", "DRAM", "x bound", "bytes", "against the first"}, {}};
    for (const Json &t : report_.at("totals"))
      all.rows.push_back(
          {text(t, "schedule"), grouped(number(t, "cycles")), fmt::format("{:.6f}", t.at("milliseconds").get<double>()),
           percent_of(t, "array_utilisation"), percent_of(t, "dram_utilisation"),
           runtime::ratio(number(t, "cycles"), number(t, "bound")),
           grouped(number(t, "dram_read_bytes") + number(t, "dram_write_bytes")),
           t.contains("cycles_ratio") ? fmt::format("{:.3f}", t.at("cycles_ratio").get<double>()) : "-"});
    using page::CellKind;
    page_.heading("Schedules", "schedules");
    page_.table(all, {{CellKind::kText, CellKind::kNumber, CellKind::kNumber, CellKind::kNumber, CellKind::kNumber,
                       CellKind::kNumber, CellKind::kNumber, CellKind::kNumber},
                      true});
  }

  std::vector<std::string> row(const Json &layer) const {
    std::vector<std::string> cells{layer.at("index").dump(), text(layer, "name")};
    const std::uint64_t cycles = number(layer, "cycles");
    if (!stream_) {
      std::string shape = fmt::format("{}x{}x{}", number(layer, "m"), number(layer, "k"), number(layer, "n"));
      if (number(layer, "groups") > 1) shape += fmt::format(" x{}", number(layer, "groups"));
      const std::string asked = text(layer, "schedule"), chosen = text(layer, "chosen_schedule");
      cells.insert(cells.end(), {shape, asked == chosen ? asked : asked + ">" + chosen});
    }
    if (timed_)
      cells.insert(cells.end(),
                   {grouped(cycles), percent_of(layer, "array_utilisation"), percent_of(layer, "dram_utilisation")});
    if (!stream_) {
      std::uint64_t read = 0, write = 0, spilled = 0;
      for (const auto &[name, tensor] : layer.at("dram").items()) {
        read += number(tensor, "read_bytes");
        write += number(tensor, "write_bytes");
        spilled += number(tensor, "spill_read_bytes") + number(tensor, "spill_write_bytes");
      }
      cells.push_back(grouped(number(layer, "bound")));
      if (timed_) cells.push_back(runtime::ratio(cycles, number(layer, "bound")));
      cells.insert(cells.end(), {kilobytes(read), kilobytes(write), kilobytes(spilled)});
    }
    cells.insert(cells.end(), {grouped(number(layer, "commands")), text(layer, "outcome")});
    return cells;
  }

  void table() {
    std::vector<const Json *> all;
    for (const Json &layer : report_.at("layers"))
      all.push_back(&layer);
    if (all.empty()) return;
    page_.heading("Layers", "layers");
    if (all.size() > kTableRows) {
      page_.paragraph(
          fmt::format("Left out to keep this page small: all but the {} slowest of {} rows. --json has all.",
                      kTableRows, grouped(all.size())),
          "soft");
      slowest_first(all, "cycles");
      all.resize(kTableRows);
    }
    using page::CellKind;
    page::Table table{"", {"#", "layer"}, {}};
    page::TableForm form{{CellKind::kNumber, CellKind::kText}, true};
    const auto column = [&](const char *name, CellKind kind) {
      table.columns.emplace_back(name);
      form.kinds.push_back(kind);
    };
    if (!stream_) {
      column("M x K x N", CellKind::kText);
      column("schedule", CellKind::kText);
    }
    if (timed_)
      for (const char *name : {"cycles", "array", "DRAM"})
        column(name, CellKind::kNumber);
    if (!stream_) {
      column("bound", CellKind::kNumber);
      if (timed_) column("x bound", CellKind::kNumber);
      for (const char *name : {"kB read", "kB written", "kB spilled"})
        column(name, CellKind::kNumber);
    }
    column("commands", CellKind::kNumber);
    column("outcome", CellKind::kText);
    for (const Json *layer : all)
      table.rows.push_back(row(*layer));
    page_.paragraph("A click on a column's head sorts by it.", "soft");
    page_.table(table, form);
  }

  const Json &report_;
  NpuFacts npu_;
  bool stream_;
  const Json *totals_ = nullptr; ///< of the fastest schedule
  std::vector<const Json *> layers_;
  bool timed_ = false; ///< the backend has time
  page::Document page_;
};

} // namespace

std::string run_page(const Json &report) { return RunPage(report).write(); }

} // namespace gradweave::report
