// `make bench`: how fast the RTL and the timing model simulate, on one thread, and what the timing model costs. Exit
// code 1 if the model differs from the RTL or a measurement fails. A missed target is only told: it may be the
// machine's.
//   gw_bench [TEXT]    only measurements that have TEXT in their name
#include "base/process/process_pool.hpp"
#include "base/process/progress.hpp"
#include "bench/section.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace {

using namespace gradweave;

struct Row {
  const bench::Section *section;
  bench::Measurement measurement;
};

class Bench {
public:
  /// Measurements whose name contains `text`.
  Bench(const std::vector<std::unique_ptr<bench::Section>> &sections, std::string_view text) {
    for (const auto &section : sections)
      for (bench::Measurement &m : section->measurements())
        if (m.name.find(text) != std::string::npos) rows_.push_back({section.get(), std::move(m)});
    if (rows_.empty()) throw std::invalid_argument(fmt::format("no measurement has '{}' in its name", text));
  }

  /// One measurement after the other: they must not disturb each other. Returns what is wrong.
  std::vector<std::string> run() {
    std::vector<Task> tasks;
    std::vector<double> weights;
    for (const Row &row : rows_) {
      tasks.push_back([&row](const auto &report_progress) { return row.measurement.measure(report_progress).dump(); });
      weights.push_back(row.measurement.seconds);
    }
    std::vector<std::size_t> order(rows_.size());
    std::iota(order.begin(), order.end(), 0);
    const SignalGuard signals;
    ProgressDisplay display(weights, false);
    PoolEvents events;
    events.progress = [&](std::size_t task, double fraction) { display.update(task, fraction); };
    events.tick = [&] { display.tick(); };
    events.ended = [&](std::size_t task, const TaskEnd &end) {
      display.finish(task, rows_[task].measurement.name);
      display.clear();
      print(task, end);
      return true;
    };
    run_tasks(tasks, order, 1, signals, events);
    return failures_;
  }
  const std::vector<std::string> &missed() const { return missed_; }

private:
  void print(std::size_t task, const TaskEnd &end) {
    const bench::Section &section = *rows_[task].section;
    if (task == 0 || rows_[task - 1].section != &section) {
      fmt::print("{}{}\n{}", task == 0 ? "" : "\n", section.title(), section.head());
      measured_.clear();
    }
    if (end.completed) {
      measured_.push_back(bench::Json::parse(end.result));
      fmt::print("{}", section.rows(measured_.back(), missed_));
    } else {
      failures_.push_back(fmt::format("{}: {}\n{}", rows_[task].measurement.name, end.problem, end.output));
    }
    if (task + 1 == rows_.size() || rows_[task + 1].section != &section)
      fmt::print("{}", section.conclusion(measured_));
    std::fflush(stdout);
  }

  std::vector<Row> rows_;
  std::vector<bench::Json> measured_; ///< of the section
  std::vector<std::string> failures_, missed_;
};

} // namespace

int main(int argc, char **argv) {
  try {
    std::vector<std::unique_ptr<bench::Section>> sections;
    for (const auto &make :
         {bench::rtl_section, bench::systems_section, bench::vector_section, bench::model_section,
          bench::network_section, bench::growth_section, bench::compile_section, bench::memory_section,
          bench::weave_section, bench::weave_search_section, bench::list_section, bench::flexer_section})
      sections.push_back(make());
    Bench whole(sections, argc > 1 ? argv[1] : "");
    const std::vector<std::string> failures = whole.run();
    for (const std::string &failure : failures)
      fmt::print(stderr, "{}\n", failure);
    for (const std::string &missed : whole.missed())
      fmt::print("missed: {}\n", missed);
    fmt::print("\n{}\n", failures.empty() ? "PASS: the model is exact in all runs" : "FAIL");
    return failures.empty() ? 0 : 1;
  } catch (const Interrupted &interrupted) {
    fmt::print(stderr, "{}\n", interrupted.what());
    return 130;
  } catch (const std::exception &error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
