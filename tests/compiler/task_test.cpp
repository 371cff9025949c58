// Tile tasks of graphs: each element once, chains ascending, and what each task waits for.
#include "compiler/ir/task.hpp"
#include "compiler/lower/task_work.hpp"
#include "compiler/verify/verify_tasks.hpp"

#include "graph/build/builder.hpp"
#include "graph/operators/table.hpp"
#include "graph/passes/gradient.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace gradweave::compiler {
namespace {

using graph::Builder;
using graph::ElementType;
using graph::TensorId;

/// relu(x w) w2 + that, with gradients of the sum's product with itself as a loss that needs no other operator.
struct Net {
  graph::Graph graph;
  TensorId y = graph::kNone, dw = graph::kNone;

  Net(std::uint32_t rows, std::uint32_t in, std::uint32_t hidden) {
    Builder b(graph, graph::operators());
    const TensorId x = b.input("x", ElementType::kBf16, {rows, in});
    const TensorId w = b.parameter("w", {in, hidden}, "zeros");
    const TensorId w2 = b.parameter("w2", {hidden, hidden}, "zeros");
    const TensorId h = b.add("Relu", {b.add("Gemm", {x, w}, {}, "p")}, {}, "h");
    y = b.add("Add", {b.add("Gemm", {h, w2}, {}, "q"), h}, {}, "y");
    dw = b.add("GemmWeightGradient", {h, y}, {}, "dw");
    b.add("GemmInputGradient", {y, w2}, {}, "dh");
    graph.results = {dw};
  }
};

std::vector<TaskGrid> grids(const graph::Graph &graph, std::mt19937 &dice) {
  std::vector<TaskGrid> result;
  std::uniform_int_distribution<std::uint32_t> side(0, 6);
  for (std::size_t op = 0; op < graph.ops.size(); ++op)
    result.push_back({side(dice), side(dice), side(dice)});
  return result;
}

TEST(Tasks, CoverEachElementOfAChainOnce) {
  std::mt19937 dice(7);
  std::printf("seed 7\n");
  for (int round = 0; round < 50; ++round) {
    const Net net(1 + dice() % 9, 1 + dice() % 9, 1 + dice() % 9);
    const TaskGraph tasks(net.graph, grids(net.graph, dice));
    std::map<std::tuple<graph::OpId, std::uint32_t, std::uint32_t>, std::uint32_t> done;
    for (TaskId id = 0; id < tasks.size(); ++id) {
      const Task t = tasks.task(id);
      for (std::uint32_t i = 0; i < t.box.rows; ++i)
        for (std::uint32_t j = 0; j < t.box.cols; ++j) {
          std::uint32_t &at = done[{t.op, t.box.row + i, t.box.col + j}];
          ASSERT_EQ(at, t.kind == TaskKind::kProduct ? t.first : 0U);
          at += t.kind == TaskKind::kProduct ? t.terms : 1;
        }
    }
    for (graph::OpId op = 0; op < net.graph.ops.size(); ++op) {
      const graph::OpView view{net.graph, net.graph.ops[op]};
      const auto elements = view.output(0).shape.elements();
      std::size_t found = 0;
      std::uint32_t terms = 1;
      if (view.op.type->lower != nullptr) {
        const graph::Product p = *view.op.type->lower(view).product;
        terms = p.kind == graph::ProductKind::kForward ? p.k : p.kind == graph::ProductKind::kInputGradient ? p.n : p.m;
      }
      for (const auto &[key, at] : done)
        if (std::get<0>(key) == op) {
          ++found;
          EXPECT_EQ(at, terms);
        }
      EXPECT_EQ(found, elements);
    }
  }
}

/// By force: the tasks that write an element which the task reads.
std::set<TaskId> writers_by_force(const TaskGraph &tasks, const Task &reader) {
  std::set<TaskId> result;
  for (const Need &need : tasks.needs(reader)) {
    const graph::Tensor &tensor = tasks.graph().tensors[need.tensor];
    if (!tensor.computed()) continue;
    for (TaskId id = tasks.first(tensor.producer); id < tasks.end(tensor.producer); ++id) {
      const Task t = tasks.task(id);
      const Rect &a = t.box, &b = need.rect;
      if (t.last && a.row < b.row + b.rows && b.row < a.row + a.rows && a.col < b.col + b.cols &&
          b.col < a.col + a.cols)
        result.insert(id);
    }
  }
  return result;
}

TEST(Tasks, WaitForTheWritersOfWhatTheyRead) {
  std::mt19937 dice(11);
  std::printf("seed 11\n");
  for (int round = 0; round < 50; ++round) {
    const Net net(1 + dice() % 9, 1 + dice() % 9, 1 + dice() % 9);
    const TaskGraph tasks(net.graph, grids(net.graph, dice));
    for (TaskId id = 0; id < tasks.size(); ++id) {
      std::set<TaskId> found;
      tasks.for_predecessors(id, [&](TaskId before) {
        EXPECT_LT(before, id);
        EXPECT_TRUE(found.insert(before).second) << "twice";
      });
      std::set<TaskId> wanted = writers_by_force(tasks, tasks.task(id));
      if (tasks.task(id).first > 0) wanted.insert(id - 1);
      EXPECT_EQ(found, wanted);
    }
  }
}

TEST(Tasks, APointOfASumNeedsItsOperandsOnly) {
  const Net net(8, 4, 6);
  const TaskGraph tasks(net.graph, std::vector<TaskGrid>(net.graph.ops.size(), {4, 3, 2}));
  // The second step of the tile of q at (4, 3): rows 4 to 8 of h, its columns 2 to 4, and the same rows of w2.
  const graph::OpId q = net.graph.tensors[net.graph.find("q")].producer;
  const Task t = tasks.task(tasks.first(q) + 3 * 3 + 1);
  EXPECT_TRUE((t.box == Rect{4, 3, 4, 3}));
  EXPECT_EQ(t.first, 2U);
  const std::vector<Need> needs = tasks.needs(t);
  ASSERT_EQ(needs.size(), 2U);
  EXPECT_TRUE((needs[0].rect == Rect{4, 2, 4, 2}));
  EXPECT_TRUE((needs[1].rect == Rect{2, 3, 2, 3}));
}

/// Any order that the dependences allow, drawn at random.
std::vector<TaskId> random_order(const TaskGraph &tasks, std::mt19937 &dice) {
  std::vector<std::vector<TaskId>> after(tasks.size());
  std::vector<std::size_t> waits(tasks.size());
  for (TaskId id = 0; id < tasks.size(); ++id)
    tasks.for_predecessors(id, [&](TaskId before) {
      after[before].push_back(id);
      ++waits[id];
    });
  std::vector<TaskId> ready, order;
  for (TaskId id = 0; id < tasks.size(); ++id)
    if (waits[id] == 0) ready.push_back(id);
  while (!ready.empty()) {
    std::swap(ready[dice() % ready.size()], ready.back());
    const TaskId id = ready.back();
    ready.pop_back();
    order.push_back(id);
    for (const TaskId next : after[id])
      if (--waits[next] == 0) ready.push_back(next);
  }
  return order;
}

TEST(TaskOrder, AcceptsWhatDependencesAllow) {
  std::mt19937 dice(3);
  std::printf("seed 3\n");
  for (int round = 0; round < 50; ++round) {
    const Net net(1 + dice() % 9, 1 + dice() % 9, 1 + dice() % 9);
    const TaskGraph tasks(net.graph, grids(net.graph, dice));
    EXPECT_EQ(verify_task_order(tasks, random_order(tasks, dice)), "");
  }
}

TEST(TaskOrder, RefusesATaskBeforeOneThatItWaitsFor) {
  std::mt19937 dice(5);
  std::printf("seed 5\n");
  for (int round = 0; round < 50; ++round) {
    const Net net(2 + dice() % 8, 2 + dice() % 8, 2 + dice() % 8);
    const TaskGraph tasks(net.graph, grids(net.graph, dice));
    std::vector<TaskId> order(tasks.size());
    for (TaskId id = 0; id < tasks.size(); ++id)
      order[id] = id;
    // A task moves before one of those that it waits for.
    TaskId late = tasks.size(), early = 0;
    while (late == tasks.size()) {
      const TaskId id = dice() % tasks.size();
      tasks.for_predecessors(id, [&](TaskId before) { late = id, early = before; });
    }
    std::rotate(order.begin() + static_cast<std::ptrdiff_t>(early), order.begin() + static_cast<std::ptrdiff_t>(late),
                order.begin() + static_cast<std::ptrdiff_t>(late) + 1);
    EXPECT_NE(verify_task_order(tasks, order), "");
  }
}

TEST(TaskOrder, RefusesMissingAndRepeatedTasks) {
  const Net net(4, 4, 4);
  const TaskGraph tasks(net.graph, std::vector<TaskGrid>(net.graph.ops.size(), {2, 2, 2}));
  std::vector<TaskId> order(tasks.size());
  for (TaskId id = 0; id < tasks.size(); ++id)
    order[id] = id;
  order.back() = order.front();
  EXPECT_EQ(verify_task_order(tasks, order), "task 0: 'p' at (0, 0) comes twice");
  order.pop_back();
  EXPECT_EQ(verify_task_order(tasks, order), "task 39: 'dh' at (2, 2) is missing");
}

TEST(TaskWork, TheCriticalPathIsALowerBoundThatOneChainReaches) {
  NpuConfig npu;
  npu.rows = npu.cols = 4;
  graph::Graph graph;
  Builder b(graph, graph::operators());
  // One tile, three steps of its chain: 12 cycles each, the shortest block.
  graph.results = {
      b.add("Gemm", {b.input("x", ElementType::kBf16, {4, 12}), b.input("w", ElementType::kBf16, {12, 4})})};
  const TaskWork work = task_work(TaskGraph(graph, {{4, 4, 4}}), npu);
  EXPECT_EQ(work.tasks[0], 3U);
  EXPECT_EQ(work.dependences, 2U);
  EXPECT_EQ(work.cycles[0], 36U);
  EXPECT_EQ(work.critical_path, 36U);
}

} // namespace
} // namespace gradweave::compiler
