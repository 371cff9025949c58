// A whole step of training as one stream of commands: products on the array, all else on vector units, moves by DMA.
#pragma once

#include "compiler/compiler.hpp"
#include "compiler/strips/job_sections.hpp"
#include "compiler/vector/job.hpp"
#include "graph/passes/training.hpp"
#include "sw_models/config/machine.hpp"
#include "train/npu/epilogues.hpp"
#include "train/npu/item_sections.hpp"
#include "train/npu/plan/order/same_elements.hpp"
#include "train/npu/plan/order/step_order.hpp"
#include "train/npu/plan/product_section.hpp"
#include "train/npu/plan/step_memory.hpp"
#include "train/npu/pooling_sections.hpp"
#include "train/npu/step_sections.hpp"
#include "train/product_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace gradweave::runtime::train {

/// The elements of int32 tensors that a step is fed, by tensor; null of others.
using StepIndices = std::vector<const std::vector<std::int32_t> *>;

/// The products of a step of which the host does nothing: convolutions read images wherever they can, as im2col is
/// then a move of every element. Those of depthwise convolutions are the vector unit's (depthwise_op.hpp).
ProductPlan plan_device_products(const graph::Graph &graph, const Machine &npu);

/// The ops that no NPU can compute, and why, separated by "; ": products that are the host's, operators without jobs.
/// Empty: there are none.
std::string refused_ops(const graph::Graph &graph, const ProductPlan &products);

/// Plans a step for an NPU with a vector unit and writes its streams. Operators that follow one another are one
/// section, and what only these read stays in the scratchpad; so are groups of ops that go item by item, products of
/// attention and what is between them. Operators that are local to a product's result run on its tiles before these
/// leave the scratchpad, where that is faster (choose_epilogues.hpp). Sections follow one another in the order of the
/// graph's ops; between two LOADs wait for all STOREs before (a SYNC each), so that what a section stores the next ones
/// read. Of a step's stream only sections that depend on what it is fed, rows that an embedding looks up, are made
/// anew; those of constants are known.
class StepPlan {
public:
  /// Throws std::invalid_argument: the NPU has no vector unit, ops that it cannot compute (all of them, with the
  /// remedy), or too little memory; compiler::CompileError. `products`: plan_device_products(). References must
  /// outlive this. `keep_all`: every tensor reaches memory, and no place is used again.
  StepPlan(const graph::TrainingGraph &step, const ProductPlan &products, const Machine &npu,
           const compiler::CompileOptions &options, bool keep_all = false);

  const StepMemory &memory() const { return memory_; }
  /// From address 0 on, the stream apart.
  std::uint64_t memory_bytes() const { return memory_bytes_; }
  /// That, and the longest stream there may be: what fits the device's memory for certain.
  std::uint64_t room() const;
  std::uint64_t multiply_adds() const { return multiply_adds_; }
  double compile_seconds() const { return compile_seconds_; }

  /// The int32 tensors, no constants, that streams depend on; none: all are the same.
  const std::vector<graph::TensorId> &index_tensors() const { return index_tensors_; }
  /// What the constants among all int32 tensors say.
  const std::map<graph::TensorId, std::vector<std::int32_t>> &constant_numbers() const { return constants_; }
  /// The int32 tensor that names the rows which an op gives, if it gives no others (plan/named_rows.hpp). kNone: all.
  graph::TensorId rows_of(graph::OpId op) const;
  /// Checked (check_stream.hpp, check_flow.hpp). Throws std::invalid_argument: memory does not hold it;
  /// graph::GraphDefect: it is not safe, or does not move the values that the graph names.
  StepStream stream(const StepIndices &indices) const;
  /// What check_flow() holds streams to.
  FlowPlan flow() const;

private:
  struct Part {
    graph::OpId op = graph::kNone;
    std::string what;
    std::vector<isa::Command> commands;
    bool by_indices = false;           ///< it is made anew for each stream
    std::vector<graph::OpId> ops = {}; ///< StepSection's
    bool has_gaps = false;             ///< StepSection's
  };

  void check(const StepStream &stream) const;
  void compile(const compiler::CompileOptions &options);
  void lower();
  void place(bool reuse);
  void make_sections();
  void add_pass(std::size_t pass);
  void add_staged(const std::vector<StagedMatrix> &staged, const ProductPass &pass);
  void add_operators(std::size_t station);
  void add_jobs(compiler::OpJobs jobs, const std::vector<graph::OpId> &ops, const std::string &what);
  void add_areas(graph::OpId op);
  void add_items(std::size_t group);
  void add_moves();
  std::uint64_t known_commands() const;
  void take_constants();
  std::vector<graph::TensorId> row_numbers_of(graph::OpId op) const;
  void note_indices(graph::OpId op);
  void reserve_scratch(graph::OpId op);
  // `end`: that of memory, which moves on where values between jobs need more.
  std::vector<isa::Command> commands_by_indices(graph::OpId op, const StepIndices &indices, std::uint64_t &end) const;
  std::vector<std::uint64_t> addresses_of(const compiler::OpJobs &jobs, std::uint64_t &end) const;
  std::vector<isa::Command> commands_of(const compiler::OpJobs &jobs,
                                        const std::vector<std::uint64_t> &addresses) const;

  const graph::TrainingGraph &step_;
  const Machine &npu_;
  const ProductPlan &products_;
  Views views_;
  Keeps keeps_;
  ItemSections items_;
  compiler::JobSections job_sections_;
  std::map<graph::OpId, compiler::AreaPlan> poolings_; ///< that are sections of their own
  StepOrder order_;
  Epilogues epilogues_;                                  ///< of each pass
  std::vector<compiler::EpilogueRoom> rooms_;            ///< of each pass that has epilogues
  std::vector<std::vector<EpilogueJobs>> epilogue_jobs_; ///< of each pass
  std::vector<compiler::OpJobs> jobs_;                   ///< of each station of operators; none where indices decide
  std::vector<bool> inside_;                             ///< of each tensor: it never reaches memory
  std::set<graph::TensorId> displaced_;                  ///< next values that cannot take the places of those before
  StepMemory memory_;
  std::uint64_t memory_bytes_ = 0, multiply_adds_ = 0;
  std::vector<compiler::Compiled> compiled_; ///< of each pass
  std::vector<Part> parts_;                  ///< in order
  std::vector<graph::TensorId> index_tensors_;
  std::map<graph::TensorId, std::vector<std::int32_t>> constants_; ///< that number rows
  double compile_seconds_ = 0;
};

} // namespace gradweave::runtime::train
