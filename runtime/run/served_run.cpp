#include "runtime/run/served_run.hpp"

#include "compiler/compiler.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "runtime/data/check.hpp"
#include "runtime/data/golden_tensors.hpp"
#include "runtime/job/loaded_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <stdexcept>

namespace gradweave::runtime {
namespace {

using compiler::Compiled;
using compiler::Pass;
using compiler::TensorBinding;

/// A layer's pass in device memory.
struct Placed {
  Compiled compiled;
  std::uint64_t base = 0;
  std::size_t network = 0;
};

class ServedRun {
public:
  ServedRun(const ServeRequest &request, ServeRun &run) : request_(request), run_(run) {}

  void compile() {
    for (const ServeRequest::Job &job : request_.jobs) {
      run_.networks.push_back({job.work.name, 0, 0, 0, 0, 0, {}, 0});
      run_.jobs.push_back({job.work.name, {}, job.priority, job.deadline});
      const std::vector<compiler::Layer> &layers = job.work.layers;
      if (job.work.pass != Pass::kBackward)
        for (const compiler::Layer &layer : layers)
          add(layer, Pass::kForward);
      if (job.work.pass != Pass::kForward)
        for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer)
          add(*layer, Pass::kBackward);
    }
  }

  void serve_alone() {
    for (std::size_t j = 0; j < run_.jobs.size(); ++j) {
      const auto device = make_timing_device(request_.npu);
      reserve(*device);
      run_.networks[j].alone_cycles = serve(*device, run_.jobs, {{j, 0}}).requests.front().latency();
    }
  }

  void draw_arrivals() {
    std::vector<std::uint64_t> alone;
    for (const ServedNetwork &network : run_.networks)
      alone.push_back(network.alone_cycles);
    arrivals_ = request_.arrivals(alone);
    if (arrivals_.empty()) throw std::invalid_argument("no request arrives; there must be one at least");
  }

  void serve_all(const ProgressFunction &progress) {
    std::unique_ptr<Device> device;
    try {
      device = make_device(request_.backend, request_.npu, request_.device);
    } catch (const std::exception &error) {
      fail(Outcome::kUnavailable, error.what());
      return;
    }
    reserve(*device);
    if (has_data(request_.backend))
      for (Placed &placed : placed_)
        load(*device, placed);
    ServeOptions options;
    options.patience = request_.patience;
    options.progress = progress;
    run_.service = serve(*device, run_.jobs, arrivals_, options);
    run_.counters = device->read_counters();
    if (!run_.service.status.ok()) {
      fail(Outcome::kDevice, fmt::format("the NPU stopped with {} at command {}",
                                         isa::kErrorNames[static_cast<std::size_t>(run_.service.status.error)],
                                         run_.service.status.error_index));
      return;
    }
    measure();
    if (has_data(request_.backend))
      for (Placed &placed : placed_)
        check(*device, placed);
  }

private:
  void fail(Outcome outcome, std::string text) {
    run_.outcome = std::max(run_.outcome, outcome);
    run_.failures.push_back(std::move(text));
  }

  void add(const compiler::Layer &layer, Pass pass) {
    compiler::CompileOptions options = request_.compile;
    options.pass = pass;
    const std::size_t network = run_.jobs.size() - 1;
    placed_.push_back({compiler::compile({layer}, request_.npu, options, cache_), memory_, network});
    const Compiled &compiled = placed_.back().compiled;
    memory_ += compiler::round_up(compiled.dram_bytes, kPage);
    run_.jobs.back().quanta.push_back(
        make_quantum(compiler::relocate(compiled.stream, placed_.back().base), request_.npu));
    ++run_.networks.back().quanta;
    run_.networks.back().commands += run_.jobs.back().quanta.back().size();
  }

  void reserve(Device &device) const {
    if (device.allocate(std::max<std::uint64_t>(memory_, 1), kPage) != 0)
      throw std::logic_error("a new device's memory does not begin at address 0");
  }

  void load(Device &device, Placed &placed) {
    GoldenTensors golden(placed.compiled, run_.networks[placed.network].name, request_.data, request_.seed);
    LoadedStream(device, placed.compiled.layout.tensors, placed.compiled.stream, placed.compiled.dram_bytes,
                 placed.base)
        .fill([&](std::size_t i) -> const HostTensor & { return golden[i]; });
  }

  void check(Device &device, Placed &placed) {
    ServedNetwork &network = run_.networks[placed.network];
    if (network.latencies.empty()) return; // nobody asked for it
    GoldenTensors golden(placed.compiled, network.name, request_.data, request_.seed);
    LoadedStream loaded(device, placed.compiled.layout.tensors, placed.compiled.stream, placed.compiled.dram_bytes,
                        placed.base);
    for (std::size_t i = 0; i < placed.compiled.layout.tensors.size(); ++i) {
      const TensorBinding &binding = placed.compiled.layout.tensors[i];
      if (!binding.result) continue;
      const Comparison comparison = compare(loaded.read(binding), golden[i]);
      network.elements += comparison.elements;
      network.mismatches += comparison.mismatches;
      if (!comparison.first) continue;
      fail(Outcome::kMismatch,
           fmt::format("{}, layer {}, {}: {}", network.name, placed.compiled.layer().name,
                       compiler::to_string(binding.tensor), describe_difference(comparison, binding.fp32)));
    }
  }

  void measure() {
    for (std::size_t i = 0; i < run_.service.requests.size(); ++i) {
      const ServedRequest &request = run_.service.requests[i];
      ServedNetwork &network = run_.networks[request.arrival.job];
      network.latencies.push_back(has_time(request_.backend) ? request.latency() : 0);
      if (has_time(request_.backend) && !run_.service.met_deadline(run_.jobs, i)) ++network.late;
    }
    for (ServedNetwork &network : run_.networks)
      std::sort(network.latencies.begin(), network.latencies.end());
  }

  static constexpr std::uint64_t kPage = 4096;

  const ServeRequest &request_;
  ServeRun &run_;
  compiler::CompileCache cache_;
  std::deque<Placed> placed_; ///< golden tensors refer to them
  std::uint64_t memory_ = 0;  ///< bytes used
  std::vector<Arrival> arrivals_;
};

} // namespace

std::uint64_t percentile(const std::vector<std::uint64_t> &latencies, double percent) {
  const double rank = std::ceil(percent / 100 * static_cast<double>(latencies.size()));
  return latencies[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

ServeRun run_served(const ServeRequest &request, const ProgressFunction &progress) {
  if (request.jobs.empty()) throw std::invalid_argument("there are no jobs to serve; name one");
  ServeRun run;
  ServedRun served(request, run);
  served.compile();
  served.serve_alone();
  served.draw_arrivals();
  try {
    served.serve_all(progress);
  } catch (const std::runtime_error &error) {
    run.outcome = Outcome::kDevice;
    run.failures.emplace_back(error.what());
  }
  return run;
}

} // namespace gradweave::runtime
