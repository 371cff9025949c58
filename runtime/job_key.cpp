#include "runtime/job_key.hpp"

#include "base/checksum.hpp"
#include "runtime/npu_text.hpp"

#include <fmt/format.h>

namespace gradweave::runtime {
namespace {

std::string conv_text(const compiler::Convolution &c) {
  return fmt::format("{},{}x{}x{}>{},kernel {}x{},stride {}x{},pad {}/{}/{}/{},dilation {}x{},groups {}", c.batch,
                     c.height, c.width, c.channels, c.out_channels, c.kernel_height, c.kernel_width, c.stride_height,
                     c.stride_width, c.pad_top, c.pad_bottom, c.pad_left, c.pad_right, c.dilation_height,
                     c.dilation_width, c.groups);
}

std::string layer_text(const compiler::Layer &l) {
  return fmt::format("{},{}x{}x{}x{}{},{}", l.name, l.m, l.k, l.n, l.groups, l.dx ? "" : ",no dX",
                     l.conv ? conv_text(*l.conv) : "");
}

} // namespace

std::string job_key(const JobSpec &spec) {
  return fmt::format("{}|{}|{}:{}|{},{},tune {},{}/{},{}|{}|{} {}|stress {} {}", spec.network, layer_text(spec.layer),
                     spec.npu.name, npu_text(spec.npu), compiler::to_string(spec.compile.schedule),
                     compiler::to_string(spec.compile.pass), spec.compile.tune,
                     compiler::to_string(spec.compile.partition), spec.compile.parts,
                     compiler::to_string(spec.compile.reduction), to_string(spec.backend), to_string(spec.data),
                     spec.seed, spec.device.stress.seed, spec.device.stress.stall_probability);
}

std::string run_key(const RunOptions &options) {
  RunOptions whole = options;
  whole.layers = options.network.layers;
  whole.schedules = {compiler::Schedule::kSequential};
  std::string keys;
  for (const JobSpec &spec : job_specs(whole))
    keys += job_key(spec) + '\n';
  return checksum(keys).substr(0, 16); // part of a name
}

std::string build_key(const std::string &library) {
  return file_checksum("/proc/self/exe") + (library.empty() ? "" : file_checksum(library));
}

} // namespace gradweave::runtime
