// train: steps of a whole graph, with tensors of NumPy in and out.
#include "python/bind.hpp"
#include "python/graphs.hpp"
#include "python/long_call.hpp"
#include "python/sources.hpp"

#include "app/report/page/training_page.hpp"
#include "app/request/settings.hpp"
#include "app/session/training_session.hpp"
#include "base/file/output_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <stdexcept>

namespace gradweave::python {
namespace {

using runtime::train::TensorSource;
using runtime::train::TrainingOutcome;

constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 40U;

graph::FileType type_of(const std::string &name, const py::buffer_info &array) {
  const std::string &f = array.format;
  const char kind = f.empty() ? ' ' : f.back();
  if (kind == 'f' && array.itemsize == 4) return graph::FileType::kFp32;
  if (kind == 'd' && array.itemsize == 8) return graph::FileType::kFp64;
  if (kind == 'e' && array.itemsize == 2) return graph::FileType::kFp16;
  if ((kind == 'i' || kind == 'l' || kind == 'q') && array.itemsize == 4) return graph::FileType::kInt32;
  if ((kind == 'i' || kind == 'l' || kind == 'q') && array.itemsize == 8) return graph::FileType::kInt64;
  if (kind == 'B') return graph::FileType::kUint8;
  if (kind == 'b') return graph::FileType::kInt8;
  if (kind == 'H') return graph::FileType::kUint16;
  if (kind == 'h') return graph::FileType::kInt16;
  if (kind == '?') return graph::FileType::kBool;
  throw std::invalid_argument(fmt::format("tensor '{}' has elements of format '{}'; use float16, float32, float64, "
                                          "int64, int32, int16, int8, uint16, uint8 or bool",
                                          name, f));
}

/// Arrays of Python as a source: looked at here, read where it is asked for, without Python's lock. The buffers keep
/// the memory in its place, and must end with the lock.
class Arrays {
public:
  Arrays(std::string name, const py::dict &arrays) : name_(std::move(name)) {
    for (const auto &[key, array] : arrays) {
      Entry &entry = *entries_.emplace_back(std::make_unique<Entry>());
      entry.what.name = key.cast<std::string>();
      entry.buffer = array.cast<py::buffer>().request();
      entry.what.type = type_of(entry.what.name, entry.buffer);
      entry.what.shape.assign(entry.buffer.shape.begin(), entry.buffer.shape.end());
    }
  }

  TensorSource source() const {
    if (entries_.empty()) return {};
    return {name_, [this](const graph::AcceptTensor &accept) {
              std::vector<graph::FileTensor> tensors;
              for (const auto &entry : entries_) {
                accept(entry->what);
                tensors.push_back({entry->what, std::string(static_cast<const char *>(entry->buffer.ptr),
                                                            static_cast<std::size_t>(entry->buffer.size) *
                                                                static_cast<std::size_t>(entry->buffer.itemsize))});
              }
              return tensors;
            }};
  }

private:
  struct Entry {
    graph::TensorEntry what;
    py::buffer_info buffer;
  };
  std::string name_;
  std::vector<std::unique_ptr<Entry>> entries_;
};

void take_learning(Options &options, cli::TrainRequest &r) {
  options.take("data", r.data);
  options.take("accumulate", r.accumulate, 1, 1U << 10U);
  options.take("seed", r.seed, 0, ~std::uint64_t{0});
  options.take("steps", r.steps, 1, kMostSteps);
  options.take("epochs", r.epochs, 1, 1U << 20U);
  if (r.steps != 0 && r.epochs != 0)
    throw std::invalid_argument("steps and epochs exclude each other; give one of them");
  options.take("extent", r.extent);
  options.take("optimizer", r.optimizer);
  options.take("lr", r.lr, 0, 1e30);
  options.take("schedule_lr", r.lr_schedule);
  options.take("warmup", r.warmup, 0, ~std::uint64_t{0});
  options.take("weight_decay", r.weight_decay, 0, 1e30);
  options.take("momentum", r.momentum, 0, 1e30);
  options.take("clip", r.clip, 0, 1e30);
  options.take("sparse_embeddings", r.sparse_embeddings);
  options.take("evaluate", r.evaluate);
}

/// Returns the file of the page.
std::string take_request(Options &options, cli::TrainRequest &r) {
  cli::WorkArguments work;
  take_files(options, work);
  r.batch = work.batch;
  r.until = work.until;
  r.set = work.set;
  options.take("loss", r.loss);
  options.take("backend", r.backend);
  options.take("schedule", r.schedule);
  options.take("jobs", r.jobs, 1, 1U << 10U);
  take_convolution(options, r.convolution);
  std::vector<std::string> dump;
  options.take("dump", dump);
  r.tensors.dump = fmt::format("{}", fmt::join(dump, ","));
  take_learning(options, r);
  std::string html;
  options.take("html", html);
  options.done();
  return html;
}

graph::Graph forward_of(const cli::TrainRequest &request, const ModelSource &model) {
  if (model.graph()) return cli::with_loss(*model.graph(), request.loss, false);
  if (model.is_object())
    throw std::invalid_argument(fmt::format(
        "network '{}' is a list of layers; give train() the network's name or file, or a Graph", model.name()));
  return cli::load_forward(request);
}

/// float32 of what is bf16 or fp32, else int64; the array owns the tensor's memory. NumPy has no bf16, so such a tensor
/// is widened, exactly.
py::array array_of(graph::FileTensor tensor) {
  std::vector<py::ssize_t> shape(tensor.shape.begin(), tensor.shape.end());
  switch (tensor.type) {
  case graph::FileType::kFp32:
    return array_owning<float>(std::move(tensor.bytes), std::move(shape));
  case graph::FileType::kInt64:
    return array_owning<std::int64_t>(std::move(tensor.bytes), std::move(shape));
  default:
    return array_owning<float>(floats_of(tensor), std::move(shape));
  }
}

void fail_unless_ok(const TrainingOutcome &outcome, const nlohmann::ordered_json &report) {
  if (outcome.ok()) return;
  std::vector<std::string> problems = outcome.last.failures;
  if (outcome.last.difference) problems.push_back(outcome.last.difference->text());
  throw FailedRun(fmt::format("step {}: {}", outcome.losses.size(), fmt::join(problems, "\n")), report);
}

py::dict train(py::handle model, py::handle npu, const py::dict &weights, const py::dict &input, const py::dict &target,
               py::dict given) {
  const ModelSource network(model);
  const NpuSource machine(npu);
  Options options(std::move(given));
  cli::TrainRequest request;
  const std::string html = take_request(options, request);
  request.model = network.name();
  request.npu = machine.name();
  request.quiet = true;
  const Arrays own_weights("weights", weights), inputs("input", input), targets("target", target);
  nlohmann::ordered_json report;
  std::vector<graph::FileTensor> dumped;
  run_long([&](const SignalGuard &signals) {
    cli::TrainingSession session(request, forward_of(request, network),
                                 {own_weights.source(), inputs.source(), targets.source()});
    std::optional<Machine> device;
    if (request.backend != "golden") {
      const runtime::Backend backend = runtime::parse_backend(request.backend);
      device = machine.read(request.set);
      if (backend == runtime::Backend::kRtl) machine.require_rtl(*device);
    }
    std::optional<OutputFile> page;
    if (!html.empty()) page.emplace(html);
    session.prepare(device ? &*device : nullptr);
    cli::TrainingEvents events;
    events.before = [&](std::uint64_t, std::uint64_t) { signals.check(); };
    const TrainingOutcome outcome = session.run(events);
    report = to_json(session.what(), outcome);
    if (network.is_object() || machine.is_object() || inputs.source().there() || targets.source().there() ||
        own_weights.source().there())
      report["reproduce"] = "";
    if (page) page->commit(report::training_page(report));
    fail_unless_ok(outcome, report);
    dumped = session.dumped(outcome);
  });
  py::dict result = to_python(report);
  py::dict tensors;
  for (graph::FileTensor &tensor : dumped) {
    const py::str name(tensor.name);
    tensors[name] = array_of(std::move(tensor));
  }
  result["tensors"] = tensors;
  return result;
}

} // namespace

void bind_train(py::module_ &module) { module.def("train", &train); }

} // namespace gradweave::python
