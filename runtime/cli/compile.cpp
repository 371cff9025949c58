// gradweave compile
#include "isa/assembler.hpp"
#include "runtime/cli/commands.hpp"
#include "runtime/cli/work.hpp"
#include "runtime/command_label.hpp"
#include "runtime/output_file.hpp"
#include "runtime/progress.hpp"
#include "runtime/result_json.hpp"
#include "runtime/text_format.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <system_error>

namespace gradweave::cli {
namespace {

namespace fs = std::filesystem;
using compiler::CompiledLayer;
using Json = nlohmann::ordered_json;

std::string file_stem(const CompiledLayer &compiled) {
  return fmt::format("{}-{}", compiled.layer.index, runtime::file_name_part(compiled.layer.name));
}

/// Commands as text that can be assembled again, each with its index and what it is for.
std::string listing(const CompiledLayer &compiled) {
  std::string text =
      fmt::format("# {} ({}), {}\n", compiled.layer.name, compiler::to_string(compiled.chosen), compiled.tiling);
  for (std::size_t i = 0; i < compiled.stream.size(); ++i) {
    const std::string tile = runtime::tile_label(compiled.info[i]);
    text += fmt::format("{}  # {}{}{}", isa::disassemble(compiled.stream[i]), i, tile.empty() ? "" : ": ", tile);
    text += '\n';
  }
  return text;
}

Json summary_json(const CompiledLayer &compiled) {
  Json tensors = Json::array();
  for (const compiler::TensorBinding &binding : compiled.tensors) {
    const compiler::Traffic &traffic = compiled.traffic[static_cast<std::size_t>(binding.tensor)];
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
  return {{"name", compiled.layer.name},
          {"index", compiled.layer.index},
          {"m", compiled.layer.m},
          {"k", compiled.layer.k},
          {"n", compiled.layer.n},
          {"schedule", std::string(compiler::to_string(compiled.requested))},
          {"chosen_schedule", std::string(compiler::to_string(compiled.chosen))},
          {"tiling", compiled.tiling},
          {"commands", compiled.stream.size()},
          {"macs", compiled.useful_macs},
          {"compute_cycles", compiled.compute_cycles},
          {"predicted_cycles", compiled.predicted_cycles},
          {"compute_bound", compiled.bounds.compute_cycles},
          {"traffic_bound", compiled.bounds.traffic_cycles},
          {"tuning", runtime::to_json(compiled.tuning)},
          {"device_bytes", compiled.dram_bytes},
          {"stream", file_stem(compiled) + ".gws"},
          {"tensors", tensors}};
}

void print_summary(std::FILE *out, const CompiledLayer &compiled) {
  std::uint64_t bytes = 0;
  for (const compiler::Traffic &traffic : compiled.traffic)
    bytes += traffic.read_bytes + traffic.write_bytes;
  fmt::print(out, "{} {}: {}, {}, {} commands, {} cycles = {} x bound, {}B of DRAM traffic; {}\n", compiled.layer.index,
             compiled.layer.name, runtime::shape(compiled.layer), compiler::to_string(compiled.chosen),
             compiled.stream.size(), runtime::grouped(compiled.predicted_cycles),
             runtime::ratio(compiled.predicted_cycles, compiled.bounds.run_cycles),
             runtime::human(static_cast<double>(bytes)), compiled.tiling);
  const compiler::Tuning &t = compiled.tuning;
  if (t.candidates != 0)
    fmt::print(out, "  tuning: {} plans tried, {} of them simulated, {} improvements, {:.1f} s; {} cycles before\n",
               t.candidates, t.simulated, t.improvements, t.seconds, runtime::grouped(t.cycles_before));
}

void make_directory(const fs::path &directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error)
    throw runtime::OutputError(
        fmt::format("{}: cannot be created: {}; choose another --out directory", directory.string(), error.message()));
}

void write_streams(const std::vector<CompiledLayer> &layers, const CompileArguments &a) {
  const fs::path directory = a.out;
  for (const CompiledLayer &compiled : layers) {
    try {
      isa::write_stream_file(directory / (file_stem(compiled) + ".gws"), compiled.stream);
    } catch (const isa::AssemblyError &error) {
      throw runtime::OutputError(error.what());
    }
    if (a.listing) runtime::OutputFile(directory / (file_stem(compiled) + ".lst")).commit(listing(compiled));
  }
}

} // namespace

int compile(const CompileArguments &a) {
  if (a.listing && a.out.empty()) throw std::invalid_argument("--listing needs --out, the directory to write to");
  const compiler::Schedule schedule = compiler::parse_schedule(a.work.schedule);
  const Work work = resolve(a.work);
  std::optional<runtime::OutputFile> json;
  if (!a.json.empty()) json.emplace(a.json);
  // All layers are compiled before anything is written: an error leaves no half of a network behind.
  std::vector<CompiledLayer> layers;
  Json summary = {{"network", work.network.name}, {"npu", work.npu.name}, {"layers", Json::array()}};
  runtime::ProgressDisplay display(std::vector<double>(work.layers.size(), 1), false);
  for (const compiler::Layer &layer : work.layers) {
    const auto progress = [&](std::uint64_t done, std::uint64_t all) {
      display.update(layers.size(), static_cast<double>(done) / static_cast<double>(all));
      display.tick();
    };
    compiler::CompileOptions options = work.compile(schedule, a.work.tune);
    options.progress = progress;
    layers.push_back(compiler::compile_layer(layer, work.npu, options));
    display.update(layers.size() - 1, 1);
    display.clear();
    print_summary(a.json == "-" ? stderr : stdout, layers.back());
    summary["layers"].push_back(summary_json(layers.back()));
  }
  if (!a.out.empty()) {
    make_directory(a.out);
    write_streams(layers, a);
  }
  if (json) json->commit(summary.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  return kOk;
}

} // namespace gradweave::cli
