// gradweave train
#include "app/cli/run/train_arguments.hpp"

#include "app/cli/common/repeat_command.hpp"
#include "app/cli/common/report_files.hpp"
#include "app/cli/common/settings.hpp"
#include "app/cli/common/work.hpp"
#include "app/page/line_chart.hpp"
#include "app/report/page/training_page.hpp"
#include "app/report/training_report.hpp"
#include "base/file/output_file.hpp"
#include "base/process/heartbeat.hpp"
#include "base/process/process_pool.hpp"
#include "base/process/progress.hpp"
#include "base/process/stopwatch.hpp"
#include "graph/operators/table.hpp"
#include "graph/passes/loss.hpp"
#include "graph/tensor_file/tensor_file.hpp"
#include "runtime/run/lookup.hpp"
#include "train/data/file_feed.hpp"
#include "train/tensors.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>

namespace gradweave::cli {
namespace {

using namespace runtime::train;

constexpr std::uint64_t kSyntheticSteps = 10;

void add_if(Reproduction &command, bool given, const char *option, const std::string &value) {
  if (given) command.add("", option, value);
}

void add_tensors(Reproduction &command, const TensorArguments &a) {
  add_if(command, !a.weights.empty(), "--weights", a.weights);
  add_if(command, !a.input.empty(), "--input", a.input);
  add_if(command, !a.target.empty(), "--target", a.target);
  add_if(command, !a.dump.empty(), "--dump", a.dump);
  add_if(command, !a.dump_to.empty(), "--dump-to", a.dump_to);
}

/// What the steps learn from, and how.
void add_learning(Reproduction &command, const TrainArguments &a) {
  const auto number = [](double value) { return fmt::format("{}", value); };
  add_if(command, a.tensors.input.empty() && a.tensors.target.empty(), "--data", a.data);
  add_if(command, a.steps != 0, "--steps", std::to_string(a.steps));
  add_if(command, a.epochs != 0, "--epochs", std::to_string(a.epochs));
  add_if(command, a.extent != "updates", "--extent", a.extent);
  add_if(command, a.accumulate != 1, "--accumulate", std::to_string(a.accumulate));
  command.add("", "--optimizer", a.optimizer);
  command.add("", "--lr", number(a.lr));
  command.add("", "--schedule-lr", a.lr_schedule);
  add_if(command, a.warmup != 0, "--warmup", std::to_string(a.warmup));
  add_if(command, a.weight_decay >= 0, "--weight-decay", number(a.weight_decay));
  add_if(command, a.optimizer == "sgd", "--momentum", number(a.momentum));
  add_if(command, a.clip > 0, "--clip", number(a.clip));
  if (a.sparse_embeddings) command.add_word("--sparse-embeddings");
  if (a.evaluate) command.add_word("--eval");
}

std::string reproduce(const TrainArguments &a) {
  Reproduction command(a.program, a.as_cosim ? "cosim" : "train", a.from_make);
  command.add("MODEL", "--model", a.model);
  if (!a.until.empty()) command.add("", "--until", a.until);
  if (!a.loss.empty()) command.add("", "--loss", a.loss);
  if (a.batch != 0) command.add("BATCH", "--batch", std::to_string(a.batch));
  if (a.backend != "golden") command.add("NPU", "--npu", a.npu);
  command.add_each("SET", "--set", a.set);
  if (a.as_cosim) {
    if (a.from_make)
      command.add("STEP", "", "1");
    else
      command.add_word("--step");
  }
  if (a.backend != (a.as_cosim ? "rtl" : "golden")) command.add("BACKEND", "--backend", a.backend);
  if (a.schedule != "rearrange") command.add("SCHEDULE", "--schedule", a.schedule);
  command.add("SEED", "--seed", std::to_string(a.seed));
  add_tensors(command, a.tensors);
  if (!a.as_cosim) add_learning(command, a);
  return command.text();
}

graph::TrainingOptions training_options(const TrainArguments &a) {
  graph::TrainingOptions options;
  options.extent = graph::parse_extent(a.extent);
  options.optimizer = graph::parse_optimizer(a.optimizer);
  const bool sgd = options.optimizer == graph::OptimizerKind::kSgd;
  options.weight_decay = a.weight_decay >= 0 ? a.weight_decay : sgd ? 0 : 0.01;
  options.momentum = sgd ? a.momentum : 0;
  if (a.momentum >= 1) throw std::invalid_argument(fmt::format("--momentum {} must be below 1", a.momentum));
  options.clip_norm = a.clip;
  options.accumulate = a.accumulate;
  options.sparse_embeddings = a.sparse_embeddings;
  return options;
}

/// The data of a run: images, or random numbers.
struct Data {
  std::unique_ptr<const Dataset> learned, test; ///< in a place of their own: the feed refers to it
  std::unique_ptr<Feed> feed;
};

Data load_data(const TrainArguments &a, const graph::Graph &forward) {
  Data data;
  if (!a.tensors.input.empty() || !a.tensors.target.empty()) {
    if (a.evaluate) throw std::invalid_argument("--eval: files of tensors have no test images; leave it out");
    data.feed = file_feed(forward, a.tensors.input, a.tensors.target);
    return data;
  }
  if (a.data == "synthetic") {
    if (a.evaluate) throw std::invalid_argument("--eval: synthetic data has no test images; leave it out");
    if (a.epochs > 0) throw std::invalid_argument("--epochs: synthetic data has no end; use --steps");
    data.feed = synthetic_feed(forward, a.seed);
    return data;
  }
  const auto directory = find_dataset(a.data);
  data.learned = std::make_unique<Dataset>(load_dataset(directory, Split::kTrain));
  if (a.evaluate) data.test = std::make_unique<Dataset>(load_dataset(directory, Split::kTest));
  data.feed = image_feed(forward, *data.learned, a.seed, true);
  return data;
}

std::uint64_t steps_of(const TrainArguments &a, const Feed &feed) {
  if (a.steps > 0) return a.steps;
  const std::uint64_t epoch = feed.batches_an_epoch() / a.accumulate;
  if (feed.batches_an_epoch() == 0) return kSyntheticSteps;
  if (epoch == 0)
    throw DataError(fmt::format("{} batches make no step of {}; take a smaller --batch or --accumulate",
                                feed.batches_an_epoch(), a.accumulate));
  return epoch * std::max<std::uint64_t>(1, a.epochs);
}

/// What a run works on, in the order in which it is made.
class Session {
public:
  explicit Session(const TrainArguments &a)
      : forward_(load(a)), options_(training_options(a)), data_(load_data(a, forward_)),
        step_(graph::training_graph(forward_, graph::operators(), options_)),
        steps_(steps_of(a, *data_.feed)), run_{a.model,
                                               data_of(a),
                                               a.npu,
                                               a.backend,
                                               reproduce(a),
                                               options_,
                                               {parse_rate_form(a.lr_schedule), a.lr, a.warmup, steps_},
                                               a.seed,
                                               batch_of(forward_)} {
    if (a.tensors.dump.empty() != a.tensors.dump_to.empty())
      throw std::invalid_argument("--dump and --dump-to: which tensors, and the file; give both");
    if (!a.tensors.dump.empty()) {
      dump_ = parse_dump(forward_, step_, a.tensors.dump);
      if (!graph::is_tensor_file(a.tensors.dump_to))
        throw std::invalid_argument(
            fmt::format("--dump-to {}: the name must end in .safetensors, .npz or .npy", a.tensors.dump_to));
      if (const std::size_t count = dumped_count(forward_, step_, *dump_);
          count != 1 && std::filesystem::path(a.tensors.dump_to).extension() == ".npy")
        throw std::invalid_argument(fmt::format(
            "--dump-to {}: an .npy file holds one tensor, not {}; use .npz or .safetensors", a.tensors.dump_to, count));
      const OutputFile probe(a.tensors.dump_to); // before minutes are spent
    }
    if (a.warmup > steps_)
      throw std::invalid_argument(fmt::format("--warmup {}: there are {} steps", a.warmup, steps_));
    if (a.evaluate && classifier_of(forward_).logits == graph::kNone)
      throw std::invalid_argument(
          "--eval: the network's loss is no softmax cross-entropy, so it tells no classes apart");
  }

  /// Makes what steps run on.
  void prepare(const TrainArguments &a) {
    trainer_.emplace(step_, options_, run_.rate, *data_.feed, a.seed);
    if (!a.tensors.weights.empty()) load_weights(forward_, step_, a.tensors.weights, trainer_->begin_with());
    if (a.backend == "golden") {
      executor_.emplace(step_);
      return;
    }
    const runtime::Backend backend = runtime::parse_backend(a.backend);
    const Machine npu = load_machine(runtime::find_npu(a.npu), parse_settings(a.set, a.batch).machine);
    const auto schedules = parse_schedules(a.schedule);
    if (schedules.size() != 1) throw std::invalid_argument("--schedule: a step runs under one schedule");
    if (backend == runtime::Backend::kRtl) require_rtl(npu, a.npu);
    device_ = runtime::make_device(backend, npu, {});
    ProductOptions products;
    products.backend = backend;
    products.compile.schedule = schedules.front();
    executor_.emplace(step_, *device_, products);
  }

  TrainingOutcome run(const TrainArguments &a, const SignalGuard &signals, std::FILE *out);

  /// Writes what --dump asks for of the last step.
  void write_dump(const TrainArguments &a, const TrainingOutcome &outcome) const {
    if (dump_)
      graph::write_tensors(a.tensors.dump_to,
                           dumped(forward_, step_, *dump_, outcome.last.watched, trainer_->living()));
  }

  const TrainingRun &what() const { return run_; }

private:
  /// The network with a loss; that of an ONNX file, which has none, gets one without being asked.
  static graph::Graph load(const TrainArguments &a) {
    const std::filesystem::path file = runtime::find_model(a.model);
    graph::Graph forward = compiler::load_graph_and_weights(file, parse_settings(a.set, a.batch, a.until).network);
    if (forward.loss != graph::kNone && !a.loss.empty())
      throw std::invalid_argument("--loss: the network has a loss of its own; leave it out");
    if (forward.loss == graph::kNone && (!a.loss.empty() || file.extension() == ".onnx"))
      graph::add_loss(forward, graph::operators(), graph::parse_loss(a.loss.empty() ? "cross_entropy" : a.loss));
    return forward;
  }

  /// What people call the data.
  static std::string data_of(const TrainArguments &a) {
    return a.tensors.input.empty() && a.tensors.target.empty() ? a.data
           : a.tensors.input.empty()                           ? a.tensors.target
                                                               : a.tensors.input;
  }

  static std::uint64_t batch_of(const graph::Graph &forward) {
    for (const graph::Tensor &tensor : forward.tensors)
      if (tensor.role == graph::Role::kInput && tensor.shape.rank() > 0) return tensor.shape[0];
    return 0;
  }

  graph::Graph forward_;
  graph::TrainingOptions options_;
  Data data_;
  graph::TrainingGraph step_;
  std::uint64_t steps_;
  TrainingRun run_;
  std::optional<Dump> dump_;
  std::unique_ptr<Device> device_;
  std::optional<StepExecutor> executor_;
  std::optional<Trainer> trainer_;
};

void count_step(TrainingOutcome &outcome, StepResult &&result) {
  outcome.losses.push_back(result.losses.empty() ? 0 : static_cast<double>(result.loss()));
  outcome.compared_tensors += result.tensors;
  outcome.compared_elements += result.elements;
  outcome.unchecked += result.unchecked;
  outcome.cycles += result.products.cycles;
  outcome.last = std::move(result);
}

TrainingOutcome Session::run(const TrainArguments &a, const SignalGuard &signals, std::FILE *out) {
  TrainingReport report(run_, forward_, step_, *executor_, out);
  report.begin(steps_);
  TrainingOutcome outcome;
  outcome.compile_seconds = executor_->compile_seconds();
  const Stopwatch stopwatch;
  ProgressDisplay display({1}, a.quiet);
  while (trainer_->steps_done() < steps_ && outcome.ok()) {
    signals.check();
    if (dump_ && trainer_->steps_done() + 1 == steps_) executor_->watch(dump_->watched);
    const double rate = trainer_->rate();
    count_step(outcome, executor_->has_device() ? trainer_->compared_step(*executor_) : trainer_->step(*executor_));
    display.update(0, static_cast<double>(trainer_->steps_done()) / static_cast<double>(steps_));
    display.clear();
    report.step(trainer_->steps_done(), rate, outcome.last);
    display.tick();
  }
  display.clear();
  outcome.seconds = stopwatch.wall_seconds();
  if (a.evaluate && outcome.ok()) outcome.evaluation = evaluate(forward_, step_, trainer_->living(), *data_.test);
  report.end(outcome);
  return outcome;
}

std::string plot(const TrainingRun &run, const TrainingOutcome &outcome) {
  page::LineChart chart;
  chart.title = fmt::format("{}, {}, {} steps, products {}", run.model, run.data, outcome.losses.size(),
                            run.backend == "golden" ? "golden" : fmt::format("on {} ({})", run.npu, run.backend));
  chart.value = "loss";
  chart.values = outcome.losses;
  chart.mean_over = outcome.losses.size() >= 100 ? 20 : 1;
  return draw(chart);
}

} // namespace

int train(const TrainArguments &a) {
  const SignalGuard signals; // before any output is opened: an interrupted run removes what it began
  const bool to_stdout = uses_standard_output({{"--json", a.json}, {"--html", a.html}, {"--loss-plot", a.loss_plot}});
  Session session(a);
  ReportFiles files(a.json, a.html);
  std::optional<OutputFile> svg;
  if (!a.loss_plot.empty()) svg.emplace(a.loss_plot);
  if (a.dry_run) return kOk;
  session.prepare(a);
  const TrainingOutcome outcome = session.run(a, signals, to_stdout ? stderr : stdout);
  if (files.asked()) files.commit(to_json(session.what(), outcome), report::training_page);
  if (svg) svg->commit(plot(session.what(), outcome));
  if (outcome.ok()) session.write_dump(a, outcome);
  return outcome.ok() ? kOk : kFailed;
}

} // namespace gradweave::cli
