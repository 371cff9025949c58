// Networks in small sizes, and devices that run other commands than they are given.
#pragma once

#include "graph/frontend/load_network.hpp"
#include "graph/text/read.hpp"
#include "tests/train/networks.hpp"
#include "train/npu/npu_executor.hpp"
#include "train/trainer.hpp"

#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gradweave::runtime::train {

inline graph::Graph small_bert() {
  std::ifstream in("models/bert_tiny.graph");
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  text.replace(text.rfind("[30522, width]"), std::string("[30522, width]").size(), "[61, width]");
  return graph::read_graph(text, "models/bert_tiny.graph", graph::operators(),
                           {{"batch", 2}, {"sequence", 9}, {"width", 24}, {"heads", 3}, {"layers", 1}});
}

/// gpt_char with few of all: a causal mask, which each item has for itself.
inline graph::Graph small_gpt(std::uint32_t sequence = 10) {
  std::ifstream in("models/gpt_char.graph");
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return graph::read_graph(text, "models/gpt_char.graph", graph::operators(),
                           {{"batch", 2}, {"sequence", sequence}, {"characters", 7}, {"width", 12}, {"heads", 3}});
}

/// A network that is trained on random data by an NPU alone.
class NpuSteps {
public:
  NpuSteps(graph::Graph network, const graph::TrainingOptions &options, std::unique_ptr<Device> device, Backend backend,
           bool keep_all = false)
      : forward(std::move(network)), step(graph::training_graph(forward, graph::operators(), options)),
        feed(synthetic_feed(forward, 3)), device_(std::move(device)),
        executor(step, *device_, backend, {compile_options(), keep_all}),
        trainer(step, options, {RateForm::kConstant, 0.01, 0, 10}, *feed, 1) {}

  /// A step; what differs, or failed.
  std::string next() {
    last = trainer.compared_step(executor);
    if (last.difference) return last.difference->text();
    return last.failures.empty() ? "" : last.failures.front();
  }

  graph::Graph forward;
  graph::TrainingGraph step;
  std::unique_ptr<Feed> feed;

private:
  static compiler::CompileOptions compile_options() {
    compiler::CompileOptions options;
    options.plans = 10;
    return options;
  }
  std::unique_ptr<Device> device_;

public:
  NpuExecutor executor;
  Trainer trainer;
  StepResult last;
};

/// The functional model; before a run `change` has its way with the commands, and the memory.
class ChangingDevice final : public Device {
public:
  using Change = std::function<void(std::vector<isa::Command> &, Device &)>;
  ChangingDevice(const Machine &npu, Change change)
      : Device(npu, {}), under_(make_functional_device(npu)), change_(std::move(change)) {
    under_->allocate(npu.memory.size_bytes / 2);
  }
  const std::vector<timing::CommandTimes> &command_times() const override { return under_->command_times(); }
  std::uint64_t now() const override { return under_->now(); }

private:
  void do_copy_in(std::uint64_t addr, const void *data, std::size_t bytes) override {
    under_->copy_in(addr, data, bytes);
  }
  void do_copy_out(std::uint64_t addr, void *data, std::size_t bytes) override { under_->copy_out(addr, data, bytes); }
  void do_submit(std::uint64_t, const std::vector<isa::Command> &stream) override {
    std::vector<isa::Command> changed = stream;
    change_(changed, *under_);
    under_->submit(changed);
  }
  void do_open(std::uint64_t, std::uint32_t places) override { under_->open(places); }
  std::uint64_t do_append(const std::vector<isa::Command> &commands, std::uint32_t) override {
    return under_->append(commands);
  }
  std::uint64_t do_close() override { return under_->close(); }
  bool do_advance(std::uint64_t cycle) override { return under_->advance(cycle); }
  std::optional<timing::Mark> do_take_mark() override { return under_->take_mark(); }
  RunStatus do_wait(const ProgressFunction &progress) override { return under_->wait(progress); }
  Counters do_read_counters() override { return under_->read_counters(); }
  void do_reset() override { under_->reset(); }

  std::unique_ptr<Device> under_;
  Change change_;
};

} // namespace gradweave::runtime::train
