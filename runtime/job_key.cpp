#include "runtime/job_key.hpp"

#include "runtime/npu_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace gradweave::runtime {
namespace {

/// 64-bit FNV-1a.
class Hash {
public:
  void add(std::string_view bytes) {
    for (const char byte : bytes)
      value_ = (value_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  }
  std::uint64_t value() const { return value_; }

private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

std::uint64_t hash_file(const std::string &file) {
  std::ifstream in(file, std::ios::binary);
  Hash hash;
  std::array<char, 65536> buffer{};
  while (in.read(buffer.data(), buffer.size()) || in.gcount() > 0)
    hash.add({buffer.data(), static_cast<std::size_t>(in.gcount())});
  if (!in.eof()) throw std::runtime_error(file + ": cannot be read");
  return hash.value();
}

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
  Hash hash;
  for (const JobSpec &spec : job_specs(whole))
    hash.add(job_key(spec) + '\n');
  return fmt::format("{:016x}", hash.value());
}

std::string build_key(const std::string &library) {
  return fmt::format("{:016x}{:016x}", hash_file("/proc/self/exe"), library.empty() ? 0 : hash_file(library));
}

} // namespace gradweave::runtime
