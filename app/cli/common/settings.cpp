#include "app/cli/common/settings.hpp"

namespace gradweave::cli {

void add_set_option(CLI::App &command, std::vector<std::string> &set, Settable what) {
  std::string help = "A field of the NPU, its memory or its energies with another value than its file has: "
                     "npu.rows=64, memory.latency_cycles=50 (configs/small.toml has all), energy.dram_pj_per_byte=31";
  if (what == Settable::kMachineAndNetwork)
    help += "; or a variable of the network, as a symbolic dimension of an .onnx file: net.batch=8";
  command.add_option("--set", set, help)->type_name("FIELD=VALUE")->allow_extra_args(false)->take_all();
}

void add_until_option(CLI::App &command, std::string &until) {
  command.add_option("--until", until, "End a .graph or .onnx network with this op, node or tensor");
}

void add_frozen_options(CLI::App &command, std::vector<std::string> &frozen, std::vector<std::string> &learned) {
  const auto add = [&command](const char *name, std::vector<std::string> &names, const char *help) {
    command.add_option(name, names, help)->type_name("NAME")->allow_extra_args(false)->take_all();
  };
  add("--frozen", frozen, "A parameter of a .graph, or an initializer of an .onnx file, that is not learned");
  add("--learned", learned, "One that is learned, although it is frozen, or read as a buffer");
}

} // namespace gradweave::cli
