// System files at random, routes, micro-batches and tables with them: a plan that holds together, or an error that
// names what is wrong; nothing else.
#include "tests/train/system/random_system.hpp"

#include "compiler/request/error.hpp"
#include "graph/frontend/load_network.hpp"
#include "graph/ir/error.hpp"
#include "sw_models/config/config_error.hpp"
#include "train/system/system_step.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace gradweave::runtime::train {
namespace {

constexpr std::uint64_t kSystems = 400;

/// Commands begin when all that they wait for has been told, and each device computes one thing at a time.
void expect_whole(const SystemStep &step, const SystemConfig &system) {
  const std::vector<SystemCommand> &commands = step.plan().commands();
  const SystemTimes &times = step.times();
  ASSERT_FALSE(times.stop.has_value());
  std::vector<std::uint64_t> busy(system.devices.size(), 0);
  for (CommandId id = 0; id < commands.size(); ++id) {
    const CommandSpan &span = times.spans[id];
    EXPECT_LT(span.begin, span.end);
    EXPECT_LE(span.end, times.end);
    for (const CommandId wait : commands[id].waits)
      EXPECT_GE(span.begin, times.spans[wait].end + system.notify_ps);
    const auto kind = commands[id].kind;
    if (kind != SystemCommand::Kind::kRun && kind != SystemCommand::Kind::kProcess) continue;
    EXPECT_GE(span.begin, busy[commands[id].device]);
    busy[commands[id].device] = span.end;
  }
}

/// The plan of a system's step; what is wrong, if it cannot be.
std::string problem_of(const RandomSystem &random, const std::string &model, SystemCaches &caches) {
  graph::TrainingOptions training;
  training.sparse_embeddings = true;
  compiler::CompileOptions compile;
  compile.plans = 2;
  try {
    const SystemConfig system = parse_system(random.text, "configs/systems/random.toml");
    const SystemNetwork made =
        make_system_network(compiler::load_graph(model, random.batch), system, system.partition, training);
    const ProductPlan products = plan_products(made.step.graph, machine_of(made, system));
    expect_whole(SystemStep(made, products, system, compile, caches), system);
  } catch (const ConfigError &error) {
    return error.what();
  } catch (const graph::GraphDefect &error) {
    ADD_FAILURE() << error.what() << "\n" << random.text;
  } catch (const graph::GraphError &error) {
    return error.what();
  } catch (const compiler::CompileError &error) {
    return error.what();
  } catch (const std::invalid_argument &error) {
    return error.what();
  } catch (const std::exception &error) {
    ADD_FAILURE() << error.what() << "\n" << random.text;
  }
  return "";
}

TEST(RandomSystems, GivePlansThatHoldTogetherOrNamedErrors) {
  std::uint64_t good = 0;
  SystemCaches caches;
  for (std::uint64_t seed = 1; seed <= kSystems; ++seed) {
    const RandomSystem random = random_system(seed);
    SCOPED_TRACE(seed);
    const std::string problem =
        problem_of(random, seed % 2 == 0 ? "tests/cosim/small_conv.graph" : "tests/cosim/small_dlrm.graph", caches);
    if (HasFatalFailure()) return;
    good += problem.empty() ? 1 : 0;
    const bool named = problem.find("configs/systems/random.toml") == 0 || problem.find("graph '") == 0;
    EXPECT_TRUE(problem.empty() || named) << problem;
  }
  EXPECT_GT(good, kSystems / 4);
  EXPECT_LT(good, kSystems * 3 / 4);
}

} // namespace
} // namespace gradweave::runtime::train
