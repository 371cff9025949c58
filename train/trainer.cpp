#include "train/trainer.hpp"

#include "graph/operators/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace gradweave::runtime::train {

Trainer::Trainer(const graph::TrainingGraph &step, const graph::TrainingOptions &options, const RateSchedule &rate,
                 const Feed &feed, std::uint64_t seed)
    : step_(step), options_(options), rate_(rate), feed_(feed), living_(initial_living(step.graph, seed)) {}

std::vector<std::vector<Fed>> Trainer::batches(std::uint64_t step) const {
  std::vector<std::vector<Fed>> all;
  for (std::uint64_t b = 0; b < step_.micro_batches.size(); ++b)
    all.push_back(feed_.batch(step * step_.micro_batches.size() + b));
  return all;
}

void Trainer::resume(std::uint64_t steps, Living living) {
  done_ = steps;
  living_ = std::move(living);
}

StepResult Trainer::step(const StepExecutor &executor) {
  StepResult result = executor.golden(batches(done_), step_constants(options_, rate_, done_), living_);
  ++done_;
  return result;
}

StepResult Trainer::compared_step(StepExecutor &executor) {
  if (device_living_.empty() && executor.takes_device_living()) device_living_ = living_;
  StepResult result =
      executor.compared(batches(done_), step_constants(options_, rate_, done_), living_, device_living_);
  ++done_;
  return result;
}

/// The next step by golden execution.
GoldenStep Trainer::look_ahead(const Lanes &lanes) {
  GoldenStep step{batches(ahead_), step_constants(options_, rate_, ahead_), ahead_living_, nullptr};
  lanes.execute(step);
  ahead_living_ = step.end;
  ++ahead_;
  return step;
}

StepResult Trainer::compared_step(Lanes &lanes, std::uint64_t until, const std::function<void()> &tick) {
  const auto begin = [&](GoldenStep step) {
    ends_.push_back(step.end);
    lanes.begin(std::move(step));
  };
  if (!ahead_living_) {
    ahead_ = done_;
    ahead_living_ = std::make_shared<const Living>(living_);
  }
  while (ahead_ < until && !lanes.full())
    begin(look_ahead(lanes));
  std::optional<GoldenStep> next; // ready for the lane that becomes free
  if (ahead_ < until) next = look_ahead(lanes);
  StepResult result = lanes.end(tick);
  ++done_;
  if (!result.ok()) return result;
  living_ = *ends_.front();
  ends_.pop_front();
  if (next) begin(std::move(*next));
  return result;
}

namespace {

using Values = graph::Execution<graph::Contract>;

/// The parameters and state of a graph that a step's graph has, too.
std::vector<std::pair<graph::TensorId, graph::TensorId>> common_living(const graph::Graph &forward,
                                                                       const graph::Graph &step) {
  std::vector<std::pair<graph::TensorId, graph::TensorId>> pairs;
  for (graph::TensorId id = 0; id < forward.tensors.size(); ++id)
    if (forward.tensors[id].role == graph::Role::kParameter || forward.tensors[id].role == graph::Role::kState)
      pairs.emplace_back(id, step.find(forward.tensors[id].name));
  return pairs;
}

/// What is judged drops nothing: x / (1 - 0).
graph::Graph without_dropout(graph::Graph forward) {
  for (graph::Op &op : forward.ops)
    if (op.type->name == "Dropout") op.attributes.set("ratio", 0.0);
  return forward;
}

} // namespace

Evaluation evaluate(const graph::Graph &forward, const graph::TrainingGraph &step, const Living &living,
                    const Dataset &test, const std::function<void(double)> &progress, unsigned threads) {
  const Classifier classifier = classifier_of(forward);
  if (classifier.logits == graph::kNone)
    throw DataError(fmt::format(
        "graph '{}' has no softmax cross-entropy for its loss, and so no classes to be judged by", forward.name));
  graph::TrainingOptions options;
  options.extent = graph::Extent::kForward;
  const graph::TrainingGraph judge = graph::training_graph(without_dropout(forward), graph::operators(), options);
  const auto pairs = common_living(judge.graph, step.graph);
  const graph::TensorId logits = judge.of_forward(forward, classifier.logits);
  const auto feed = image_feed(forward, test, 0, false);
  Evaluation result;
  for (std::uint64_t number = 0; number < feed->batches_an_epoch(); ++number) {
    graph::ExecutionOptions execution;
    execution.threads = threads;
    execution.keep = [logits](graph::TensorId id) { return id == logits; };
    Values values(judge.graph, execution);
    for (const auto &[own, of_step] : pairs)
      values.set(own, living[of_step]);
    std::vector<Fed> fed = feed->batch(number);
    std::vector<std::int32_t> labels;
    for (const auto &[input, id] : judge.micro_batches.front().inputs)
      for (Fed &f : fed) {
        if (f.input != input) continue;
        if (input == classifier.labels) labels = f.values.index;
        if (graph::is_real(judge.graph.tensors[id].type))
          values.set(id, std::move(f.values.real));
        else
          values.set_index(id, std::move(f.values.index));
      }
    values.run();
    // The last batch is filled up with images that have been judged before.
    const std::size_t rows = std::min(labels.size(), test.count() - result.images);
    result.right += count_right(forward, values.get(logits), classifier, labels, rows);
    result.images += rows;
    if (progress) progress(static_cast<double>(number + 1) / static_cast<double>(feed->batches_an_epoch()));
  }
  return result;
}

} // namespace gradweave::runtime::train
