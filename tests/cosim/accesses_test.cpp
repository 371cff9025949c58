// What streams access, counted three times: from the commands, by the engines of the timing model, and by a probe at
// the signals of the RTL.
#include "app/validate/corpus/profile.hpp"
#include "compiler/compiler.hpp"
#include "compiler/cost/access_count.hpp"
#include "device/device.hpp"
#include "runtime/data/check.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <dlfcn.h>

#include <string>
#include <vector>

namespace gradweave {

/// For messages of tests.
void PrintTo(const AccessCounts &counts, std::ostream *out) {
  for (const AccessCountForm &form : access_count_forms())
    *out << form.name << ' ' << counts.*form.count << ' ';
}

namespace test {
namespace {

/// Runs streams on the NPU with the probe, whose library GRADWEAVE_LIB_DIR has.
class ProbedNpu {
public:
  explicit ProbedNpu(const std::string &name) : npu_(load_machine("configs/" + name + ".toml")) {}

  Machine &machine() { return npu_; }

  struct Run {
    RunStatus status;
    AccessCounts accesses;
    Counters counters;
  };
  Run run(const std::vector<isa::Command> &stream, std::uint64_t dram_bytes, std::uint32_t stream_offset = 0) {
    DeviceOptions options;
    options.stream_offset = stream_offset;
    const auto device = make_rtl_device(npu_, options);
    EXPECT_EQ(device->allocate(dram_bytes), 0U) << "streams move data from address 0 on";
    void *library = dlopen(find_rtl_library(npu_).c_str(), RTLD_NOW | RTLD_NOLOAD);
    using Begin = const std::uint64_t *(std::uint64_t);
    auto *begin = reinterpret_cast<Begin *>(dlsym(library, "gradweave_begin_access_counts"));
    if (begin == nullptr) throw std::runtime_error("the NPU's library has no probe: check GRADWEAVE_LIB_DIR");
    const std::uint64_t *n = begin(npu_.memory.access_bytes != 0 ? npu_.memory.access_bytes : npu_.bus_bytes);
    device->submit(stream);
    Run run{device->wait(), {}, device->read_counters()};
    AccessCounts &a = run.accesses;
    a.macs = n[0];
    a.idle_macs = n[1];
    a.adds = n[2];
    a.operand_read_bytes = n[3];
    a.sum_read_bytes = n[4];
    a.result_write_bytes = n[5];
    a.load_write_bytes = n[6];
    a.store_read_bytes = n[7];
    a.bus_bytes = n[8] * npu_.bus_bytes;
    a.vector_read_bytes = n[9];
    a.vector_write_bytes = n[10];
    a.dram_read_bytes = n[11];
    a.dram_write_bytes = n[12];
    return run;
  }

private:
  Machine npu_;
};

class Accesses : public testing::TestWithParam<const char *> {
protected:
  ProbedNpu npu_{GetParam()};

  /// The three are equal, and what the hardware has counters of is what these say.
  void expect_equal(const std::vector<isa::Command> &stream, std::uint64_t dram_bytes, std::uint32_t offset,
                    const std::string &what) {
    const ProbedNpu::Run run = npu_.run(stream, dram_bytes, offset);
    if (!run.status.ok()) return;
    timing::RunOptions options;
    options.stream_addr = (dram_bytes + 4095) / 4096 * 4096 + offset;
    const AccessCounts counted = compiler::count_accesses(stream, npu_.machine(), options.stream_addr);
    EXPECT_EQ(run.accesses, counted) << what;
    EXPECT_EQ(timing::run(npu_.machine(), stream, options).accesses, counted) << what;
    const std::vector<std::string> problems = runtime::check_accesses(counted, npu_.machine(), run.counters);
    EXPECT_TRUE(problems.empty()) << problems.front() << ", " << what;
    all_ += counted;
  }

  AccessCounts all_;
};

TEST_P(Accesses, OfRandomStreamsAreThoseOfTheRtl) {
  constexpr std::uint64_t kDramBytes = 1U << 20U;
  for (const corpus::Profile profile : {corpus::Profile::kData, corpus::Profile::kTiming})
    for (std::uint64_t seed = 0; seed < 60; ++seed)
      expect_equal(corpus::make_stream(npu_.machine(), profile, seed, 40).commands, kDramBytes,
                   corpus::draw_stream_offset(seed), fmt::format("{} seed {}", to_string(profile), seed));
  for (const AccessCountForm &form : access_count_forms()) {
    const bool possible = npu_.machine().vector_groups != 0 || (form.count != &AccessCounts::vector_read_bytes &&
                                                                form.count != &AccessCounts::vector_write_bytes);
    EXPECT_EQ(all_.*form.count > 0, possible) << form.name;
  }
}

TEST_P(Accesses, WithSmallAccessesOfTheDramToo) {
  npu_.machine().memory.access_bytes = 4;
  for (std::uint64_t seed = 100; seed < 115; ++seed)
    expect_equal(corpus::make_stream(npu_.machine(), corpus::Profile::kData, seed, 40).commands, 1U << 20U, 0,
                 fmt::format("seed {}", seed));
}

TEST_P(Accesses, OfLayersAreThoseOfTheRtl) {
  compiler::Layer layer;
  layer.m = 50;
  layer.k = 40;
  layer.n = 33;
  layer.name = "50x40x33";
  for (const compiler::Schedule schedule :
       {compiler::Schedule::kSequential, compiler::Schedule::kRearrange, compiler::Schedule("in_order")}) {
    compiler::CompileOptions options{schedule, compiler::Pass::kBoth};
    options.plans = 5;
    const compiler::Compiled compiled = compiler::compile({layer}, npu_.machine(), options);
    expect_equal(compiled.stream, compiled.dram_bytes, 0, std::string(to_string(schedule)));
    EXPECT_EQ(compiled.accesses.macs, compiled.useful_macs);
  }
}

INSTANTIATE_TEST_SUITE_P(Npus, Accesses, testing::Values(GW_PROBED_NPUS),
                         [](const auto &param_info) { return std::string(param_info.param); });

} // namespace
} // namespace test
} // namespace gradweave
