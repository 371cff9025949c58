// Random training graphs whose choices are the input's bytes: each trains on the functional NPU with golden bits, or is
// refused for a reason that the compiler documents.
#include "app/validate/graphs/run_case.hpp"
#include "graph/text/print.hpp"
#include "tests/fuzz/fuzz_target.hpp"

using namespace gradweave;

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  graphs::Choices choices(data, size);
  graphs::CaseOptions options;
  options.most = 5; // the smaller a graph, the more of them
  const auto drawn = graphs::draw_case(choices, options, "fuzz");
  if (!drawn) return 0;
  const graphs::Verdict verdict = graphs::run_case(*drawn);
  if (graphs::is_failure(verdict.outcome))
    fuzz::finding(std::string(graphs::to_string(verdict.outcome)) + ": " + verdict.message + "\n" +
                  graphs::command_of(*drawn, "FILE.graph") + "\n" + graph::print_graph(drawn->network));
  return 0;
}
