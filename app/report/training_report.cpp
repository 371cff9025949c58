#include "app/report/training_report.hpp"

#include "app/report/text_format.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>

namespace gradweave::runtime::train {
namespace {

constexpr std::uint64_t kRows = 20; ///< about as many steps are told

double mean_of(const std::vector<double> &values, std::size_t first, std::size_t count) {
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
  return std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(count), 0.0) / static_cast<double>(count);
}

std::string share_of(double part, double rest) { return part + rest == 0 ? "-" : percent(part / (part + rest)); }

std::string optimizer_text(const TrainingRun &run) {
  const graph::TrainingOptions &o = run.options;
  std::string text = fmt::format("{}, rate {} {}", to_string(o.optimizer), run.rate.rate, to_string(run.rate.form));
  if (run.rate.warmup > 0) text += fmt::format(", {} steps of warm-up", run.rate.warmup);
  text += fmt::format(", weight decay {}", o.weight_decay);
  if (o.optimizer == graph::OptimizerKind::kSgd) text += fmt::format(", momentum {}", o.momentum);
  if (o.clip_norm > 0) text += fmt::format(", gradients clipped to {}", o.clip_norm);
  if (o.accumulate > 1) text += fmt::format(", {} micro-batches a step", o.accumulate);
  if (o.sparse_embeddings) text += ", embeddings by row";
  return text;
}

/// Of the products of convolutions.
std::size_t streams_over_images(const ProductPlan &plan) {
  return static_cast<std::size_t>(
      std::count_if(plan.passes.begin(), plan.passes.end(), [](const ProductPass &pass) { return pass.layer.image; }));
}

} // namespace

void TrainingReport::begin(std::uint64_t steps, std::uint64_t before) {
  steps_ = steps;
  fmt::print(out_, "{}: {} parameters, {} ops a step\n", forward_.name, grouped(graph::count_parameters(forward_)),
             step_.graph.ops.size());
  for (const std::string &note : forward_.notes)
    fmt::print(out_, "note       {}\n", note);
  fmt::print(out_, "data       {}{}, seed {}\n", run_.data,
             run_.batch > 0 ? fmt::format(", batches of {}", run_.batch) : "", run_.seed);
  if (run_.options.extent == graph::Extent::kUpdates) fmt::print(out_, "optimizer  {}\n", optimizer_text(run_));
  if (executor_.runs_operators())
    fmt::print(out_,
               "step       one stream on {} ({}): {} products, {} of them over images, and all other ops on its vector "
               "unit; compiled in {:.2f} s\n",
               run_.npu, run_.backend, executor_.plan().passes.size(), streams_over_images(executor_.plan()),
               executor_.compile_seconds());
  else if (executor_.has_device())
    fmt::print(out_,
               "products   {} streams a step on {} ({}), {} of them over images, compiled in {:.2f} s; all else on "
               "the host{}\n",
               executor_.plan().passes.size(), run_.npu, run_.backend, streams_over_images(executor_.plan()),
               executor_.compile_seconds(), run_.why_host.empty() ? "" : ": " + run_.why_host);
  else
    fmt::print(out_, "products   golden, as all else\n");
  if (run_.jobs > 1)
    fmt::print(
        out_,
        "           {} steps at a time, each on an NPU of its own, from golden values to what the next one began "
        "with\n",
        run_.jobs);
  if (before > 0) fmt::print(out_, "resumed    behind step {} of {}\n", before, steps);
  fmt::print(out_, "\n{:>8} {:>12} {:>12}{}\n", "step", "rate", "loss",
             executor_.has_device() ? fmt::format(" {:>12} {:>14}", "cycles", "elements equal") : "");
  std::fflush(out_);
}

void TrainingReport::step(std::uint64_t number, double rate, const StepResult &result) {
  const std::uint64_t every = std::max<std::uint64_t>(1, steps_ / kRows);
  if (number != 1 && number != steps_ && number % every != 0 && result.ok()) return;
  fmt::print(out_, "{:>8} {:>12.6g} {:>12.6f}", number, rate, result.loss());
  if (executor_.has_device())
    fmt::print(out_, " {:>12} {:>14}", result.products.cycles == 0 ? "-" : grouped(result.products.cycles),
               result.ok() ? grouped(result.elements) : "DIFFER");
  fmt::print(out_, "\n");
  std::fflush(out_);
}

void TrainingReport::shares(const TrainingOutcome &outcome) {
  const Shares &s = outcome.last.shares;
  fmt::print(out_, "\na step     {} multiply-adds in products: {} on {}, {} on the host\n",
             human(s.device_multiply_adds + s.host_multiply_adds),
             share_of(s.device_multiply_adds, s.host_multiply_adds), run_.npu,
             share_of(s.host_multiply_adds, s.device_multiply_adds));
  if (executor_.runs_operators())
    fmt::print(out_, "           {} fp32 operations of all other ops, on {}; the host does nothing until the end\n",
               human(s.device_operations), run_.npu);
  else
    fmt::print(out_, "           {} fp32 operations of {} other ops, on the host by their golden definition\n",
               human(s.host_operations), s.host_ops);
  fmt::print(out_, "           {} B of operands and results of ops: {} of ops on {}, {} of ops on the host\n",
             human(s.device_bytes + s.host_bytes), share_of(s.device_bytes, s.host_bytes), run_.npu,
             share_of(s.host_bytes, s.device_bytes));
  const ProductTotals &p = outcome.last.products;
  std::string cycles;
  if (p.cycles != 0) {
    cycles = fmt::format("; {} cycles", grouped(p.cycles));
    if (outcome.last.device_seconds > 0)
      cycles += fmt::format(", simulated in {:.2f} s", outcome.last.device_seconds);
    else if (!executor_.runs_operators())
      cycles += " of products";
  }
  fmt::print(out_, "           {} commands; {} B read and {} B written in device memory{}\n", grouped(p.commands),
             human(double(p.read_bytes)), human(double(p.write_bytes)), cycles);
  for (const HostProduct &host : executor_.plan().host)
    fmt::print(out_, "           product '{}' is the host's: {}\n", step_.graph.ops[host.op].name, host.reason);
}

/// Of a step that is one stream: where its cycles went.
void TrainingReport::cycles(const StepCycles &c, std::uint64_t all) {
  const auto share = [all](std::uint64_t part) {
    return percent(static_cast<double>(part) / static_cast<double>(all));
  };
  fmt::print(out_, "busy       array {}, memory {}, vector unit {} of the cycles; vector unit alone {}\n",
             share(c.array), share(c.memory), share(c.vector), share(c.vector_alone));
  fmt::print(out_, "\n{:<44} {:>8} {:>9} {:>12} {:>8} {:>8} {:>8}\n", "operator", "sections", "commands", "cycles",
             "share", "read", "written");
  for (const OperatorCycles &row : c.operators)
    fmt::print(out_, "{:<44} {:>8} {:>9} {:>12} {:>8} {:>8} {:>8}\n", row.what, row.sections, grouped(row.commands),
               grouped(row.cycles), share(row.cycles), human(double(row.read_bytes)), human(double(row.write_bytes)));
  fmt::print(out_, "\n");
}

void TrainingReport::checks(const TrainingOutcome &outcome) {
  fmt::print(out_, "compared   {} tensors, {} elements in {} steps, with a golden execution of its own{}\n",
             grouped(outcome.compared_tensors), grouped(outcome.compared_elements),
             outcome.losses.size() - outcome.steps_before,
             outcome.ok() && outcome.compared_elements > 0 ? ": every bit equal" : "");
  if (executor_.runs_operators() && outcome.inside > 0)
    fmt::print(out_, "           {} tensors stay in the scratchpad and reach no memory; --keep-all writes them\n",
               grouped(outcome.inside));
  if (outcome.unchecked > 0 && outcome.compared_tensors > 0 && executor_.runs_operators())
    fmt::print(
        out_,
        "unchecked  {} elements of tensors that made room for later ones before the step ended; --keep-all keeps "
        "them\n",
        grouped(outcome.unchecked));
  else if (outcome.unchecked > 0)
    fmt::print(out_, "unchecked  {} elements of {}: the {} backend computes none\n", grouped(outcome.unchecked),
               executor_.runs_operators() ? "all tensors" : "products", run_.backend);
  else if (executor_.runs_operators())
    fmt::print(out_, "unchecked  nothing that reaches memory\n");
  else
    fmt::print(out_, "unchecked  ops on the host run by one definition on both sides: tests hold them to fp64 and to "
                     "derivatives\n");
}

namespace {

/// Means of as many first and last steps as do not overlap, 20 at most.
std::string describe_losses(const std::vector<double> &losses) {
  const std::size_t window = std::min<std::size_t>(20, losses.size() / 2);
  if (window == 0) return fmt::format("{:.4f}", losses.front());
  return fmt::format("{:.4f} in the first, {:.4f} in the last {}", mean_of(losses, 0, window),
                     mean_of(losses, losses.size() - window, window),
                     window == 1 ? std::string("step") : fmt::format("{} steps", window));
}

} // namespace

void TrainingReport::end(const TrainingOutcome &outcome) {
  if (!outcome.losses.empty())
    fmt::print(out_, "\nloss       {}; {:.1f} s, {:.1f} steps a second\n", describe_losses(outcome.losses),
               outcome.seconds,
               outcome.seconds > 0 ? double(outcome.losses.size() - outcome.steps_before) / outcome.seconds : 0);
  if (outcome.evaluation)
    fmt::print(out_, "accuracy   {:.2f} % of {} test images\n", 100 * outcome.evaluation->accuracy(),
               grouped(outcome.evaluation->images));
  if (executor_.has_device()) {
    shares(outcome);
    if (outcome.last.cycles) cycles(*outcome.last.cycles, outcome.last.products.cycles);
    checks(outcome);
  }
  if (outcome.last.difference)
    fmt::print(out_, "\nstep {}: {}\n", outcome.losses.size(), outcome.last.difference->text());
  for (const std::string &failure : outcome.last.failures)
    fmt::print(out_, "\nstep {}: {}\n", outcome.losses.size(), failure);
  fmt::print(out_, "repeat     {}\n", run_.reproduce);
  if (executor_.has_device()) fmt::print(out_, "{}\n", outcome.ok() ? "PASS" : "FAIL");
}

namespace {

nlohmann::ordered_json json_of_step(const StepResult &step) {
  const Shares &s = step.shares;
  nlohmann::ordered_json json{{"device_multiply_adds", s.device_multiply_adds},
                              {"host_multiply_adds", s.host_multiply_adds},
                              {"device_operations", s.device_operations},
                              {"host_operations", s.host_operations},
                              {"device_bytes", s.device_bytes},
                              {"host_bytes", s.host_bytes},
                              {"device_ops", s.device_ops},
                              {"host_ops", s.host_ops},
                              {"streams", step.products.streams},
                              {"commands", step.products.commands},
                              {"cycles", step.products.cycles},
                              {"read_bytes", step.products.read_bytes},
                              {"write_bytes", step.products.write_bytes}};
  if (const std::optional<StepCycles> &c = step.cycles) {
    json["array_busy_cycles"] = c->array;
    json["memory_busy_cycles"] = c->memory;
    json["vector_busy_cycles"] = c->vector;
    json["vector_alone_cycles"] = c->vector_alone;
    for (const OperatorCycles &row : c->operators)
      json["operators"].push_back({{"operator", row.what},
                                   {"sections", row.sections},
                                   {"commands", row.commands},
                                   {"cycles", row.cycles},
                                   {"read_bytes", row.read_bytes},
                                   {"write_bytes", row.write_bytes}});
  }
  return json;
}

} // namespace

nlohmann::ordered_json to_json(const TrainingRun &run, const TrainingOutcome &outcome) {
  nlohmann::ordered_json json{{"model", run.model},
                              {"data", run.data},
                              {"batch", run.batch},
                              {"seed", run.seed},
                              {"backend", run.backend},
                              {"npu", run.npu},
                              {"optimizer", std::string(to_string(run.options.optimizer))},
                              {"rate", run.rate.rate},
                              {"rate_schedule", std::string(to_string(run.rate.form))},
                              {"warmup", run.rate.warmup},
                              {"steps", outcome.losses.size()},
                              {"steps_before", outcome.steps_before},
                              {"losses", outcome.losses},
                              {"seconds", outcome.seconds},
                              {"compile_seconds", outcome.compile_seconds},
                              {"verdict", outcome.ok() ? "pass" : "fail"},
                              {"reproduce", run.reproduce}};
  if (outcome.evaluation)
    json["test"] = {{"images", outcome.evaluation->images},
                    {"right", outcome.evaluation->right},
                    {"accuracy", outcome.evaluation->accuracy()}};
  json["compared"] = {{"tensors", outcome.compared_tensors},
                      {"elements", outcome.compared_elements},
                      {"unchecked", outcome.unchecked},
                      {"inside", outcome.inside}};
  json["step"] = json_of_step(outcome.last);
  if (outcome.last.difference) {
    const Difference &d = *outcome.last.difference;
    json["difference"] = {{"step", outcome.losses.size()},
                          {"op", d.op},
                          {"tensor", d.tensor},
                          {"element", d.element},
                          {"got", d.got},
                          {"golden", d.golden},
                          {"differing", d.differing},
                          {"elements", d.elements}};
  }
  if (!outcome.last.failures.empty()) json["failures"] = outcome.last.failures;
  return json;
}

} // namespace gradweave::runtime::train
