#include "app/validate/graphs/run_case.hpp"

#include "compiler/request/error.hpp"
#include "device/device.hpp"
#include "graph/ir/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <set>
#include <stdexcept>
#include <utility>

namespace gradweave::graphs {
namespace {

/// Parts of messages of what no plan can do (docs/random-graphs.md).
constexpr std::array<std::string_view, 4> kLegalRefusals = {
    "which rows it takes is computed in the step", // indices are the host's
    "streams begin sums with +0",                  // a sum over micro-batches goes on
    "bytes of device memory",                      // the step is larger than memory
    "no tap meets a pixel",                        // dX of a convolution that reads no pixel
};

/// Parts of messages by which the compiler says that it is at fault.
constexpr std::array<std::string_view, 2> kContradictions = {"in whose place a result has been written",
                                                             "stream is not safe"};

template <typename Texts> bool holds_one(const std::string &message, const Texts &texts) {
  for (const std::string_view text : texts)
    if (message.find(text) != std::string::npos) return true;
  return false;
}

Verdict refused(const std::exception &error) {
  const std::string message = error.what();
  if (holds_one(message, kContradictions)) return {Outcome::kContradiction, message};
  return {holds_one(message, kLegalRefusals) ? Outcome::kRefused : Outcome::kNotCompiled, message};
}

/// Memory that nobody wrote holds this (docs/architecture.md).
bool never_stored(const std::string &got) { return got.rfind("0xffa5", 0) == 0; }

Verdict judge(const runtime::train::StepResult &result) {
  if (result.difference)
    return {never_stored(result.difference->got) ? Outcome::kLost : Outcome::kWrong, result.difference->text()};
  if (result.failures.empty()) return {};
  const std::string &failure = result.failures.front();
  return {holds_one(failure, kContradictions) ? Outcome::kContradiction : Outcome::kFailed, failure};
}

Verdict train(const GraphCase &graph_case) {
  const Machine npu = machine_of(graph_case);
  cli::TrainingSession session(graph_case.request, graph_case.network, {});
  session.prepare(&npu);
  Verdict verdict;
  cli::TrainingEvents events;
  events.after = [&](std::uint64_t, std::uint64_t, double, const runtime::train::StepResult &result) {
    if (verdict.outcome == Outcome::kOk) verdict = judge(result);
  };
  session.run(events);
  return verdict;
}

} // namespace

std::string_view to_string(Outcome outcome) {
  constexpr std::array<std::string_view, kOutcomes> kNames = {
      "ok", "refused", "not compiled", "wrong bits", "lost tensor", "self-contradiction", "NPU error", "crash", "slow"};
  return kNames.at(static_cast<std::size_t>(outcome));
}

Verdict run_case(const GraphCase &graph_case) {
  try {
    return train(graph_case);
  } catch (const compiler::CompilerDefect &error) {
    return {Outcome::kContradiction, error.what()};
  } catch (const graph::GraphDefect &error) {
    return {Outcome::kContradiction, error.what()};
  } catch (const compiler::CompileError &error) {
    return refused(error);
  } catch (const graph::GraphError &error) {
    return refused(error);
  } catch (const std::invalid_argument &error) {
    return refused(error);
  } catch (const DeviceError &error) {
    if (holds_one(error.what(), kLegalRefusals)) return {Outcome::kRefused, error.what()};
    return {Outcome::kFailed, error.what()};
  } catch (const std::logic_error &error) {
    return {Outcome::kContradiction, error.what()};
  } catch (const std::exception &error) {
    return refused(error);
  }
}

std::string kind_of(const Verdict &verdict) {
  // Which element of which tensor is wrong changes from graph to graph.
  if (verdict.outcome == Outcome::kWrong || verdict.outcome == Outcome::kLost) return {};
  // Clauses that are one but for the name, as one for each op, count once.
  std::set<std::string> clauses;
  std::string clause;
  bool in_name = false;
  for (const char c : verdict.message + ";") {
    if (c == '\'') in_name = !in_name;
    if (in_name || std::isdigit(static_cast<unsigned char>(c)) != 0) continue;
    if (c == ';')
      clauses.insert(std::exchange(clause, {}));
    else if (c != ' ')
      clause += c;
  }
  return fmt::format("{}", fmt::join(clauses, ";"));
}

} // namespace gradweave::graphs
