// A training session's checkpoints.
#include "app/session/training_session.hpp"
#include "base/file/output_file.hpp"
#include "base/key/fingerprint.hpp"
#include "graph/text/print.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

namespace gradweave::cli {
namespace {

using namespace runtime::train;

} // namespace

void TrainingSession::check_checkpoint() {
  const std::filesystem::path file = request_.checkpoint;
  if (file.empty()) {
    if (request_.resume) throw std::invalid_argument("--resume: from which file? Give --checkpoint FILE");
    return;
  }
  if (file.extension() != ".safetensors")
    throw std::invalid_argument(fmt::format("--checkpoint {}: the name must end in .safetensors", file.string()));
  if (system_) throw std::invalid_argument("--checkpoint: a run of a --system keeps none; leave it out");
  if (std::filesystem::exists(file) && !request_.resume)
    throw std::invalid_argument(
        fmt::format("--checkpoint {}: the file is there; add --resume to go on from it, or remove it", file.string()));
  checkpoint_lock_.emplace(file);
  const OutputFile probe(file); // before minutes are spent
}

/// The backend and the NPU are not in it, as no bit depends on them.
RunIdentity TrainingSession::identity() const {
  const graph::TrainingOptions &o = options_;
  const auto number = [](double value) { return fmt::format("{}", value); };
  RunIdentity run;
  run["model"] = step_.graph.name;
  run[kNetwork] = Fingerprint().add(graph::print_graph(step_.graph)).hex();
  run["data"] = run_.data;
  const auto file = [&run](const char *option, const TensorSource &source) {
    if (source.there()) run[option] = file_fingerprint(source.name()).hex();
  };
  file("--weights", tensors_.weights);
  file("--input", tensors_.input);
  file("--target", tensors_.target);
  run["--seed"] = std::to_string(request_.seed);
  run["--steps"] = std::to_string(steps_);
  run["--accumulate"] = std::to_string(o.accumulate);
  run["--extent"] = request_.extent;
  run["--sparse-embeddings"] = o.sparse_embeddings ? "yes" : "no";
  run["--optimizer"] = std::string(to_string(o.optimizer));
  run["--lr"] = number(request_.lr);
  run["--schedule-lr"] = request_.lr_schedule;
  run["--warmup"] = std::to_string(request_.warmup);
  run["--weight-decay"] = number(o.weight_decay);
  run["--momentum"] = number(o.momentum);
  run["--clip"] = number(o.clip_norm);
  return run;
}

void TrainingSession::resume() {
  if (!request_.resume || !std::filesystem::exists(request_.checkpoint)) return;
  before_ = read_checkpoint(request_.checkpoint, step_.graph, identity());
  if (before_.steps > steps_)
    throw ConfigError(fmt::format("{}: has {} steps, more than the run", request_.checkpoint, before_.steps));
  if (dump_ && before_.steps == steps_)
    throw std::invalid_argument(
        fmt::format("--dump: {} has all steps, so that none is left whose tensors could be written; leave out --resume",
                    request_.checkpoint));
  trainer_->resume(before_.steps, before_.living);
}

void TrainingSession::save(const TrainingOutcome &outcome) const {
  if (!request_.checkpoint.empty())
    write_checkpoint(request_.checkpoint, step_.graph, identity(),
                     {trainer_->steps_done(), outcome.losses, trainer_->living()});
}

} // namespace gradweave::cli
