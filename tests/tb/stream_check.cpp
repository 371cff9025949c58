#include "tests/tb/stream_check.hpp"

#include "app/validate/host/random_host.hpp"
#include "isa/assembler.hpp"
#include "sw_models/functional/functional.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace gradweave::test {

namespace {

using Bytes = std::vector<std::uint8_t>;

/// The element of a STORE that holds a byte.
struct Writer {
  std::size_t command;
  std::uint32_t row, col, element_bytes;
  std::uint64_t addr; ///< of the element
};

std::optional<Writer> last_writer(const std::vector<isa::Command> &commands, std::uint64_t addr) {
  for (std::size_t i = commands.size(); i-- > 0;) {
    const std::optional<isa::Decoded> decoded = isa::decode(commands[i]);
    const auto *dma = decoded ? std::get_if<isa::DmaCommand>(&decoded->op) : nullptr;
    if (!dma || !dma->store) continue;
    const std::uint32_t bytes = dma->fp32 ? 4 : 2;
    for (std::uint32_t row = 0; row < dma->rows; ++row) {
      const std::uint64_t first = dma->dram_addr + std::uint64_t{row} * dma->pitch;
      if (addr < first || addr >= first + std::uint64_t{dma->cols} * bytes) continue;
      const auto col = static_cast<std::uint32_t>((addr - first) / bytes);
      return Writer{i, row, col, bytes, first + std::uint64_t{col} * bytes};
    }
  }
  return std::nullopt;
}

std::uint32_t value_at(const Bytes &image, std::uint64_t offset, std::uint32_t bytes) {
  std::uint32_t value = 0;
  std::memcpy(&value, image.data() + offset, bytes);
  return value;
}

std::string compare_images(const corpus::RandomStream &stream, std::uint64_t base, const Bytes &got,
                           const Bytes &want) {
  const auto [g, w] = std::mismatch(got.begin(), got.end(), want.begin());
  if (g == got.end()) return "";
  const auto offset = static_cast<std::uint64_t>(g - got.begin());
  const std::uint64_t addr = base + offset;
  const std::optional<Writer> writer = last_writer(stream.commands, addr);
  if (!writer)
    return fmt::format("address {:#x}, which no command writes: device {:#04x}, model {:#04x}", addr, *g, *w);
  const std::uint64_t element = writer->addr - base;
  return fmt::format("address {:#x}: device {:#x}, model {:#x}; element ({}, {}) of command {}: {}", writer->addr,
                     value_at(got, element, writer->element_bytes), value_at(want, element, writer->element_bytes),
                     writer->row, writer->col, writer->command, isa::disassemble(stream.commands[writer->command]));
}

/// Of a ring such a beat is fetched once for each tail that lies in it: how often is a matter of time.
bool beat_holds_several(const NpuConfig &config) { return config.bus_bytes > isa::kCommandBytes; }

std::string compare_counters(const Counters &got, const FunctionalNpu &model, bool without_fetch) {
  for (const isa::Counter c : {isa::Counter::READ_BYTES, isa::Counter::WRITE_BYTES, isa::Counter::READ_BEATS,
                               isa::Counter::WRITE_BEATS, isa::Counter::FETCH_BEATS, isa::Counter::BLOCKS})
    if (got[c] != model.counter(c) && !(without_fetch && c == isa::Counter::FETCH_BEATS))
      return fmt::format("counter {}: device {}, model {}", isa::kCounters[static_cast<std::size_t>(c)].name, got[c],
                         model.counter(c));
  const std::size_t all = got.values.size(), of_units = all - isa::counter_count(got.cores);
  for (std::uint32_t unit = 0; unit < of_units / isa::kVectorCounters.size(); ++unit)
    for (const isa::Counter c : {isa::Counter::VECTOR_READS, isa::Counter::VECTOR_WRITES})
      if (got.of_core(c, unit) != model.counter(c, unit))
        return fmt::format("lines of vector unit {}: device {}, model {}", unit, got.of_core(c, unit),
                           model.counter(c, unit));
  return "";
}

std::string compare_marks(const std::vector<timing::Mark> &got, const std::vector<std::uint16_t> &want) {
  for (std::size_t i = 0; i < std::max(got.size(), want.size()); ++i) {
    const auto tag = [i](const auto &marks, const auto &of) {
      return i < marks.size() ? fmt::format("tag {}", of(marks[i])) : "none";
    };
    const std::string device = tag(got, [](const timing::Mark &m) { return m.tag; });
    const std::string model = tag(want, [](std::uint16_t t) { return t; });
    if (device != model) return fmt::format("mark {}: device {}, model {}", i, device, model);
  }
  return "";
}

corpus::HostRecord execute(Device &device, const std::vector<isa::Command> &commands,
                           std::optional<std::uint64_t> host) {
  if (host) return corpus::RandomHost(device, commands, *host).run();
  corpus::HostRecord whole;
  whole.sent = commands;
  device.submit(commands);
  whole.status = device.wait();
  return whole;
}

} // namespace

StreamVerdict check_stream(Device &device, const corpus::RandomStream &stream, const StreamSabotage &sabotage,
                           std::optional<std::uint64_t> host) {
  const std::uint64_t base = stream.dram_base - kGuardBytes;
  Bytes want(stream.dram_image.size() + 2 * kGuardBytes), got(want.size());
  std::copy(stream.dram_image.begin(), stream.dram_image.end(), want.begin() + kGuardBytes);
  if (host) corpus::RandomHost(device, stream.commands, *host).abandon(); // it leaves stores behind
  device.copy_in(base, want.data(), want.size());
  const corpus::HostRecord ran = execute(device, stream.commands, host);

  std::vector<isa::Command> model_commands = ran.sent;
  if (sabotage.model_commands) sabotage.model_commands(model_commands);
  DeviceMemory memory(device.config().memory.size_bytes);
  const std::uint64_t bytes = model_commands.size() * isa::kCommandBytes;
  const std::uint64_t stream_addr = (memory.size() - bytes) & ~std::uint64_t{isa::kCommandBytes - 1};
  memory.write(base, want.data(), want.size());
  memory.write(stream_addr, model_commands.data(), bytes);
  FunctionalNpu model(device.config(), memory);
  model.start(stream_addr, static_cast<std::uint32_t>(model_commands.size()));
  const FunctionalNpu::Status &expected = model.run();
  memory.read(base, want.data(), want.size());

  const RunStatus &status = ran.status;
  StreamVerdict verdict;
  verdict.marks = ran.marks.size();
  const Counters counters = device.read_counters();
  verdict.cycles = counters[isa::Counter::CYCLES];
  if (status.error != expected.error ||
      (!status.ok() && (status.error_index != expected.error_index || status.error_word != expected.error_word))) {
    const auto name = [](isa::ErrorCode e) { return isa::kErrorNames[static_cast<std::size_t>(e)]; };
    verdict.problem = fmt::format("the device ends in {} at command {}, the model in {} at command {}",
                                  name(status.error), status.error_index, name(expected.error), expected.error_index);
    return verdict;
  }
  if (sabotage.device_memory) sabotage.device_memory(device);
  device.copy_out(base, got.data(), got.size());
  verdict.problem = compare_images(stream, base, got, want);
  if (verdict.ok()) verdict.problem = compare_counters(counters, model, host && beat_holds_several(device.config()));
  if (verdict.ok() && host) verdict.problem = compare_marks(ran.marks, model.marks());
  return verdict;
}

} // namespace gradweave::test
