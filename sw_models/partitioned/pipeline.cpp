#include "sw_models/partitioned/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

namespace gradweave::partitioned {
namespace {

/// Cycles of an image in a stage.
struct Stage {
  double forward = 0, backward = 0;
};

Stage stage_of(const std::vector<LayerCycles> &layers, std::size_t from, std::size_t to) {
  Stage stage;
  for (std::size_t i = from; i < to; ++i) {
    stage.forward += layers[i].forward;
    stage.backward += layers[i].dx + layers[i].dw;
  }
  return stage;
}

/// Of gradients of so many weights between devices in a ring: parts of a weight vector go around twice.
double ring_cycles(const Links &links, std::uint32_t devices, double weights) {
  if (devices < 2) return 0;
  const double rate = std::min(links.device_rate, links.root_rate / devices);
  return weights * links.weight_bytes * exchange_factor(Exchange::kRing, devices) / rate +
         2.0 * (devices - 1) * links.latency;
}

/// What does one thing at a time.
struct Resource {
  double free = 0, busy = 0;

  /// Begins when it is free and `ready`; when it ends.
  double take(double ready, double cycles) {
    free = std::max(free, ready) + cycles;
    busy += cycles;
    return free;
  }
};

/// The stages of one mini-batch, micro-batch by micro-batch.
class Pipeline {
public:
  Pipeline(const Workload &workload, std::uint32_t devices, const Links &links, const Schedule &schedule)
      : near_(stage_of(workload.storage, 0, schedule.cut)),
        far_(stage_of(workload.host, schedule.cut, workload.layers())), micro_(schedule.micro),
        images_(micro_ * devices), links_(links) {
    const double rate = std::min(devices * links.device_rate, links.root_rate);
    map_ = schedule.cut < workload.layers() ? images_ * workload.maps[schedule.cut] * links.map_bytes / rate : 0;
    const double blocks = std::ceil(links.image_bytes / links.block_bytes);
    read_ = micro_ * blocks * links.block_bytes / links.flash_rate;
    add_own(workload.of_own(), schedule);
  }

  /// From the flash to the NPU, forwards there, and back: when the gradients have arrived.
  void forward() {
    const double read = flash_.take(flash_.busy == 0 ? links_.flash_latency : 0, read_);
    const double done = storage_.take(read, micro_ * near_.forward);
    const double arrived = up_.take(done, map_) + links_.latency;
    while (host_.free < arrived && next_own_ < own_.size())
      take_own();
    host_.take(arrived, images_ * far_.forward);
    host_.free += links_.loss_cycles;
    const double back = host_.take(0, images_ * far_.backward);
    gradients_.push_back(down_.take(back, map_) + links_.latency);
  }
  void backward() { storage_.take(gradients_[backwards_++], micro_ * near_.backward); }

  PipelineRun result() {
    while (next_own_ < own_.size())
      take_own();
    PipelineRun run;
    run.cycles = std::max(storage_.free, host_.free);
    run.storage_busy = storage_.busy;
    run.host_busy = host_.busy;
    run.up_busy = up_.busy;
    run.down_busy = down_.busy;
    run.flash_busy = flash_.busy;
    return run;
  }

private:
  /// The products of the NPU's own images, group by group: forwards layer by layer, and back.
  void add_own(const std::vector<LayerCycles> &layers, const Schedule &schedule) {
    for (std::uint32_t group = 0; group < schedule.groups; ++group) {
      for (const LayerCycles &layer : layers)
        own_.push_back(schedule.group * layer.forward);
      for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer)
        own_.push_back(schedule.group * (layer->dx + layer->dw));
    }
  }
  void take_own() { host_.take(0, own_[next_own_++]); }

  Stage near_, far_;
  std::vector<double> own_; ///< cycles of each
  std::size_t next_own_ = 0;
  double micro_, images_, map_ = 0, read_ = 0;
  const Links &links_;
  Resource flash_, storage_, up_, host_, down_;
  std::vector<double> gradients_;
  std::size_t backwards_ = 0;
};

double saved(const Workload &workload, std::uint32_t batch, double cycles) {
  return 100 * (1 - cycles / alone(workload, batch, Accounting::kPerImage));
}

PipelineRun run_alone(const Workload &workload, std::uint32_t batch) {
  PipelineRun run;
  run.cycles = run.host_busy = alone(workload, batch, Accounting::kPerImage);
  return run;
}

/// Behind all else: of the layers before the cut.
double exchange_of(const Workload &workload, std::uint32_t devices, const Links &links, const Schedule &schedule) {
  double weights = 0;
  for (std::size_t i = 0; i < schedule.cut; ++i)
    weights += workload.weights[i];
  return ring_cycles(links, devices + (schedule.groups > 0 ? 1 : 0), weights);
}

/// What a schedule takes at least: who has most to compute, and the exchange.
double least_cycles(const Workload &workload, std::uint32_t devices, const Links &links, std::uint32_t batch,
                    const Schedule &schedule) {
  const double others = batch - 1.0 * schedule.own();
  const auto cycles = [](const Stage &stage) { return stage.forward + stage.backward; };
  const double near = others / devices * cycles(stage_of(workload.storage, 0, schedule.cut)),
               far = others * cycles(stage_of(workload.host, schedule.cut, workload.layers())) +
                     schedule.own() * cycles(stage_of(workload.of_own(), 0, workload.layers()));
  return std::max(near, far) + exchange_of(workload, devices, links, schedule);
}

/// Whether micro-batches of all devices come out even, with some images.
bool divides(std::uint32_t devices, std::uint32_t batch, const Schedule &schedule) {
  const std::uint64_t images = std::uint64_t{devices} * schedule.micro;
  return images != 0 && schedule.own() < batch && (batch - schedule.own()) % images == 0;
}

void check(const Workload &workload, std::uint32_t devices, std::uint32_t batch, const Schedule &schedule) {
  if (schedule.cut > workload.layers())
    throw std::invalid_argument(
        fmt::format("a cut before layer {} is beyond the network of {} layers", schedule.cut, workload.layers()));
  if (schedule.own() >= batch)
    throw std::invalid_argument(
        fmt::format("the NPU takes {} images of its own out of {}; leave some to the devices", schedule.own(), batch));
  if (!divides(devices, batch, schedule))
    throw std::invalid_argument(
        fmt::format("a mini-batch of {} is not divisible by {} devices x {} images; take a multiple of these",
                    batch - schedule.own(), devices, schedule.micro));
  if (schedule.depth == 0) throw std::invalid_argument("a depth of 0 micro-batches; a device keeps at least 1");
}

} // namespace

void check(const Links &links) {
  const auto above_zero = [](double value, const char *name) {
    if (!(value > 0) || !std::isfinite(value))
      throw std::invalid_argument(fmt::format("{} of {}; it must be above 0", name, value));
  };
  above_zero(links.device_rate, "a bandwidth of a device's link");
  above_zero(links.root_rate, "a bandwidth of the root port");
  above_zero(links.flash_rate, "a bandwidth of the flash");
  above_zero(links.block_bytes, "a flash block");
  above_zero(links.map_bytes, "an element's size");
  above_zero(links.weight_bytes, "a gradient's size");
  for (const double time : {links.latency, links.flash_latency, links.image_bytes, links.loss_cycles})
    if (!(time >= 0))
      throw std::invalid_argument(fmt::format("a latency or size of {}; it must not be negative", time));
}

PipelineRun pipeline(const Workload &workload, std::uint32_t devices, const Links &links, std::uint32_t batch,
                     const Schedule &schedule) {
  check(workload);
  check(links);
  check_devices(devices, batch);
  check(workload, devices, batch, schedule);
  if (schedule.cut == 0) return run_alone(workload, batch);

  Pipeline stages(workload, devices, links, schedule);
  const std::uint32_t micro_batches = (batch - schedule.own()) / (devices * schedule.micro);
  std::uint32_t forwards = std::min(schedule.depth, micro_batches);
  for (std::uint32_t i = 0; i < forwards; ++i)
    stages.forward();
  for (std::uint32_t i = 0; i < micro_batches; ++i) {
    stages.backward();
    if (forwards++ < micro_batches) stages.forward();
  }
  PipelineRun run = stages.result();
  run.schedule = schedule;
  run.exchange = exchange_of(workload, devices, links, schedule);
  run.cycles += run.exchange;
  run.saving = saved(workload, batch, run.cycles);
  return run;
}

PipelineRun best_pipeline(const Workload &workload, std::uint32_t devices, const Links &links, std::uint32_t batch,
                          const Search &search) {
  PipelineRun best = pipeline(workload, devices, links, batch, {});
  std::multimap<double, Schedule> schedules; // of all depths, by what they take at least
  for (const std::uint32_t micro : search.micros)
    for (std::size_t cut = 1; cut <= workload.layers(); ++cut)
      for (Schedule s{cut, micro, 1, 0, std::max(search.group, 1U)}; s.own() < batch; ++s.groups) {
        if (divides(devices, batch, s)) schedules.emplace(least_cycles(workload, devices, links, batch, s), s);
        if (search.group == 0) break;
      }
  for (auto &[least, schedule] : schedules) {
    if (least >= best.cycles) break;
    const std::uint32_t micro_batches = (batch - schedule.own()) / (devices * schedule.micro);
    for (; schedule.depth <= std::min(search.most_depth, micro_batches); ++schedule.depth) {
      const PipelineRun run = pipeline(workload, devices, links, batch, schedule);
      if (run.cycles < best.cycles) best = run;
    }
  }
  return best;
}

Shares best_shares(const Workload &workload, std::uint32_t devices, const Links &links, std::uint32_t batch) {
  check(workload);
  check(links);
  check_devices(devices, batch);
  const Stage near = stage_of(workload.storage, 0, workload.layers()),
              far = stage_of(workload.of_whole(), 0, workload.layers());
  double weights = 0;
  for (const double layer : workload.weights)
    weights += layer;
  Shares best;
  best.cycles = alone(workload, batch, Accounting::kPerImage);
  for (std::uint32_t share = 1; std::uint64_t{share} * devices <= batch; ++share) {
    const std::uint32_t others = batch - share * devices;
    Shares shares;
    shares.share = share;
    shares.exchange = ring_cycles(links, devices + (others > 0 ? 1 : 0), weights);
    shares.cycles =
        std::max(share * (near.forward + near.backward), others * (far.forward + far.backward)) + shares.exchange;
    if (shares.cycles < best.cycles) best = shares;
  }
  best.saving = saved(workload, batch, best.cycles);
  return best;
}

double most_saving(const Workload &workload, std::uint32_t devices) {
  check(workload);
  check_devices(devices, devices);
  std::vector<std::pair<double, double>> products; // on all devices together, on the NPU
  double fastest = 0, alone = 0;                   // on the NPU, however it gets its images; and whole ones
  for (std::size_t i = 0; i < workload.layers(); ++i)
    for (double LayerCycles::*product : {&LayerCycles::forward, &LayerCycles::dx, &LayerCycles::dw}) {
      const double near = workload.storage[i].*product / devices, whole = workload.of_whole()[i].*product,
                   far = std::min({workload.host[i].*product, workload.of_own()[i].*product, whole});
      if (near > 0 || far > 0) products.emplace_back(near, far);
      fastest += far;
      alone += whole;
    }
  // Moved in the order in which devices lose least until both are busy as long: the optimum in fractions.
  std::sort(products.begin(), products.end(),
            [](const auto &a, const auto &b) { return a.first * b.second < b.first * a.second; });
  double storage = 0, left = fastest;
  for (const auto &[near, far] : products) {
    if (storage + near >= left - far) {
      left -= far * (left - storage) / (near + far);
      break;
    }
    storage += near;
    left -= far;
  }
  return 100 * (1 - std::max(left, storage) / alone);
}

} // namespace gradweave::partitioned
