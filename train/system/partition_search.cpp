#include "train/system/partition_search.hpp"

#include "graph/ir/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <tuple>

namespace gradweave::runtime::train {
namespace {

class Search {
public:
  Search(const graph::Graph &forward, const SystemConfig &system, const graph::TrainingOptions &options,
         const compiler::CompileOptions &compile, std::uint64_t budget, SystemCaches &caches)
      : forward_(forward), system_(system), options_(options), compile_(compile), budget_(budget), caches_(caches),
        layers_(graph::count_layers(forward)) {
    for (const graph::Tensor &tensor : forward.tensors)
      if (images_ == 0 && tensor.role == graph::Role::kInput && tensor.shape.rank() > 0) images_ = tensor.shape[0];
    for (const RouteConfig &route : system.partition.routes)
      for (const std::uint32_t device : route.devices)
        if (std::find(devices_.begin(), devices_.end(), device) == devices_.end()) devices_.push_back(device);
  }

  PartitionSearch run() {
    alone();
    by_speed();
    common_cuts();
    keep("as the file has it", system_.partition);
    if (result_.tried.empty())
      throw std::invalid_argument(fmt::format("{}: no partition of network '{}' can be trained on its devices{}{}",
                                              system_.file, forward_.name, problem_.empty() ? "" : ": ", problem_));
    improve();
    return std::move(result_);
  }

private:
  /// Of a step; nothing if there is none.
  std::optional<std::uint64_t> time(const PartitionConfig &partition) {
    const std::string key = to_string(partition, system_);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    if (result_.evaluations == budget_) return std::nullopt;
    ++result_.evaluations;
    std::optional<std::uint64_t> &ps = known_[key];
    try {
      const SystemNetwork network = make_system_network(forward_, system_, partition, options_);
      const ProductPlan products = plan_products(network.step.graph, machine_of(network, system_));
      ps = SystemStep(network, products, system_, compile_, caches_).times().end;
    } catch (const graph::GraphError &error) { // shares and micro-batches that do not divide the batch, above all
      problem_ = error.what();
    } catch (const compiler::CompileError &error) {
      problem_ = error.what();
    } catch (const std::invalid_argument &error) {
      problem_ = error.what();
    }
    return ps;
  }

  void keep(const std::string &what, const PartitionConfig &partition) {
    if (const auto ps = time(partition)) result_.tried.push_back({what, partition, *ps});
  }

  std::uint32_t first_like(std::uint32_t device) const {
    const DeviceConfig &own = system_.devices[device];
    const auto has_tables = [this](std::uint32_t d) {
      const std::vector<std::uint32_t> &all = system_.tables.devices;
      return std::find(all.begin(), all.end(), d) != all.end();
    };
    const auto like = [&](std::uint32_t other) {
      if (other == device) return true;
      if (has_tables(device) || has_tables(other)) return false;
      const DeviceConfig &o = system_.devices[other];
      return o.npu_file == own.npu_file && o.link == own.link && o.flash == own.flash &&
             o.machine.memory.bandwidth_gb_s == own.machine.memory.bandwidth_gb_s;
    };
    return *std::find_if(devices_.begin(), devices_.end(), like);
  }

  static PartitionConfig on_one(std::uint32_t device) { return PartitionConfig::of_cut(0, {}, device); }

  /// A device that others are like is tried once.
  void alone() {
    for (const std::uint32_t device : devices_)
      if (first_like(device) == device) keep(system_.devices[device].name + " alone", on_one(device));
    std::sort(result_.tried.begin(), result_.tried.end(), [](const TriedPartition &a, const TriedPartition &b) {
      return std::tie(a.ps, a.what) < std::tie(b.ps, b.what);
    });
  }

  static bool faster(const TriedPartition &a, const TriedPartition &b) { return a.ps < b.ps; }

  /// Of so many images each device takes its share of the sum of all speeds: what is left over goes to those that
  /// would be done first.
  void by_speed() {
    if (images_ == 0) return;
    std::vector<double> alone;
    for (const std::uint32_t device : devices_) {
      const auto ps = time(on_one(first_like(device)));
      alone.push_back(ps ? static_cast<double>(*ps) / images_ : 0);
    }
    std::vector<std::uint32_t> images(devices_.size());
    for (std::uint32_t image = 0; image < images_; ++image) {
      std::size_t best = devices_.size();
      for (std::size_t d = 0; d < devices_.size(); ++d)
        if (alone[d] > 0 && (best == devices_.size() || (images[d] + 1) * alone[d] < (images[best] + 1) * alone[best]))
          best = d;
      if (best == devices_.size()) return;
      ++images[best];
    }
    std::vector<std::size_t> slowest_first(devices_.size()); // the last one has the loss, too
    std::iota(slowest_first.begin(), slowest_first.end(), 0);
    std::sort(slowest_first.begin(), slowest_first.end(),
              [&](std::size_t a, std::size_t b) { return alone[a] != alone[b] ? alone[a] > alone[b] : a < b; });
    PartitionConfig partition;
    for (const std::size_t d : slowest_first)
      if (images[d] > 0) partition.routes.push_back({images[d], {devices_[d]}, {}});
    keep("images by speed", partition);
  }

  /// For routes from a device of their own to one that all have in common.
  void common_cuts() {
    std::vector<std::uint32_t> lower;
    for (const RouteConfig &route : system_.partition.routes) {
      if (route.devices.size() != 2 || route.devices.back() != system_.partition.routes.front().devices.back()) return;
      lower.push_back(route.devices.front());
    }
    std::optional<TriedPartition> best;
    for (std::uint32_t cut = 1; cut < layers_; ++cut) {
      PartitionConfig partition = PartitionConfig::of_cut(cut, lower, system_.partition.routes.front().devices.back());
      partition.order = system_.partition.order;
      for (const std::uint32_t micro_batches : {1U, 2U, 4U, 8U}) {
        partition.micro_batches = micro_batches;
        const auto ps = time(partition);
        if (ps && (!best || *ps < best->ps)) best = TriedPartition{fmt::format("cut {}", cut), partition, *ps};
      }
    }
    if (best) result_.tried.push_back(*best);
  }

  /// All partitions that are a change away.
  std::vector<PartitionConfig> changes_of(const PartitionConfig &partition) const {
    std::vector<PartitionConfig> changes;
    const auto add = [&](const auto &change) {
      PartitionConfig changed = partition;
      if (change(changed)) changes.push_back(std::move(changed));
    };
    add([](PartitionConfig &p) { return (p.micro_batches *= 2) <= 64; });
    add([](PartitionConfig &p) { return p.micro_batches > 1 && (p.micro_batches /= 2) > 0; });
    add([](PartitionConfig &p) { return p.order.backward_first = !p.order.backward_first, true; });
    add([](PartitionConfig &p) { return p.order.eager_moves = !p.order.eager_moves, true; });
    for (std::size_t r = 0; r < partition.routes.size(); ++r) {
      for (std::size_t c = 0; c < partition.routes[r].cuts.size(); ++c)
        for (const int by : {-1, 1})
          add([&](PartitionConfig &p) { return move_cut(p.routes[r].cuts, c, by); });
      for (std::size_t to = 0; to < partition.routes.size(); ++to)
        if (to != r) add([&](PartitionConfig &p) { return move_image(p, r, to); });
      add([&](PartitionConfig &p) { return take_whole(p, r); });
      for (const std::uint32_t cut : {layers_ / 2, layers_ - 1})
        add([&](PartitionConfig &p) { return go_on(p, r, cut); });
    }
    return changes;
  }

  /// The last device takes images of the route through all layers, unless it does so already.
  bool take_whole(PartitionConfig &p, std::size_t route) const {
    const RouteConfig whole{0, {p.routes.back().devices.back()}, {}};
    for (const RouteConfig &other : p.routes)
      if (other.devices == whole.devices) return false;
    p.routes.push_back(whole);
    return move_image(p, route, p.routes.size() - 1);
  }

  /// A route of whole images goes on to the last device behind `cut` layers.
  bool go_on(PartitionConfig &p, std::size_t route, std::uint32_t cut) const {
    RouteConfig &r = p.routes[route];
    const std::uint32_t last = p.routes.back().devices.back();
    if (r.devices.size() > 1 || r.devices.front() == last || cut == 0) return false;
    r.devices.push_back(last);
    r.cuts.push_back(cut);
    return true;
  }

  bool move_cut(std::vector<std::uint32_t> &cuts, std::size_t c, int by) const {
    if (by < 0 && cuts[c] == 0) return false;
    cuts[c] += static_cast<std::uint32_t>(by);
    return cuts[c] < layers_ && std::is_sorted(cuts.begin(), cuts.end());
  }

  /// Shares become numbers of images.
  bool move_image(PartitionConfig &p, std::size_t from, std::size_t to) const {
    std::uint32_t all = 0;
    for (const RouteConfig &route : p.routes)
      all += route.share;
    if (images_ == 0 || images_ % all != 0) return false;
    for (RouteConfig &route : p.routes)
      route.share *= images_ / all;
    const std::uint32_t step = p.micro_batches;
    if (p.routes[from].share <= step) return false;
    p.routes[from].share -= step;
    p.routes[to].share += step;
    std::uint32_t common = 0;
    for (const RouteConfig &route : p.routes)
      common = std::gcd(common, route.share);
    for (RouteConfig &route : p.routes)
      route.share /= common;
    return true;
  }

  /// Change by change, each that makes it faster.
  TriedPartition climb(TriedPartition best) {
    for (bool better = true; better;) {
      better = false;
      for (const PartitionConfig &change : changes_of(best.partition))
        if (const auto ps = time(change); ps && *ps < best.ps) {
          best.partition = change;
          best.ps = *ps;
          better = true;
          break;
        }
    }
    return best;
  }

  /// From the fastest that was tried, and with the evaluations that are left from the others, faster ones first: one
  /// device alone may have nothing faster a change away.
  void improve() {
    std::multimap<std::uint64_t, TriedPartition> starts;
    for (const TriedPartition &tried : result_.tried)
      starts.emplace(tried.ps, tried);
    TriedPartition best = starts.begin()->second;
    for (const auto &[ps, start] : starts)
      if (TriedPartition found = climb(start); faster(found, best)) best = std::move(found);
    best.what = "found";
    result_.tried.push_back(std::move(best));
  }

  const graph::Graph &forward_;
  const SystemConfig &system_;
  const graph::TrainingOptions &options_;
  const compiler::CompileOptions &compile_;
  std::uint64_t budget_;
  SystemCaches &caches_;
  std::uint32_t layers_, images_ = 0;
  std::vector<std::uint32_t> devices_;
  std::map<std::string, std::optional<std::uint64_t>> known_;
  std::string problem_; ///< of the last partition that cannot be
  PartitionSearch result_;
};

} // namespace

PartitionSearch search_partition(const graph::Graph &forward, const SystemConfig &system,
                                 const graph::TrainingOptions &options, const compiler::CompileOptions &compile,
                                 std::uint64_t budget, SystemCaches &caches) {
  return Search(forward, system, options, compile, budget, caches).run();
}

std::string to_string(const PartitionConfig &partition, const SystemConfig &system) {
  std::string text;
  for (const RouteConfig &route : partition.routes) {
    if (partition.routes.size() > 1 && route.share != 1) text += fmt::format("{} x ", route.share);
    for (std::size_t leg = 0; leg < route.devices.size(); ++leg) {
      const std::uint32_t first = leg == 0 ? 0 : route.cuts[leg - 1];
      text += fmt::format("{}{} {}-", leg == 0 ? "" : ", ", system.devices[route.devices[leg]].name, first);
      if (leg < route.cuts.size()) text += fmt::format("{}", static_cast<std::int64_t>(route.cuts[leg]) - 1);
    }
    text += "; ";
  }
  return text + fmt::format("{} micro-batches, {}", partition.micro_batches, gradweave::to_string(partition.order));
}

} // namespace gradweave::runtime::train
