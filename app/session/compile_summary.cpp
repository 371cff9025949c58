#include "app/session/compile_summary.hpp"

#include "app/session/stream_directory.hpp"
#include "runtime/record/result_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace gradweave::cli {

nlohmann::ordered_json compiled_json(const compiler::Compiled &compiled) {
  nlohmann::ordered_json tensors = nlohmann::ordered_json::array();
  for (const compiler::TensorBinding &binding : compiled.layout.tensors) {
    const compiler::Traffic &traffic = compiled.traffic[binding.layer][static_cast<std::size_t>(binding.tensor)];
    tensors.push_back({{"tensor", std::string(compiler::to_string(binding.tensor))},
                       {"input", binding.input},
                       {"type", binding.fp32 ? "fp32" : "bf16"},
                       {"rows", binding.rows},
                       {"cols", binding.cols},
                       {"pitch", binding.pitch},
                       {"offset", binding.offset},
                       {"read_bytes", traffic.read_bytes},
                       {"write_bytes", traffic.write_bytes},
                       {"spill_read_bytes", traffic.spill_read_bytes},
                       {"spill_write_bytes", traffic.spill_write_bytes}});
  }
  return {{"name", compiled.layer().name},
          {"index", compiled.layer().index},
          {"m", compiled.layer().m},
          {"k", compiled.layer().k},
          {"n", compiled.layer().n},
          {"unit", compiled.layer().vector ? "vector unit" : "array"},
          {"schedule", std::string(compiler::to_string(compiled.requested))},
          {"chosen_schedule", std::string(compiler::to_string(compiled.chosen))},
          {"tiling", fmt::format("{}", fmt::join(compiled.tilings, "; "))},
          {"commands", compiled.stream.size()},
          {"macs", compiled.useful_macs},
          {"compute_cycles", compiled.compute_cycles},
          {"predicted_cycles", compiled.predicted_cycles},
          {"compute_bound", compiled.bounds.compute_cycles},
          {"traffic_bound", compiled.bounds.traffic_cycles},
          {"tuning", runtime::to_json(compiled.tuning)},
          {"device_bytes", compiled.dram_bytes},
          {"stream", stream_file_name(compiled)},
          {"tensors", tensors}};
}

} // namespace gradweave::cli
