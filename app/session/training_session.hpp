// A training run as users ask for it: network, data, optimizer, and what products run on, made ready step by step.
#pragma once

#include "app/report/training_report.hpp"
#include "app/request/step_arguments.hpp"
#include "app/request/work_arguments.hpp"
#include "base/file/file_lock.hpp"
#include "train/checkpoint/checkpoint.hpp"
#include "train/data/tensor_source.hpp"
#include "train/npu/npu_executor.hpp"
#include "train/system/partition_search.hpp"
#include "train/system/system_executor.hpp"
#include "train/tensors.hpp"
#include "train/trainer.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gradweave::cli {

struct TrainRequest {
  std::string program = "gradweave"; ///< how the command was called
  std::string model = "mlp_fashion", npu = "small", schedule = "rearrange";
  std::string data = "fashion-mnist"; ///< or synthetic, or a directory
  std::string backend = "golden";     ///< or what products run on
  std::string convolution = "image";  ///< what convolutions read; or im2col
  unsigned jobs = 0;                  ///< steps at a time, each on a device of its own; 0: as many as pay
  bool keep_all = false;              ///< every tensor of a step that an NPU runs alone reaches memory, and stays
  std::string operators = {};         ///< what runs ops that are no products: host or npu; empty: as the NPU can
  std::string system = {};            ///< file of a system that trains instead of one NPU; empty: none
  std::uint64_t search_partition = 0; ///< steps of the system that a search for a partition may time; 0: the file's
  std::string extent = "updates", optimizer = "adamw", lr_schedule = "constant";
  std::vector<std::string> set = {}; ///< TABLE.FIELD=VALUE each
  std::string until;                 ///< the op, node or tensor that the network ends with; empty: all of it
  std::vector<std::string> frozen = {}, learned = {}; ///< parameters that are not learned, and those that are
  std::string loss;                                   ///< of a network that has none; empty: cross_entropy
  std::uint32_t batch = 0, accumulate = 1;            ///< batch 0: as the network says
  std::uint64_t steps = 0, epochs = 0;                ///< both 0: one epoch, or 10 steps of synthetic data
  double lr = 1e-3, momentum = 0.9, clip = 0;
  double weight_decay = -1; ///< below 0: 0.01 of AdamW, 0 of SGD
  std::uint64_t warmup = 0, seed = 1;
  bool sparse_embeddings = false, evaluate = false, quiet = false;
  std::string checkpoint;              ///< file that the run can go on from; empty: none
  std::uint64_t checkpoint_every = 10; ///< steps
  bool resume = false;                 ///< go on from the checkpoint, if the file is there
  TensorArguments tensors;
  std::string command = "train"; ///< the subcommand that repeats the run: cosim and simulate have one step by --step
  bool from_make = false;
};

/// One step on synthetic data of what layers are asked of; `command` and `backend` are still to be set.
TrainRequest step_request(const WorkArguments &work);

/// Tensors that a run begins with.
struct TrainingTensors {
  runtime::train::TensorSource weights, input, target;

  bool feeds() const { return input.there() || target.there(); }
};
/// Those in the files that a request names.
TrainingTensors tensors_of(const TensorArguments &arguments);

/// The network of a request from its file, with a loss. Throws as compiler::load_graph(), and as with_loss().
graph::Graph load_forward(const TrainRequest &request);
/// The network with the loss of that name, of none: cross entropy if it `lacks` one as all files of its kind do. Throws
/// std::invalid_argument if it has a loss of its own and one is asked for.
graph::Graph with_loss(graph::Graph forward, const std::string &loss, bool lacks);

/// Called before each step with its number from 0 and how many there are, and now and then while several are under way;
/// may throw, which ends the run, with a checkpoint of the steps before. After each step with that number, its rate and
/// its result.
struct TrainingEvents {
  std::function<void(std::uint64_t, std::uint64_t)> before;
  std::function<void(std::uint64_t, std::uint64_t, double, const runtime::train::StepResult &)> after;
  std::function<void(double)> evaluating; ///< the share of the evaluation that is done; may throw
};

/// What a run works on, in the order in which it is made.
class TrainingSession {
public:
  /// Checks all that is asked for. Throws std::invalid_argument, DataError, graph::GraphError, ConfigError.
  TrainingSession(const TrainRequest &request, graph::Graph forward, const TrainingTensors &tensors);
  TrainingSession(const TrainingSession &) = delete;
  TrainingSession &operator=(const TrainingSession &) = delete;

  /// Makes what steps run on: the golden execution, and products on `npu`, or the request's system, if the request's
  /// backend is another. Throws compiler::CompileError, DeviceError, std::invalid_argument.
  void prepare(const Machine *npu);
  /// All steps, or those that a checkpoint has not, up to the first difference or failure; then the evaluation, if one
  /// is asked for. After prepare().
  runtime::train::TrainingOutcome run(const TrainingEvents &events);
  /// The tensors of the last step that are asked for (TensorArguments::dump); none if none are.
  std::vector<graph::FileTensor> dumped(const runtime::train::TrainingOutcome &outcome) const;

  const runtime::train::TrainingRun &what() const { return run_; }
  std::uint64_t steps() const { return steps_; }
  /// How long the evaluation at the end takes, in steps: a forward pass is about a third of one. 0: there is none.
  double evaluation_steps() const;
  /// Steps that were done when the run began, of a checkpoint; after prepare().
  std::uint64_t steps_before() const { return before_.steps; }
  const graph::Graph &forward() const { return forward_; }
  const graph::TrainingGraph &step() const { return step_; }
  const runtime::train::StepExecutor &executor() const { return *executor_; }
  /// Null if there is none.
  const SystemConfig *system() const { return system_ ? &*system_ : nullptr; }
  /// Of a system whose partition was searched for; else nothing.
  const std::optional<runtime::train::PartitionSearch> &search() const { return search_; }
  /// Of a system on the RTL or the timing model, after prepare(); else null.
  const runtime::train::SystemStep *system_step() const { return on_system_; }

private:
  /// The data of a run: images, tensors or random numbers.
  struct Data {
    std::unique_ptr<const runtime::train::Dataset> learned, test; ///< in a place of their own: the feed refers to it
    std::unique_ptr<runtime::train::Feed> feed;
  };
  static Data load_data(const TrainRequest &request, const graph::Graph &forward, const TrainingTensors &tensors);
  static std::uint64_t steps_of(const TrainRequest &request, const runtime::train::Feed &feed);
  void check_dump();
  void check_checkpoint();
  runtime::train::RunIdentity identity() const;
  void resume();
  void save(const runtime::train::TrainingOutcome &outcome) const;
  void prepare_system();
  void prepare_device(const Machine &npu);
  unsigned jobs_of(runtime::Backend backend) const;
  void begin_last_step();
  runtime::train::StepResult next_step(const std::function<void()> &tick);
  void look_up_first_batch();
  bool operators_on(const Machine &npu);
  compiler::CompileOptions compile_options() const;
  runtime::train::ProductOptions product_options() const;
  std::optional<const runtime::train::SystemNetwork> network_of(const graph::Graph &forward);

  TrainRequest request_;
  TrainingTensors tensors_;
  graph::TrainingOptions options_;
  std::optional<const SystemConfig> system_;
  runtime::train::SystemCaches caches_;
  std::optional<runtime::train::PartitionSearch> search_;
  std::optional<const runtime::train::SystemNetwork> network_; ///< of the system
  graph::Graph forward_;                                       ///< of the system: with parts of the batch
  Data data_;
  graph::TrainingGraph step_;
  std::uint64_t steps_;
  runtime::train::TrainingRun run_;
  std::optional<runtime::train::Dump> dump_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<runtime::train::StepExecutor> executor_;
  std::optional<const FileLock> checkpoint_lock_;         ///< of a run that keeps one
  std::optional<runtime::train::Lanes> lanes_;            ///< of several steps at a time
  runtime::train::ProductPlan products_;                  ///< that timed_ refers to
  std::unique_ptr<runtime::train::SystemStep> timed_;     ///< of a system on the timing model
  const runtime::train::SystemStep *on_system_ = nullptr; ///< that, or executor_'s
  std::optional<runtime::train::Trainer> trainer_;
  runtime::train::Checkpoint before_; ///< what the run went on from
};

} // namespace gradweave::cli
