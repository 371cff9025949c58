// What a step's plan consists of: memory, epilogues, staged matrices, values in place, and the check of its stream.
#include "compiler/vector/run_jobs.hpp"
#include "graph/ir/error.hpp"
#include "sw_models/vector/recorder.hpp"
#include "tests/train/convolution_networks.hpp"
#include "tests/train/npu/npu_steps.hpp"
#include "train/npu/check_stream.hpp"
#include "train/npu/plan/order/in_place.hpp"
#include "train/npu/plan/staging.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace gradweave::runtime::train {
namespace {

graph::TrainingGraph trained(const graph::Graph &forward) {
  return graph::training_graph(forward, graph::operators(), {});
}

StepMemory memory_of(const graph::Graph &graph, bool reuse = false) {
  const ProductPlan products = plan_device_products(graph, npu_of("test8v2"));
  const Views views = find_views(graph, products);
  const StepOrder order = order_step(graph, products, views);
  return plan_memory({graph, order, views, {}, reuse});
}

TEST(StepMemory, NextValuesLieInTheirPlaces) {
  const graph::TrainingGraph step = trained(perceptron(6, {20, 13, 5}));
  const StepMemory memory = memory_of(step.graph);
  EXPECT_TRUE(memory.moved.empty());
  for (const graph::Update &update : step.graph.updates)
    EXPECT_EQ(memory.places[update.next].address, memory.places[update.tensor].address);
}

TEST(StepMemory, AnOldValueThatIsReadLaterIsKept) {
  graph::TrainingGraph step = trained(perceptron(6, {20, 13, 5}));
  const graph::Update update = step.graph.updates.front();
  step.graph.results.push_back(update.tensor);
  const StepMemory memory = memory_of(step.graph);
  ASSERT_EQ(memory.moved.size(), 1U);
  EXPECT_EQ(memory.moved.front().next, update.next);
  EXPECT_NE(memory.places[update.next].address, memory.places[update.tensor].address);
}

/// Bytes of a tensor's place.
std::pair<std::uint64_t, std::uint64_t> span_of(const graph::Graph &graph, const StepMemory &memory,
                                                graph::TensorId id) {
  const std::uint64_t at = memory.places[id].address;
  return {at, at + graph.tensors[id].shape.elements() * graph::bytes_of(graph.tensors[id].type)};
}

TEST(StepMemory, WhatLivesAtOneTimeHasPlacesOfItsOwn) {
  const graph::TrainingGraph step = trained(small_bert());
  const auto readers = step.graph.consumers();
  const StepMemory all = memory_of(step.graph), reused = memory_of(step.graph, true);
  const auto kept = [](const TensorPlace &place) { return place.kept; };
  EXPECT_TRUE(std::all_of(all.places.begin(), all.places.end(), kept));
  EXPECT_FALSE(std::all_of(reused.places.begin(), reused.places.end(), kept));
  EXPECT_LT(reused.scratch, all.scratch);
  for (graph::TensorId a = 0; a < step.graph.tensors.size(); ++a)
    for (graph::TensorId b = 0; b < a; ++b) {
      if (reused.places[a].owner == reused.places[b].owner) continue;
      const auto [begin, end] = span_of(step.graph, reused, a);
      const auto [other, other_end] = span_of(step.graph, reused, b);
      if (begin >= other_end || other >= end) continue;
      // One of the two is read for the last time before the other is computed.
      const auto before = [&](graph::TensorId x, graph::TensorId y) {
        return step.graph.tensors[x].computed() && step.graph.tensors[y].computed() && !readers[x].empty() &&
               readers[x].back() < step.graph.tensors[y].producer && !reused.places[x].kept;
      };
      EXPECT_TRUE(before(a, b) || before(b, a)) << step.graph.tensors[a].name << ", " << step.graph.tensors[b].name;
    }
}

TEST(StepMemory, HeadsOfAttentionAreViews) {
  const graph::TrainingGraph step = trained(small_bert());
  const StepMemory memory = memory_of(step.graph);
  std::size_t strided = 0;
  for (graph::TensorId id = 0; id < step.graph.tensors.size(); ++id) {
    const TensorPlace &place = memory.places[id];
    if (place.strides.empty()) continue;
    ++strided;
    std::vector<bool> seen(step.graph.tensors[id].shape.elements());
    for (std::size_t i = 0; i < seen.size(); ++i)
      seen.at(place.element(step.graph.tensors[id].shape, i)) = true;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), static_cast<std::ptrdiff_t>(seen.size()));
  }
  EXPECT_EQ(strided, 8U); // q, k, v, their gradients, and those of what attention gives
}

TEST(StepMemory, TooLittleNamesBothSizes) {
  Machine npu = npu_of("test8v2");
  npu.memory.size_bytes = 1000;
  try {
    check_memory(2000, npu);
    FAIL();
  } catch (const std::invalid_argument &error) {
    EXPECT_NE(std::string(error.what()).find("2000"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("1000"), std::string::npos);
  }
}

/// Jobs of one walk: result 1 of operand 0, `steps` steps of 4 lanes.
compiler::OpJobs copy_jobs(std::size_t from_first, std::size_t to_first) {
  vector::Recorder record;
  record.loop();
  record.output(0, record.bor(record.tile(0), record.tile(0)));
  compiler::OpJobs jobs;
  jobs.values = {{"old", 0, graph::ElementType::kFp32, 64}, {"new", 1, graph::ElementType::kFp32, 64}};
  jobs.programs = {record.program()};
  compiler::VectorJob job;
  job.lanes = 4;
  job.steps = 3;
  job.operands = {{0, from_first, 4, compiler::LineOf::kRow, true, true}};
  job.results = {{1, to_first, 4, compiler::LineOf::kRow, true, true}};
  jobs.steps.emplace_back(job);
  return jobs;
}

TEST(InPlace, WhatIsReadWhereItIsWrittenMayBe) {
  compiler::OpJobs jobs = copy_jobs(8, 8);
  EXPECT_NO_THROW(fit_in_place(jobs, {64, 64}, "op"));
  jobs = copy_jobs(8, 12);
  EXPECT_NO_THROW(fit_in_place(jobs, {64, 1024}, "op"));
}

TEST(InPlace, WhatWasOverwrittenMayNotBeRead) {
  compiler::OpJobs shifted = copy_jobs(8, 12);
  EXPECT_THROW(fit_in_place(shifted, {64, 64}, "op"), graph::GraphError);
  compiler::OpJobs twice = copy_jobs(8, 8);
  twice.steps.push_back(twice.steps.front());
  EXPECT_THROW(fit_in_place(twice, {64, 64}, "op"), graph::GraphError);
}

TEST(InPlace, AMoveOntoItselfIsLeftOut) {
  compiler::OpJobs jobs = copy_jobs(8, 8);
  jobs.steps.insert(jobs.steps.begin(), compiler::MoveJob{0, 1, 0, 64, 0, 64, 1, 64});
  fit_in_place(jobs, {64, 64}, "op");
  EXPECT_EQ(jobs.steps.size(), 1U);
}

/// A convolution's matrix by jobs, and by the host.
void expect_staged(const Convolution &conv, Form form, std::uint32_t phase_number, Dice &dice) {
  PlacedTensor placed{0, compiler::Tensor::kX, false, false, form, conv, phase_number};
  const TransposedPhase phase = transposed_phases(conv).at(phase_number);
  std::size_t elements = conv.image_size(), rows = conv.m(), cols = std::size_t{conv.groups} * conv.k();
  if (form == Form::kTransposedRows) {
    elements = std::size_t{conv.m()} * conv.out_channels;
    rows = phase.pixels.size();
    cols = std::size_t{conv.groups} * phase.taps.size() * conv.n();
  } else if (form == Form::kTransposedWeights) {
    placed.as = compiler::Tensor::kW;
    elements = std::size_t{conv.groups} * conv.k() * conv.n();
    rows = std::size_t{conv.groups} * phase.taps.size() * conv.n();
    cols = conv.group_channels();
  }
  if (rows == 0 || cols == 0) return;
  std::vector<std::uint16_t> tensor(elements);
  for (std::uint16_t &value : tensor)
    value = static_cast<std::uint16_t>(dice.below(0x7f00)); // no NaN
  graph::Graph graph;
  graph.tensors.push_back({"tensor", graph::ElementType::kBf16, graph::Shape{static_cast<std::uint32_t>(elements)}});
  compiler::Layer layer;
  layer.groups = conv.groups;
  const compiler::OpJobs jobs = staging_jobs(placed, layer, graph, {}, static_cast<std::uint32_t>(rows),
                                             static_cast<std::uint32_t>(cols), false, true);
  compiler::JobMemory memory;
  for (const compiler::JobValue &value : jobs.values)
    memory.emplace_back(value.elements, 0xffa5ffa5U);
  std::transform(tensor.begin(), tensor.end(), memory[0].begin(),
                 [](std::uint16_t value) { return std::uint32_t{value} << 16U; });
  compiler::run_jobs(jobs, {5, 2}, memory);
  const std::vector<std::uint16_t> want = form == Form::kIm2col ? im2col(conv, tensor.data())
                                          : form == Form::kTransposedRows
                                              ? im2col_transposed(conv, tensor.data(), phase)
                                              : transposed_weights(conv, tensor.data(), phase);
  ASSERT_EQ(want.size(), memory[1].size());
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_EQ(memory[1][i], std::uint32_t{want[i]} << 16U) << i;
}

TEST(Staging, MatricesOfConvolutionsAreThoseOfTheHost) {
  Dice dice(7);
  for (int i = 0; i < 60; ++i) {
    const Convolution conv = i % 2 == 0 ? random_convolution(dice) : random_strided_convolution(dice);
    SCOPED_TRACE(testing::Message() << i << ": " << conv);
    expect_staged(conv, Form::kIm2col, 0, dice);
    const auto phases = static_cast<std::uint32_t>(transposed_phases(conv).size());
    for (std::uint32_t phase = 0; phase < phases; ++phase) {
      expect_staged(conv, Form::kTransposedRows, phase, dice);
      expect_staged(conv, Form::kTransposedWeights, phase, dice);
    }
  }
}

/// A step's stream, changed, and what the check says.
std::string check_of(const std::function<void(StepStream &)> &change) {
  NpuSteps steps(perceptron(6, {20, 13, 5}), {}, make_functional_device(npu_of("test8v2")), Backend::kFunctional);
  EXPECT_EQ(steps.next(), "");
  StepStream stream = steps.executor.stream();
  change(stream);
  return check_stream(stream, steps.step.graph, npu_of("test8v2"), steps.executor.planned().memory_bytes());
}

std::size_t first_of(const StepStream &stream, isa::Opcode opcode, std::size_t from) {
  while (stream.commands[from].get(isa::field::OPCODE) != static_cast<std::uint32_t>(opcode))
    ++from;
  return from;
}

TEST(CheckStream, PassesWhatIsSafe) {
  EXPECT_EQ(check_of([](StepStream &) {}), "");
}

TEST(CheckStream, ABarrierThatIsMissingIsSeen) {
  const std::string problem = check_of([](StepStream &stream) {
    for (std::size_t section = 1; section < stream.sections.size(); ++section)
      for (const std::size_t at : {stream.sections[section].first - 2, stream.sections[section].first - 1}) {
        isa::Decoded decoded = *isa::decode(stream.commands[at]);
        decoded.sync = {};
        stream.commands[at] = isa::encode(decoded);
      }
  });
  EXPECT_NE(problem.find("op '"), std::string::npos) << problem;
}

/// A section of a LOAD and a STORE of four bf16 values each, the STORE `bytes` behind the LOAD's place; it waits for
/// that if `waits`.
std::string check_of_pair(std::uint64_t bytes, bool waits) {
  return check_of([&](StepStream &stream) {
    isa::DmaCommand load;
    load.dram_addr = 0x1000;
    load.rows = 1;
    load.cols = 4;
    load.spm.pstride = 1;
    isa::DmaCommand store = load;
    store.store = true;
    store.dram_addr += bytes;
    store.spm.row = 4;
    isa::Decoded first{load, {}, 0}, second{store, {}, 0};
    if (waits) {
      first.sync.posts[0] = 0;
      second.sync.waits[0] = {0, 1};
    }
    stream.commands = {isa::encode(first), isa::encode(second)};
    stream.sections = {{graph::kNone, "a pair", 0, 2, {}, true}};
  });
}

TEST(CheckStream, BytesThatASectionReadsAndWritesAreSeen) {
  EXPECT_EQ(check_of_pair(8, false), "");
  EXPECT_EQ(check_of_pair(6, true), "");
  const std::string problem = check_of_pair(6, false);
  EXPECT_NE(problem.find("it may write bytes of 0x1006 to 0x100d while the section reads them"), std::string::npos)
      << problem;
}

TEST(CheckStream, AnIllegalCommandIsSeen) {
  const std::string problem = check_of(
      [](StepStream &stream) { stream.commands[first_of(stream, isa::Opcode::LOAD, 0)].set(isa::field::ROWS, 0); });
  EXPECT_NE(problem.find("the hardware would refuse it"), std::string::npos) << problem;
}

TEST(CheckStream, AWaitThatIsMissingIsSeen) {
  const std::string problem = check_of([](StepStream &stream) {
    const std::size_t at = first_of(stream, isa::Opcode::VECTOR, 0);
    isa::Decoded decoded = *isa::decode(stream.commands[at]);
    decoded.sync.waits = {};
    stream.commands[at] = isa::encode(decoded);
  });
  EXPECT_NE(problem, "");
}

/// Operators of all epilogues that there may be, by name.
std::multiset<std::string> epilogue_operators(const graph::Graph &network, const graph::TrainingOptions &options) {
  const graph::TrainingGraph step = graph::training_graph(network, graph::operators(), options);
  const ProductPlan products = plan_device_products(step.graph, npu_of("test8v2"));
  const Views views = find_views(step.graph, products);
  EpilogueFinder finder(step.graph, products, views, {});
  std::multiset<std::string> names;
  for (std::size_t pass = 0; pass < products.passes.size(); ++pass) {
    const std::vector<PassEpilogue> found = finder.behind(pass);
    for (const PassEpilogue &epilogue : found)
      for (const graph::OpId op : epilogue.ops)
        names.insert(std::string(step.graph.ops[op].type->name));
    finder.take(pass, found);
  }
  return names;
}

TEST(EpilogueFinder, FindsWhatIsLocalAndHasItsOperands) {
  const std::multiset<std::string> names = epilogue_operators(perceptron(6, {20, 13, 9, 5}), {});
  EXPECT_EQ(names.count("AdamW"), 3U); // those of biases follow no product
  EXPECT_EQ(names.count("Bias"), 3U);
  EXPECT_EQ(names.count("BiasGradient"), 0U);
  EXPECT_EQ(names.count("SoftmaxCrossEntropy"), 0U);
}

/// A bias's gradient goes with the pass that reads the same dY, and with no other behind it.
TEST(EpilogueFinder, FindsSumsOfOperands) {
  const graph::TrainingGraph step = trained(perceptron(6, {20, 13, 9, 5}));
  const ProductPlan products = plan_device_products(step.graph, npu_of("test8v2"));
  const Views views = find_views(step.graph, products);
  EpilogueFinder finder(step.graph, products, views, {});
  std::size_t sums = 0;
  for (std::size_t pass = 0; pass < products.passes.size(); ++pass) {
    const std::vector<PassEpilogue> found = finder.sums_of(pass);
    for (const PassEpilogue &sum : found) {
      EXPECT_TRUE(sum.is_sum);
      EXPECT_EQ(step.graph.ops[sum.ops.at(0)].type->name, "BiasGradient");
      EXPECT_EQ(products.passes[pass].placed(compiler::Tensor::kDY).id, sum.of);
    }
    sums += found.size();
    finder.take(pass, found);
    EXPECT_TRUE(finder.sums_of(pass).empty());
  }
  EXPECT_GT(sums, 0U);
}

TEST(EpilogueFinder, AnUpdateWaitsForTheNormOfAllGradients) {
  graph::TrainingOptions options;
  options.clip_norm = 0.1;
  EXPECT_EQ(epilogue_operators(perceptron(6, {20, 13, 9, 5}), options).count("AdamW"), 0U);
}

TEST(EpilogueFinder, OperatorsOfARowOrATableFollowNoProduct) {
  graph::TrainingOptions options;
  options.sparse_embeddings = true;
  const std::multiset<std::string> names = epilogue_operators(small_bert(), options);
  EXPECT_GT(names.count("Gelu") + names.count("GeluGradient"), 0U);
  for (const char *name : {"Softmax", "LayerNormalization", "SparseAdamW", "GatherGradient", "Transpose"})
    EXPECT_EQ(names.count(name), 0U) << name;
}

TEST(EpilogueJobs, AResultThatOthersReadIsStored) {
  graph::TrainingGraph step = trained(perceptron(6, {20, 13, 5}));
  const ProductPlan products = plan_device_products(step.graph, npu_of("test8v2"));
  const Views views = find_views(step.graph, products);
  const PassEpilogue epilogue = EpilogueFinder(step.graph, products, views, {}).behind(0).at(0);
  const Keeps keeps = [](graph::TensorId) { return false; };
  for (const bool others : {false, true}) {
    if (others) step.graph.ops.back().inputs.front() = epilogue.of;
    const EpilogueJobs jobs =
        epilogue_jobs(step.graph, step.graph.consumers(), products.passes[0], epilogue, views, keeps);
    EXPECT_EQ(jobs.epilogue.in_memory[jobs.epilogue.result], others);
    EXPECT_EQ(std::count(jobs.inside.begin(), jobs.inside.end(), epilogue.of), others ? 0 : 1);
  }
}

/// An operator of an epilogue is its pass's, and no station's.
TEST(EpilogueFinder, StationsLeaveEpiloguesOut) {
  const graph::TrainingGraph step = trained(perceptron(6, {20, 13, 5}));
  const ProductPlan products = plan_device_products(step.graph, npu_of("test8v2"));
  const Views views = find_views(step.graph, products);
  EpilogueFinder finder(step.graph, products, views, {});
  Epilogues epilogues;
  for (std::size_t pass = 0; pass < products.passes.size(); ++pass) {
    epilogues.push_back(finder.behind(pass));
    finder.take(pass, epilogues.back());
  }
  const StepOrder order = order_step(step.graph, products, views, {}, epilogues);
  for (std::size_t pass = 0; pass < epilogues.size(); ++pass)
    for (const PassEpilogue &epilogue : epilogues[pass])
      for (const graph::OpId op : epilogue.ops) {
        EXPECT_EQ(order.station_of[op], order.station_of[products.passes[pass].when()]);
        for (const Station &station : order.stations)
          EXPECT_EQ(std::count(station.ops.begin(), station.ops.end(), op), 0);
      }
}

} // namespace
} // namespace gradweave::runtime::train
