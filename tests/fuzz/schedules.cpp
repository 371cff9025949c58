// Small layers under any scheduler, on any small NPU: they are refused with a reason, or compiled, and all checks of
// the compiler pass.
#include "compiler/compiler.hpp"
#include "tests/fuzz/fuzz_target.hpp"

#include <algorithm>

using namespace gradweave;

namespace {

/// The bytes of an input one after the other; zeros behind its end.
class Choices {
public:
  Choices(const std::uint8_t *data, std::size_t size) : at_(data), end_(data + size) {}
  /// 0 to `count` - 1.
  std::uint32_t below(std::size_t count) { return static_cast<std::uint32_t>((at_ == end_ ? 0U : *at_++) % count); }
  std::uint32_t from(std::uint32_t low, std::uint32_t high) { return low + below(high - low + 1); }

private:
  const std::uint8_t *at_, *end_;
};

Machine npu(Choices &choices) {
  Machine npu;
  npu.name = "fuzz";
  npu.rows = choices.from(2, 9);
  npu.cols = choices.from(2, 9);
  npu.cores = choices.from(1, 3);
  npu.spm_banks = choices.from(1, 8);
  npu.spm_bytes = std::uint64_t{2} * npu.lanes() * npu.spm_banks * choices.from(2, 200);
  npu.bus_bytes = 4;
  npu.memory.size_bytes = 1U << choices.from(12, 20);
  npu.memory.latency_cycles = choices.below(64);
  npu.memory.batch_bytes = 256;
  npu.memory.bytes_num = choices.from(1, 16);
  return npu;
}

compiler::Layer layer(Choices &choices) {
  compiler::Layer layer{"layer", choices.from(1, 40), choices.from(1, 40), choices.from(1, 40), true, 0};
  layer.groups = choices.from(1, 3);
  layer.dx = choices.below(2) == 0;
  return layer;
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Choices choices(data, size);
  const std::vector<const compiler::Scheduler *> &schedulers = compiler::schedulers();
  compiler::CompileOptions options;
  options.schedule = schedulers[choices.below(schedulers.size())]->name();
  options.pass = static_cast<compiler::Pass>(choices.below(3));
  options.partition = static_cast<compiler::Partition>(choices.below(4));
  options.parts = choices.below(4);
  options.reduction = static_cast<compiler::Reduction>(choices.below(2));
  options.plans = choices.below(4);
  const Machine machine = npu(choices);
  try {
    const compiler::Compiled compiled = compiler::compile({layer(choices)}, machine, options);
    fuzz::require(!compiled.stream.empty(), "no commands");
    fuzz::require(compiled.predicted_cycles >= compiled.bounds.run_cycles, "faster than the bound");
  } catch (const compiler::CompilerDefect &defect) {
    fuzz::finding(defect.what());
  } catch (const compiler::CompileError &refusal) {
    fuzz::require(*refusal.what() != '\0', "a refusal without a reason");
  }
  return 0;
}
