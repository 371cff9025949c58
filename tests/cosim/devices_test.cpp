// Several RTL devices in one process, of equal and of different sizes: each gives the bits, the counters and the times
// of commands that it gives alone in a process of its own, whatever the others do meanwhile.
#include "compiler/compiler.hpp"
#include "device/device.hpp"
#include "tests/support/scratch_directory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

namespace gradweave {
namespace {

/// An NPU and how its bus behaves.
struct Kind {
  const char *name, *npu;
  double stalls;
  bool fault; ///< reads of the layer's first bytes fail
};
constexpr Kind kKinds[] = {{"test8", "test8", 0, false},
                           {"test6x10", "test6x10", 0, false},
                           {"test8c2", "test8c2", 0, false},
                           {"stalls", "test8", 0.3, false},
                           {"fault", "test6x10", 0, true}};

const Kind &kind_of(const std::string &name) {
  return *std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind &k) { return k.name == name; });
}

DeviceSpec spec_of(const Kind &kind, const std::string &trace = {}) {
  DeviceSpec spec{load_machine(fmt::format("configs/{}.toml", kind.npu)), {}};
  spec.options.stress = {5, kind.stalls};
  if (kind.fault) spec.options.faults = {{BusFault::Kind::kSlvErr, false, 0, 64}};
  spec.options.trace.file = trace;
  return spec;
}

/// Partial tiles, primes, groups.
const std::vector<compiler::Compiled> &layers_for(const std::string &npu) {
  static std::map<std::string, std::vector<compiler::Compiled>> compiled;
  std::vector<compiler::Compiled> &layers = compiled[npu];
  if (!layers.empty()) return layers;
  constexpr std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t> kShapes[] = {
      {37, 23, 29, 1}, {5, 53, 3, 1}, {20, 9, 2, 3}};
  const Machine config = load_machine(fmt::format("configs/{}.toml", npu));
  for (const auto &shape : kShapes) {
    compiler::Layer layer;
    layer.name = "layer";
    std::tie(layer.m, layer.k, layer.n, layer.groups) = shape;
    compiler::CompileOptions options;
    options.plans = 10;
    options.pass = compiler::Pass::kBoth;
    if (config.cores > 1) options.partition = compiler::Partition::kDySharing;
    layers.push_back(compiler::compile({layer}, config, options));
  }
  return layers;
}

/// A device with layers to run, and what came of them as text: how each ended, counters, times, and all of its memory.
class Worker {
public:
  Worker(const Kind &kind, std::unique_ptr<Device> device) : layers_(layers_for(kind.npu)), device_(std::move(device)) {
    for (const compiler::Compiled &layer : layers_)
      bytes_ = std::max(bytes_, layer.dram_bytes);
    EXPECT_EQ(device_->allocate(bytes_), 0U);
  }
  explicit Worker(const Kind &kind, const std::string &trace = {}) : Worker(kind, make(spec_of(kind, trace))) {}

  Device &device() { return *device_; }
  static constexpr std::size_t kLayers = 3;

  void submit(std::size_t layer) {
    std::vector<std::uint8_t> image(bytes_);
    std::mt19937_64 random(layer);
    for (std::uint8_t &byte : image)
      byte = static_cast<std::uint8_t>(random());
    device_->copy_in(0, image.data(), image.size());
    device_->submit(layers_[layer].stream);
  }
  std::string wait() {
    const RunStatus status = device_->wait();
    std::vector<std::uint8_t> image(bytes_);
    device_->copy_out(0, image.data(), image.size());
    std::uint64_t hash = 0xcbf29ce484222325U; // FNV-1a
    for (const std::uint8_t byte : image)
      hash = (hash ^ byte) * 0x100000001b3U;
    std::string text = fmt::format("error {} at {}, memory {:016x}, counters {}, times",
                                   isa::kErrorNames[static_cast<std::size_t>(status.error)], status.error_index, hash,
                                   fmt::join(device_->read_counters().values, " "));
    for (const timing::CommandTimes &t : device_->command_times())
      text += fmt::format(" {}/{}/{}", t.issue, t.start, t.done);
    if (!status.ok()) device_->reset();
    return text;
  }
  std::string run(std::size_t layer) {
    submit(layer);
    return wait();
  }

private:
  static std::unique_ptr<Device> make(const DeviceSpec &spec) { return make_rtl_device(spec.config, spec.options); }

  const std::vector<compiler::Compiled> &layers_;
  std::unique_ptr<Device> device_;
  std::uint64_t bytes_ = 0;
};

/// What `body` returns, in a process of its own.
std::string in_a_child(const std::function<std::string()> &body) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string text = body();
    const bool written = ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::_exit(written ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 ? text : "the child failed";
}

std::string trace_file(const std::string &name) { return test::scratch_file(name + ".fst"); }

/// Before this process has loaded anything of SystemC: each kind alone, layer by layer.
class Alone : public testing::Environment {
public:
  void SetUp() override {
    for (const Kind &kind : kKinds) {
      const std::string trace = trace_file("alone_" + std::string(kind.name));
      const std::string text = in_a_child([&] {
        Worker worker(kind, trace);
        std::string lines;
        for (std::size_t i = 0; i < Worker::kLayers; ++i)
          lines += worker.run(i) + "\n";
        return lines;
      });
      std::istringstream in(text);
      for (std::string line; std::getline(in, line);)
        results_[kind.name].push_back(line);
      ASSERT_EQ(results_[kind.name].size(), Worker::kLayers) << text;
      EXPECT_EQ(results_[kind.name][0].rfind(kind.fault ? "error READ_SLVERR" : "error NONE", 0), 0U) << text;
    }
  }
  static const std::string &result(const Kind &kind, std::size_t layer) { return results_.at(kind.name).at(layer); }

private:
  static inline std::map<std::string, std::vector<std::string>> results_;
};
const testing::Environment *const kAlone = testing::AddGlobalTestEnvironment(new Alone);

using Pair = std::tuple<const char *, const char *>;
class TwoDevices : public testing::TestWithParam<Pair> {
protected:
  const Kind &a_ = kind_of(std::get<0>(GetParam())), &b_ = kind_of(std::get<1>(GetParam()));
};
INSTANTIATE_TEST_SUITE_P(Devices, TwoDevices,
                         testing::Values(Pair{"test8", "test8"}, Pair{"test8", "test6x10"}, Pair{"test6x10", "test8c2"},
                                         Pair{"stalls", "test8"}, Pair{"stalls", "stalls"}, Pair{"fault", "stalls"},
                                         Pair{"fault", "fault"}),
                         [](const auto &p) { return std::string(std::get<0>(p.param)) + "_" + std::get<1>(p.param); });

void run_interleaved(Worker &a, const Kind &kind_a, Worker &b, const Kind &kind_b) {
  for (std::size_t i = 0; i < Worker::kLayers; ++i) {
    a.submit(i);
    b.submit(i);
    EXPECT_EQ(i % 2 ? a.wait() : b.wait(), Alone::result(i % 2 ? kind_a : kind_b, i)) << "layer " << i;
    EXPECT_EQ(i % 2 ? b.wait() : a.wait(), Alone::result(i % 2 ? kind_b : kind_a, i)) << "layer " << i;
  }
}

/// Counters of a layer on a device whose memory holds zeros.
std::vector<std::uint64_t> counters_of(Device &device, const compiler::Compiled &layer) {
  device.allocate(layer.dram_bytes);
  const std::vector<std::uint8_t> zeros(layer.dram_bytes);
  device.copy_in(0, zeros.data(), zeros.size());
  device.submit(layer.stream);
  EXPECT_TRUE(device.wait().ok());
  return device.read_counters().values;
}

TEST(TwoMachines, OfOneNpuShareItsRtlAndTakeTheTimesOfTheirMemories) {
  const Machine fast = load_machine("configs/test8.toml");
  Machine slow = fast;
  slow.memory.latency_cycles += 31;
  slow.memory.bytes_den *= 3;
  EXPECT_EQ(find_rtl_library(slow), find_rtl_library(fast));
  const compiler::Compiled &layer = layers_for("test8").front();
  const std::vector<std::unique_ptr<Device>> devices = make_rtl_devices({{fast, {}}, {slow, {}}});
  const std::vector<std::uint64_t> of_fast = counters_of(*devices[0], layer), of_slow = counters_of(*devices[1], layer);
  EXPECT_EQ(of_fast, counters_of(*make_timing_device(fast), layer));
  EXPECT_EQ(of_slow, counters_of(*make_timing_device(slow), layer));
  EXPECT_LT(of_fast[0], of_slow[0]);
}

TEST_P(TwoDevices, RunInterleaved) {
  Worker a(a_), b(b_);
  run_interleaved(a, a_, b, b_);
}

/// Either may be the first to go, idle or busy, and a third comes while one is busy.
TEST_P(TwoDevices, ComeAndGoInAnyOrder) {
  for (const bool first_goes : {true, false})
    for (const bool busy : {true, false}) {
      auto a = std::make_unique<Worker>(a_), b = std::make_unique<Worker>(b_);
      EXPECT_EQ(a->run(0), Alone::result(a_, 0));
      EXPECT_EQ(b->run(0), Alone::result(b_, 0));
      std::unique_ptr<Worker> &goes = first_goes ? a : b, &stays = first_goes ? b : a;
      const Kind &kind = first_goes ? b_ : a_;
      stays->submit(1);
      if (busy) goes->submit(1);
      goes.reset();
      Worker third(a_);
      EXPECT_EQ(stays->wait(), Alone::result(kind, 1));
      EXPECT_EQ(third.run(0), Alone::result(a_, 0));
      EXPECT_EQ(stays->run(2), Alone::result(kind, 2));
    }
}

TEST_P(TwoDevices, RunInTwoThreads) {
  Worker a(a_), b(b_); // made here, used there
  std::vector<std::string> from_a, from_b;
  const auto work = [](Worker &worker, std::vector<std::string> &results) {
    for (std::size_t i = 0; i < Worker::kLayers; ++i)
      results.push_back(worker.run(i));
  };
  std::thread thread([&] { work(a, from_a); });
  work(b, from_b);
  thread.join();
  for (std::size_t i = 0; i < Worker::kLayers; ++i) {
    EXPECT_EQ(from_a[i], Alone::result(a_, i));
    EXPECT_EQ(from_b[i], Alone::result(b_, i));
  }
}

/// An FST file without its header, which holds the date.
std::string changes_in(const std::string &file) {
  std::ifstream in(file, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  constexpr std::size_t kHeader = 330;
  EXPECT_GT(bytes.size(), kHeader) << file;
  return bytes.substr(std::min(bytes.size(), kHeader));
}

TEST_P(TwoDevices, WriteAWaveformEach) {
  const std::string file_a = trace_file("a"), file_b = trace_file("b");
  {
    Worker a(a_, file_a), b(b_, file_b);
    run_interleaved(a, a_, b, b_);
  }
  EXPECT_TRUE(changes_in(file_a) == changes_in(trace_file("alone_" + std::string(a_.name))));
  EXPECT_TRUE(changes_in(file_b) == changes_in(trace_file("alone_" + std::string(b_.name))));
}

/// In the progress of one device that hangs another works, before and after it is left by an exception.
TEST_P(TwoDevices, AnExceptionLeavesTheOtherWorking) {
  DeviceSpec spec = spec_of(a_);
  spec.options.faults = {{BusFault::Kind::kHang, false, 0, 64}};
  spec.options.watchdog_cycles = 0;
  Worker a(a_, make_rtl_device(spec.config, spec.options)), b(b_);
  EXPECT_EQ(b.run(0), Alone::result(b_, 0));
  a.submit(0);
  b.submit(1);
  EXPECT_THROW(a.device().wait([&](std::uint64_t, std::uint64_t) {
    EXPECT_EQ(b.wait(), Alone::result(b_, 1));
    throw std::runtime_error("left");
  }),
               std::runtime_error);
  EXPECT_EQ(b.run(2), Alone::result(b_, 2));
  EXPECT_THROW(a.device().reset(), DeviceError);
}

TEST(TenDevices, OneAfterAnother) {
  for (int i = 0; i < 10; ++i) {
    const Kind &kind = kKinds[i % std::size(kKinds)];
    Worker worker(kind);
    EXPECT_EQ(worker.run(0), Alone::result(kind, 0)) << i;
  }
}

TEST(TenDevices, AtATime) {
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::size_t i = 0; i < 10; ++i)
    workers.push_back(std::make_unique<Worker>(kKinds[i % std::size(kKinds)]));
  for (std::size_t layer = 0; layer < Worker::kLayers; ++layer)
    for (std::size_t i = 0; i < 10; ++i)
      EXPECT_EQ(workers[i]->run(layer), Alone::result(kKinds[i % std::size(kKinds)], layer)) << i;
}

/// Back-pressure goes on while others run, so that its draws are others than alone.
class OneSimulation : public TwoDevices {
protected:
  std::vector<std::unique_ptr<Device>> devices_ = make_rtl_devices({spec_of(a_), spec_of(b_)});
};
INSTANTIATE_TEST_SUITE_P(Devices, OneSimulation,
                         testing::Values(Pair{"test8", "test8"}, Pair{"test8", "test6x10"}, Pair{"test8c2", "test6x10"},
                                         Pair{"fault", "test8"}),
                         [](const auto &p) { return std::string(std::get<0>(p.param)) + "_" + std::get<1>(p.param); });

TEST_P(OneSimulation, RunsBothAtATime) {
  Worker a(a_, std::move(devices_[0])), b(b_, std::move(devices_[1]));
  run_interleaved(a, a_, b, b_);
}

TEST_P(OneSimulation, GoesOnWhenOneGoes) {
  for (const bool first_goes : {true, false}) {
    std::vector<std::unique_ptr<Device>> devices = make_rtl_devices({spec_of(a_), spec_of(b_)});
    const Kind &kind = first_goes ? b_ : a_;
    devices[first_goes ? 0 : 1].reset();
    Worker stays(kind, std::move(devices[first_goes ? 1 : 0]));
    for (std::size_t i = 0; i < Worker::kLayers; ++i)
      EXPECT_EQ(stays.run(i), Alone::result(kind, i));
  }
}

} // namespace
} // namespace gradweave
