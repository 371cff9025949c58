#include "app/session/training_session.hpp"

#include "app/request/repeat_command.hpp"
#include "app/request/settings.hpp"
#include "app/request/work.hpp"
#include "base/file/output_file.hpp"
#include "base/process/machine_memory.hpp"
#include "base/process/parallel.hpp"
#include "base/process/stopwatch.hpp"
#include "graph/frontend/load_network.hpp"
#include "graph/operators/table.hpp"
#include "graph/passes/loss.hpp"
#include "graph/tensor_file/tensor_file.hpp"
#include "runtime/run/lookup.hpp"
#include "train/data/tensor_feed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

namespace gradweave::cli {
namespace {

using namespace runtime::train;

constexpr std::uint64_t kSyntheticSteps = 10;

void add_if(Reproduction &command, bool given, const char *option, const std::string &value) {
  if (given) command.add("", option, value);
}

/// What make says by a variable that is 1, and the command by a word.
void add_switch(Reproduction &command, const TrainRequest &a, const char *variable, const char *word) {
  if (a.from_make)
    command.add(variable, "", "1");
  else
    command.add_word(word);
}

void add_tensors(Reproduction &command, const TensorArguments &a) {
  add_if(command, !a.weights.empty(), "--weights", a.weights);
  add_if(command, !a.input.empty(), "--input", a.input);
  add_if(command, !a.target.empty(), "--target", a.target);
  add_if(command, !a.dump.empty(), "--dump", a.dump);
  add_if(command, !a.dump_to.empty(), "--dump-to", a.dump_to);
}

/// What the steps learn from, and how.
void add_learning(Reproduction &command, const TrainRequest &a) {
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
  if (a.checkpoint.empty()) return;
  command.add("", "--checkpoint", a.checkpoint);
  command.add("", "--checkpoint-every", std::to_string(a.checkpoint_every));
}

/// What the subcommand runs steps on unless told.
std::string_view usual_backend(std::string_view command) {
  return command == "cosim" ? "rtl" : command == "simulate" ? "timing" : "golden";
}

std::string reproduce(const TrainRequest &a) {
  const bool one_step = a.command != "train";
  Reproduction command(a.program, a.command, a.from_make);
  command.add("MODEL", "--model", a.model);
  if (!a.until.empty()) command.add("", "--until", a.until);
  for (const std::string &name : a.frozen)
    command.add("", "--frozen", name);
  for (const std::string &name : a.learned)
    command.add("", "--learned", name);
  if (!a.loss.empty()) command.add("", "--loss", a.loss);
  if (a.batch != 0) command.add("BATCH", "--batch", std::to_string(a.batch));
  add_if(command, a.search_partition != 0, "--search-partition", std::to_string(a.search_partition));
  if (!a.system.empty())
    command.add("", "--system", a.system);
  else if (a.backend != "golden")
    command.add("NPU", "--npu", a.npu);
  command.add_each("SET", "--set", a.set);
  if (one_step) add_switch(command, a, "STEP", "--step");
  if (a.backend != usual_backend(a.command)) command.add("BACKEND", "--backend", a.backend);
  if (a.schedule != "rearrange") command.add("SCHEDULE", "--schedule", a.schedule);
  if (a.convolution != "image") command.add("CONVOLUTION", "--convolution", a.convolution);
  if (!a.operators.empty()) command.add("OPERATORS", "--operators", a.operators);
  if (a.keep_all) command.add_word("--keep-all");
  if (a.command != "simulate") command.add("SEED", "--seed", std::to_string(a.seed)); // cycles depend on no data
  add_tensors(command, a.tensors);
  if (one_step && a.sparse_embeddings) add_switch(command, a, "SPARSE", "--sparse-embeddings");
  if (!one_step) add_learning(command, a);
  return command.text();
}

graph::TrainingOptions training_options(const TrainRequest &a) {
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
  options.read_samples = a.system.empty() && a.operators != "host" && a.convolution == "image";
  return options;
}

/// What people call the data.
std::string data_of(const TrainRequest &a, const TrainingTensors &tensors) {
  return !tensors.feeds() ? a.data : tensors.input.there() ? tensors.input.name() : tensors.target.name();
}

std::uint64_t batch_of(const graph::Graph &forward) {
  for (const graph::Tensor &tensor : forward.tensors)
    if (tensor.role == graph::Role::kInput && tensor.shape.rank() > 0) return tensor.shape[0];
  return 0;
}

std::optional<const SystemConfig> system_of(const TrainRequest &a) {
  if (a.system.empty()) return std::nullopt;
  if (a.backend != "golden" && a.backend != "rtl" && a.backend != "timing")
    throw std::invalid_argument(fmt::format("--backend {}: a system trains on the RTL, or golden, with or without its "
                                            "times by the model; use rtl, timing or golden",
                                            a.backend));
  if (a.convolution != "image")
    throw std::invalid_argument(
        fmt::format("--convolution {}: a system's devices choose themselves; leave it out", a.convolution));
  if (a.operators == "npu")
    throw std::invalid_argument("--operators npu: a system's host runs the operators; leave it out");
  if (a.jobs > 1)
    throw std::invalid_argument(fmt::format(
        "--jobs {}: a system does one step at a time, its devices side by side in it; leave it out", a.jobs));
  return load_system(runtime::find_system(a.system));
}

void count_step(TrainingOutcome &outcome, StepResult &&result) {
  outcome.losses.push_back(result.losses.empty() ? 0 : static_cast<double>(result.loss()));
  outcome.compared_tensors += result.tensors;
  outcome.compared_elements += result.elements;
  outcome.unchecked += result.unchecked;
  outcome.inside += result.inside;
  outcome.cycles += result.products.cycles;
  outcome.last = std::move(result);
}

} // namespace

TrainingTensors tensors_of(const TensorArguments &arguments) {
  return {TensorSource(arguments.weights), TensorSource(arguments.input), TensorSource(arguments.target)};
}

graph::Graph load_forward(const TrainRequest &request) {
  const std::filesystem::path file = runtime::find_model(request.model);
  compiler::NetworkSettings settings = parse_settings(request.set, request.batch, request.until).network;
  settings.frozen = request.frozen;
  settings.learned = request.learned;
  graph::Graph forward = compiler::load_graph_and_weights(file, settings);
  return with_loss(std::move(forward), request.loss, file.extension() == ".onnx");
}

graph::Graph with_loss(graph::Graph forward, const std::string &loss, bool lacks) {
  if (forward.loss != graph::kNone && !loss.empty())
    throw std::invalid_argument("--loss: the network has a loss of its own; leave it out");
  if (forward.loss == graph::kNone && (!loss.empty() || lacks))
    graph::add_loss(forward, graph::operators(), graph::parse_loss(loss.empty() ? "cross_entropy" : loss));
  return forward;
}

TrainRequest step_request(const WorkArguments &work) {
  TrainRequest request;
  request.model = work.model;
  request.npu = work.npu;
  request.schedule = work.schedule;
  request.convolution = work.convolution;
  request.batch = work.batch;
  request.set = work.set;
  request.until = work.until;
  request.data = "synthetic";
  request.steps = 1;
  return request;
}

TrainingSession::TrainingSession(const TrainRequest &request, graph::Graph forward, const TrainingTensors &tensors)
    : request_(request), tensors_(tensors), options_(training_options(request)), system_(system_of(request)),
      network_(network_of(forward)), forward_(network_ ? graph::Graph(network_->network.graph) : std::move(forward)),
      data_(load_data(request, forward_, tensors)),
      step_(network_ ? network_->step : graph::training_graph(forward_, graph::operators(), options_)),
      steps_(steps_of(request, *data_.feed)), run_{request.model,
                                                   data_of(request, tensors),
                                                   system_ ? "system " + system_->name : request.npu,
                                                   request.backend,
                                                   reproduce(request),
                                                   options_,
                                                   {parse_rate_form(request.lr_schedule), request.lr, request.warmup,
                                                    steps_},
                                                   request.seed,
                                                   batch_of(forward_)} {
  if (!request.tensors.dump.empty()) check_dump();
  check_checkpoint();
  if (request.jobs > 1 && (request.backend == "golden" || request.backend == "timing"))
    throw std::invalid_argument(
        fmt::format("--jobs {}: steps go side by side on NPUs with data, and --backend {} has none; leave it out",
                    request.jobs, request.backend));
  if (request.warmup > steps_)
    throw std::invalid_argument(fmt::format("--warmup {}: there are {} steps", request.warmup, steps_));
  if (request.evaluate && classifier_of(forward_).logits == graph::kNone)
    throw std::invalid_argument("--eval: the network's loss is no softmax cross-entropy, so it tells no classes apart");
}

void TrainingSession::check_dump() {
  const std::string &file = request_.tensors.dump_to;
  dump_ = parse_dump(forward_, step_, request_.tensors.dump);
  if (file.empty()) return; // whoever calls takes the tensors
  if (!graph::is_tensor_file(file))
    throw std::invalid_argument(fmt::format("--dump-to {}: the name must end in .safetensors, .npz or .npy", file));
  if (const std::size_t count = dumped_count(forward_, step_, *dump_);
      count != 1 && std::filesystem::path(file).extension() == ".npy")
    throw std::invalid_argument(
        fmt::format("--dump-to {}: an .npy file holds one tensor, not {}; use .npz or .safetensors", file, count));
  const OutputFile probe(file); // before minutes are spent
}

TrainingSession::Data TrainingSession::load_data(const TrainRequest &a, const graph::Graph &forward,
                                                 const TrainingTensors &tensors) {
  Data data;
  if (tensors.feeds()) {
    if (a.evaluate) throw std::invalid_argument("--eval: tensors have no test images; leave it out");
    data.feed = tensor_feed(forward, tensors.input, tensors.target, a.seed);
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

std::uint64_t TrainingSession::steps_of(const TrainRequest &a, const Feed &feed) {
  if (a.steps > 0) return a.steps;
  const std::uint64_t epoch = feed.batches_an_epoch() / a.accumulate;
  if (feed.batches_an_epoch() == 0) return kSyntheticSteps;
  if (epoch == 0)
    throw DataError(fmt::format("{} batches make no step of {}; take a smaller --batch or --accumulate",
                                feed.batches_an_epoch(), a.accumulate));
  return epoch * std::max<std::uint64_t>(1, a.epochs);
}

void TrainingSession::prepare(const Machine *npu) {
  trainer_.emplace(step_, options_, run_.rate, *data_.feed, request_.seed);
  if (tensors_.weights.there()) load_weights(forward_, step_, tensors_.weights, trainer_->begin_with());
  resume();
  if (system_ && request_.backend != "golden") {
    prepare_system();
  } else if (request_.backend == "golden") {
    executor_ = std::make_unique<StepExecutor>(step_);
  } else {
    prepare_device(*npu);
  }
}

void TrainingSession::prepare_device(const Machine &npu) {
  const ProductOptions products = product_options();
  const unsigned jobs = jobs_of(products.backend), threads = std::max(1U, usable_cores() / jobs);
  const auto make = [&] { return runtime::make_device(products.backend, npu, {}); };
  device_ = make();
  const bool alone = operators_on(npu);
  if (alone)
    executor_ = std::make_unique<NpuExecutor>(step_, *device_, products.backend,
                                              NpuStepOptions{products.compile, request_.keep_all}, threads);
  else
    executor_ = std::make_unique<StepExecutor>(step_, *device_, products, threads);
  if (jobs > 1) lanes_.emplace(step_, *executor_, jobs, threads, make);
  run_.jobs = jobs;
}

/// Steps at a time.
unsigned TrainingSession::jobs_of(runtime::Backend backend) const {
  const std::uint64_t steps = steps_ - before_.steps;
  if (request_.jobs > 0) return static_cast<unsigned>(std::clamp<std::uint64_t>(steps, 1, request_.jobs));
  if (backend != runtime::Backend::kRtl) return 1;
  return lanes_that_pay(step_.graph, steps, usable_cores(), machine_memory_bytes());
}

/// Whether the NPU runs whole steps. What nobody asked for is left to the host where the NPU cannot.
bool TrainingSession::operators_on(const Machine &npu) {
  const bool im2col = request_.convolution != "image";
  if (request_.operators == "npu" && im2col)
    throw std::invalid_argument(
        "--operators npu: im2col is the host's; leave out --convolution, or take --operators host");
  if (!request_.operators.empty()) return request_.operators == "npu";
  if (npu.vectors() == 0 || im2col) return false;
  run_.why_host = refused_ops(step_.graph, plan_device_products(step_.graph, npu));
  return run_.why_host.empty();
}

std::optional<const SystemNetwork> TrainingSession::network_of(const graph::Graph &forward) {
  if (!system_) {
    if (request_.search_partition > 0)
      throw std::invalid_argument("--search-partition: one NPU has no partition; give a --system");
    return std::nullopt;
  }
  if (request_.search_partition > 0)
    search_ = search_partition(forward, *system_, options_, compile_options(), request_.search_partition, caches_);
  return make_system_network(forward, *system_, search_ ? search_->found().partition : system_->partition, options_);
}

void TrainingSession::prepare_system() {
  if (request_.backend == "timing") { // all is golden, and a step's times are those of its plan
    products_ = plan_products(network_->step.graph, machine_of(*network_, *system_));
    timed_ = std::make_unique<SystemStep>(*network_, products_, *system_, compile_options(), caches_);
    if (!timed_->tables().empty()) look_up_first_batch();
    on_system_ = timed_.get();
    executor_ = std::make_unique<StepExecutor>(step_);
    return;
  }
  auto executor = std::make_unique<SystemExecutor>(*network_, *system_, compile_options(), caches_);
  on_system_ = &executor->planned();
  executor_ = std::move(executor);
}

void TrainingSession::look_up_first_batch() {
  const std::vector<Fed> fed = data_.feed->batch(0);
  timed_->look_up([&](graph::TensorId ids) {
    for (const auto &[forward, id] : step_.micro_batches.front().inputs)
      for (const Fed &input : fed)
        if (id == ids && input.input == forward) return input.values.index;
    return spread_ids(step_.graph, ids);
  });
}

compiler::CompileOptions TrainingSession::compile_options() const {
  const auto schedules = parse_schedules(request_.schedule);
  if (schedules.size() != 1) throw std::invalid_argument("--schedule: a step runs under one schedule");
  compiler::CompileOptions options;
  options.schedule = schedules.front();
  return options;
}

ProductOptions TrainingSession::product_options() const {
  ProductOptions products;
  products.backend = runtime::parse_backend(request_.backend);
  products.compile = compile_options();
  if (request_.convolution != "image") products.plan.images = ReadImages::kNever;
  return products;
}

TrainingOutcome TrainingSession::run(const TrainingEvents &events) {
  TrainingOutcome outcome;
  outcome.compile_seconds = executor_->compile_seconds();
  outcome.losses = before_.losses;
  outcome.steps_before = before_.steps;
  const Stopwatch stopwatch;
  const auto before = [&] {
    try {
      if (events.before) events.before(trainer_->steps_done(), steps_);
    } catch (...) {
      save(outcome);
      throw;
    }
  };
  if (dump_ && lanes_) lanes_->watch(dump_->watched);
  while (trainer_->steps_done() < steps_ && outcome.ok()) {
    before();
    if (!lanes_ && trainer_->steps_done() + 1 == steps_) begin_last_step();
    const double rate = trainer_->rate();
    count_step(outcome, next_step(before));
    const std::uint64_t done = trainer_->steps_done();
    if (outcome.ok() && (done % request_.checkpoint_every == 0 || done == steps_)) save(outcome);
    if (events.after) events.after(done, steps_, rate, outcome.last);
  }
  outcome.seconds = stopwatch.wall_seconds();
  if (request_.evaluate && outcome.ok())
    outcome.evaluation = evaluate(forward_, step_, trainer_->living(), *data_.test, events.evaluating);
  return outcome;
}

void TrainingSession::begin_last_step() {
  if (dump_) executor_->watch(dump_->watched);
  const bool read = request_.evaluate || !request_.checkpoint.empty() || (dump_ && dump_->weights);
  if (!read) executor_->end_unread();
}

double TrainingSession::evaluation_steps() const {
  constexpr double kForwardShare = 1.0 / 3;
  if (!request_.evaluate) return 0;
  const std::uint64_t batch = std::max<std::uint64_t>(1, data_.learned->count() / data_.feed->batches_an_epoch());
  return kForwardShare * static_cast<double>(data_.test->count()) / static_cast<double>(batch * options_.accumulate);
}

StepResult TrainingSession::next_step(const std::function<void()> &tick) {
  if (lanes_) return trainer_->compared_step(*lanes_, steps_, tick);
  return executor_->has_device() ? trainer_->compared_step(*executor_) : trainer_->step(*executor_);
}

std::vector<graph::FileTensor> TrainingSession::dumped(const TrainingOutcome &outcome) const {
  if (!dump_) return {};
  return runtime::train::dumped(forward_, step_, *dump_, outcome.last.watched, trainer_->living());
}

} // namespace gradweave::cli
