#include "runtime/data/check.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "isa/assembler.hpp"
#include "isa/vector/program.hpp"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <stdexcept>

namespace gradweave::runtime {
namespace {

/// Blocks and steps of the array that the products of a stream make.
struct ArrayWork {
  std::uint64_t blocks = 0, steps = 0;
};

std::vector<ArrayWork> array_work(const std::vector<isa::Command> &stream, const NpuConfig &npu) {
  std::vector<ArrayWork> work(npu.cores);
  for (const isa::Command &command : stream) {
    const auto decoded = isa::decode(command);
    if (!decoded) continue;
    if (const auto *gemm = std::get_if<isa::GemmCommand>(&decoded->op)) {
      const std::uint64_t blocks = compiler::divide_up(gemm->m, npu.rows) * compiler::divide_up(gemm->n, npu.cols);
      work.at(gemm->core).blocks += blocks;
      work.at(gemm->core).steps += blocks * gemm->k;
    } else if (const auto *conv = std::get_if<isa::ConvCommand>(&decoded->op)) {
      const isa::GemmCommand &product = conv->product;
      const std::uint64_t blocks = compiler::divide_up(product.m, npu.rows) * compiler::divide_up(product.n, npu.cols);
      work.at(product.core).blocks += blocks;
      work.at(product.core).steps += blocks * conv->steps();
    }
  }
  return work;
}

bool covers(const compiler::CommandInfo &info, const compiler::TensorBinding &binding, std::uint32_t row,
            std::uint32_t col) {
  return info.layer == binding.layer && info.tensor == binding.tensor && row >= info.row &&
         row - info.row < info.rows && col >= info.col && col - info.col < info.cols;
}

} // namespace

Comparison compare(const HostTensor &got, const HostTensor &want) {
  if (got.rows != want.rows || got.cols != want.cols || got.fp32 != want.fp32)
    throw std::invalid_argument(fmt::format("compare: {} x {} against {} x {}, or bf16 against fp32", got.rows,
                                            got.cols, want.rows, want.cols));
  const std::uint32_t exponent = want.fp32 ? 0x7f800000U : 0x7f80U;
  Comparison result;
  result.elements = want.size();
  for (std::size_t i = 0; i < want.size(); ++i) {
    const std::uint32_t expected = want.bits(i);
    if ((expected & exponent) != exponent) ++result.finite;
    if (got.bits(i) == expected) continue;
    if (result.mismatches++ == 0)
      result.first = Mismatch{static_cast<std::uint32_t>(i / want.cols), static_cast<std::uint32_t>(i % want.cols),
                              got.bits(i), expected};
  }
  return result;
}

std::string format_value(std::uint32_t bits, bool fp32) {
  const std::uint32_t wide = fp32 ? bits : bits << 16U;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return fp32 ? fmt::format("0x{:08x} ({:.9g})", bits, value) : fmt::format("0x{:04x} ({:.4g})", bits, value);
}

std::string describe_difference(const Comparison &comparison, bool fp32) {
  const Mismatch &first = comparison.first.value();
  return fmt::format("{} of {} elements differ; first at ({}, {}): got {}, golden {}", comparison.mismatches,
                     comparison.elements, first.row, first.col, format_value(first.got, fp32),
                     format_value(first.want, fp32));
}

std::string describe_origin(const compiler::Compiled &compiled, const compiler::TensorBinding &tensor,
                            std::uint32_t row, std::uint32_t col) {
  constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t first_gemm = kNone;
  std::size_t last_gemm = kNone;
  std::size_t store = kNone;
  for (std::size_t i = 0; i < compiled.info.size(); ++i) {
    const compiler::CommandInfo &info = compiled.info[i];
    if (!covers(info, tensor, row, col)) continue;
    if (info.red_n != 0) {
      if (first_gemm == kNone) first_gemm = i;
      last_gemm = i;
    } else if (const auto decoded = isa::decode(compiled.stream[i])) {
      const auto *dma = std::get_if<isa::DmaCommand>(&decoded->op);
      if (dma != nullptr && dma->store && !info.spill) store = i;
    }
  }
  if (last_gemm == kNone) return "no GEMM of the stream computes this element";
  const compiler::CommandInfo &tile = compiled.info[last_gemm];
  std::string text = fmt::format(
      "tile rows {}..{}, columns {}..{}; computed by commands {} to {}, the last over reduction {}..{}:\n    {}: {}",
      tile.row, tile.row + tile.rows - 1, tile.col, tile.col + tile.cols - 1, first_gemm, last_gemm, tile.red,
      tile.red + tile.red_n - 1, last_gemm, isa::disassemble(compiled.stream[last_gemm]));
  if (store == kNone) return text + "\n    never stored";
  return text + fmt::format("\n    {}: {}", store, isa::disassemble(compiled.stream[store]));
}

std::string describe_stop(const std::vector<isa::Command> &stream, const RunStatus &status) {
  const std::string command = status.error_index < stream.size() ? isa::disassemble(stream[status.error_index])
                                                                 : std::string("beyond the stream");
  std::string error(isa::kErrorNames[static_cast<std::size_t>(status.error)]);
  if (const std::size_t fault = status.error_word >> 16U; fault != 0 && fault < isa::vector::kFaultNames.size())
    error += fmt::format(" ({} in word {} of the program memory)", isa::vector::kFaultNames[fault],
                         status.error_word & 0xFFFFU);
  return fmt::format("{} at command {}: {}", error, status.error_index, command);
}

std::vector<std::string> check_counters(const compiler::Compiled &compiled, const NpuConfig &npu,
                                        const Counters &counters, bool timed) {
  std::vector<std::string> problems;
  const auto expect = [&](isa::Counter counter, std::uint64_t wanted, std::string_view why, std::uint32_t core = 0) {
    const std::size_t index = isa::counter_index(counter, core);
    if (const std::uint64_t got = counters.values[index]; got != wanted)
      problems.push_back(
          fmt::format("counter {} is {}, but {} is {}", isa::counter_name(index, npu.cores), got, why, wanted));
  };

  compiler::Traffic sum;
  for (const compiler::LayerTraffic &layer : compiled.traffic)
    for (const compiler::Traffic &traffic : layer)
      sum += traffic;
  const std::vector<ArrayWork> work = array_work(compiled.stream, npu);
  expect(isa::Counter::READ_BYTES, sum.read_bytes, "the planned read traffic");
  expect(isa::Counter::WRITE_BYTES, sum.write_bytes, "the planned write traffic");
  for (std::uint32_t core = 0; core < npu.cores; ++core)
    expect(isa::Counter::BLOCKS, work[core].blocks, "the number of blocks of the core's GEMMs", core);
  if (!timed) return problems;

  expect(isa::Counter::READ_BEATS, sum.read_bus_bytes / npu.bus_bytes, "the planned number of read beats");
  expect(isa::Counter::WRITE_BEATS, sum.write_bus_bytes / npu.bus_bytes, "the planned number of write beats");
  for (std::uint32_t core = 0; core < npu.cores; ++core)
    expect(isa::Counter::COMPUTE_ACTIVE, work[core].steps, "the number of steps of the core's GEMMs", core);
  std::map<std::string, std::uint64_t> groups;
  for (std::size_t i = 0; i < counters.values.size(); ++i)
    if (std::string group = isa::counter_group(i, npu.cores); !group.empty())
      groups[std::move(group)] += counters.values[i];
  const std::uint64_t cycles = counters[isa::Counter::CYCLES];
  for (const auto &[group, total] : groups)
    if (total != cycles)
      problems.push_back(fmt::format("the counters of group {} add up to {}, but CYCLES is {}", group, total, cycles));
  return problems;
}

std::vector<std::string> check_accesses(const AccessCounts &counts, const NpuConfig &npu, const Counters &counters) {
  std::vector<std::string> problems;
  const auto expect = [&](std::string_view what, std::uint64_t counted, std::uint64_t hardware) {
    if (counted != hardware)
      problems.push_back(
          fmt::format("{}: the stream's commands make {}, but the hardware's counters {}", what, counted, hardware));
  };
  std::uint64_t pairs = 0;
  for (std::uint32_t core = 0; core < npu.cores; ++core)
    pairs += counters.values[isa::counter_index(isa::Counter::COMPUTE_ACTIVE, core)];
  expect("macs and idle_macs", counts.macs + counts.idle_macs, pairs * npu.rows * npu.cols);
  expect("operand_read_bytes", counts.operand_read_bytes, pairs * 2 * npu.lanes() * 2);
  expect("load_write_bytes", counts.load_write_bytes, counters[isa::Counter::READ_BYTES]);
  expect("store_read_bytes", counts.store_read_bytes, counters[isa::Counter::WRITE_BYTES]);
  expect("bus_bytes", counts.bus_bytes,
         npu.bus_bytes * (counters[isa::Counter::READ_BEATS] + counters[isa::Counter::WRITE_BEATS] +
                          counters[isa::Counter::FETCH_BEATS]));
  return problems;
}

std::vector<std::string> check_cycles(const compiler::Compiled &compiled, const Counters &counters, bool exact) {
  std::vector<std::string> problems;
  const std::uint64_t cycles = counters[isa::Counter::CYCLES];
  if (cycles < compiled.bounds.run_cycles)
    problems.push_back(fmt::format(
        "{} cycles are impossible: its products take the array at least {}, its tensors the memory {}, any "
        "run {}",
        cycles, compiled.bounds.compute_cycles, compiled.bounds.traffic_cycles, compiled.bounds.run_cycles));
  if (exact && cycles != compiled.predicted_cycles)
    problems.push_back(fmt::format("{} cycles, but the timing model predicted {}; `gradweave validate` finds the first "
                                   "command that differs",
                                   cycles, compiled.predicted_cycles));
  return problems;
}

} // namespace gradweave::runtime
