#include "app/report/plan_report.hpp"

#include "app/report/energy/energy_report.hpp"
#include "app/report/summary.hpp"
#include "app/report/text_format.hpp"
#include "compiler/ir/image.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>

namespace gradweave::runtime {
namespace {

void print_bounds(std::FILE *out, const Totals &t) {
  fmt::print(
      out, "bounds     compute: the array steps of all products, {} cycles (column array: as a share of the cycles)\n",
      grouped(t.compute_bound));
  fmt::print(out, "           traffic: each tensor moved once, {} cycles (column tensors)\n", grouped(t.traffic_bound));
  fmt::print(out, "           the larger one of each layer, and what cannot overlap it: {} cycles\n", grouped(t.bound));
}

} // namespace

std::string bound_share(std::uint64_t bound, std::uint64_t cycles) {
  return bound == 0 || cycles == 0 ? "-" : percent(static_cast<double>(bound) / static_cast<double>(cycles));
}

void print_energies(std::FILE *out, const RunOptions &options, const RunResult &run) {
  std::vector<report::EnergyRow> rows;
  for (std::size_t s = 0; s < options.schedules.size(); ++s) {
    const Totals t = sum_layers(run, s);
    const std::string_view schedule = compiler::to_string(options.schedules[s]);
    rows.push_back({options.stream.empty() ? std::string(schedule) : "-", t.accesses, t.cycles});
  }
  fmt::print(out, "{}", report::energy_table(rows, options.config));
}

void commit_accelergy(report::AccelergyFiles &files, const RunOptions &options, const RunResult &run) {
  const Totals t = sum_layers(run, 0);
  files.commit(t.accesses, t.cycles, options.config);
}

void print_convolutions(std::FILE *out, const std::vector<compiler::Layer> &layers) {
  std::size_t images = 0, forward = 0, on_unit = 0;
  std::map<std::string_view, std::size_t> others; // by why they are none
  for (const compiler::Layer &layer : layers) {
    if (!layer.conv || layer.conv->is_pointwise()) continue;
    if (layer.image) {
      ++images;
      on_unit += layer.vector ? 1 : 0;
      continue;
    }
    if (layer.forward_image) {
      ++forward;
      continue;
    }
    const std::string_view reason = compiler::unreadable_image(*layer.conv);
    ++others[reason.empty() ? "less to do" : reason];
  }
  if (images + forward == 0 && others.empty()) return;
  std::string text = fmt::format("convolutions: {} read images", images);
  if (on_unit > 0) text += fmt::format(", {} of them on the vector unit", on_unit);
  if (forward > 0) text += fmt::format(", {} for Y alone", forward);
  for (const auto &[reason, count] : others)
    text += fmt::format("{} {} ({})", &reason == &others.begin()->first ? "; by im2col" : ",", count, reason);
  fmt::print(out, "{}\n", text);
}

std::string not_counted(const compiler::Network &network) {
  double left = 0, all = 0;
  std::string text;
  for (const auto &[op, count, multiply_adds] : network.other_products) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, op);
    left += multiply_adds;
  }
  if (text.empty()) return text;
  for (const compiler::Layer &layer : network.layers)
    all += compiler::macs(layer);
  return fmt::format("{}, {:.1f} % of the multiply-adds of a forward pass", text, 100 * left / (left + all));
}

void print_not_counted(std::FILE *out, const compiler::Network &network) {
  if (const std::string text = not_counted(network); !text.empty())
    fmt::print(out, "not counted: {}, and all that is no product; --step has the whole step\n", text);
}

void print_plans(std::FILE *out, const RunOptions &options, const RunResult &run) {
  const Totals base = sum_layers(run, 0);
  if (base.bound != 0) print_bounds(out, base); // a stream from a file has none
  if (options.compile.tune == 0) return;
  for (std::size_t s = 0; s < options.schedules.size(); ++s) {
    const Totals t = sum_layers(run, s);
    fmt::print(out,
               "tuning     {}: {} plans tried, {} of them simulated, {} improvements, {:.1f} s; {} cycles before, {} "
               "after ({}) = {} x bound\n",
               compiler::to_string(options.schedules[s]), grouped(t.tuning.candidates), grouped(t.tuning.simulated),
               t.tuning.improvements, t.tuning.seconds, grouped(t.tuning.cycles_before), grouped(t.predicted_cycles),
               ratio(t.predicted_cycles, t.tuning.cycles_before), ratio(t.predicted_cycles, t.bound));
  }
}

void print_end(std::FILE *out, const RunOptions &options, const RunResult &run) {
  if (!options.times.empty()) fmt::print(out, "times      {}\n", options.times);
  if (!options.timeline.empty()) fmt::print(out, "timeline   {}\n", options.timeline);
  fmt::print(out, "reproduce  {}\n", options.reproduce);
  if (!run.failures.empty()) fmt::print(out, "\n");
  for (const std::string &failure : run.failures)
    fmt::print(out, "error: {}\n", failure);
  const std::size_t jobs = options.layers.size() * options.schedules.size();
  fmt::print(out, "{}{}\n", verdict(run.outcome),
             run.kept == 0 ? std::string() : fmt::format(" ({} of {} jobs by an interrupted run)", run.kept, jobs));
  std::fflush(out);
}

} // namespace gradweave::runtime
