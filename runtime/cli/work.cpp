#include "runtime/cli/work.hpp"

#include "runtime/lookup.hpp"

#include <optional>

namespace gradweave::cli {

Work resolve(const WorkArguments &arguments) {
  Work work;
  work.pass = compiler::parse_pass(arguments.pass);
  const auto batch = arguments.batch != 0 ? std::optional(arguments.batch) : std::nullopt;
  work.network = compiler::load_network(runtime::find_model(arguments.model), batch);
  work.npu = load_npu_config(runtime::find_npu(arguments.npu));
  work.layers = compiler::select_layers(work.network, arguments.layers);
  return work;
}

} // namespace gradweave::cli
