// Which operators have jobs, and what these cost: the tables of docs/vector-jobs.md.
#include "compiler/vector/lower_op.hpp"
#include "graph/ir/product.hpp"
#include "graph/operators/table.hpp"
#include "tests/compiler/vector/op_jobs.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace gradweave::compiler {
namespace {

using Names = std::set<std::string, std::less<>>;

/// Products: the array computes them.
const Names kProducts = {"Conv", "ConvInputGradient", "ConvTranspose",      "ConvWeightGradient",
                         "Gemm", "GemmInputGradient", "GemmWeightGradient", "MatMul"};

TEST(VectorJobsTable, EveryOperatorButProductsHasJobs) {
  Names without;
  for (const graph::Operator &type : graph::operators().all())
    if (!has_jobs(type)) without.insert(std::string(type.name));
  EXPECT_EQ(without, kProducts);
}

/// Operations of all lanes, and moves of rows.
struct Cost {
  double operations = 0, elements = 0;
  std::size_t jobs = 0, moves = 0;
};

Cost cost_of(const OpJobs &jobs) {
  Cost cost;
  for (const JobStep &step : jobs.steps) {
    const auto *job = std::get_if<VectorJob>(&step);
    if (job == nullptr) {
      ++cost.moves;
      continue;
    }
    ++cost.jobs;
    const auto &sections = jobs.programs[job->program].sections;
    for (std::size_t s = 0; s < sections.size(); ++s)
      cost.operations += static_cast<double>(sections[s].size()) * job->lanes * (s % 2 == 1 ? job->steps : 1.0);
  }
  std::size_t elements = 0;
  for (const JobValue &value : jobs.values)
    if (value.tensor != graph::kNone) elements = std::max(elements, value.elements);
  cost.elements = static_cast<double>(elements);
  return cost;
}

/// Operations an element of an operator's largest tensors, over all its ops of the whole steps.
std::map<std::string, Cost, std::less<>> costs() {
  std::map<std::string, Cost, std::less<>> all;
  for (const NetworkStep &step : full_network_steps())
    for (const graph::Op &op : step.graph.ops) {
      if (graph::is_product({step.graph, op}) || !has_jobs(*op.type)) continue;
      Dice dice(27);
      const Cost cost = cost_of(lowered(step.graph, op, random_indices(step.graph, op, dice)));
      Cost &sum = all[std::string(op.type->name)];
      sum.operations += cost.operations;
      sum.elements += cost.elements;
      sum.jobs += cost.jobs;
      sum.moves += cost.moves;
    }
  return all;
}

TEST(VectorJobsTable, IsThatOfTheDocs) {
  std::ifstream file("docs/vector-jobs.md");
  std::stringstream page;
  page << file.rdbuf();
  const std::string text = page.str();
  for (const auto &[name, cost] : costs()) {
    const std::string row = fmt::format("| {} | {:.1f} |", name, cost.operations / cost.elements);
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
}

} // namespace
} // namespace gradweave::compiler
