#include "train/npu/plan/step_memory.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/layout.hpp"
#include "train/data/tensor_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

namespace gradweave::runtime::train {
namespace {

using graph::Graph;
using graph::kNone;
using graph::OpId;
using graph::TensorId;

/// A tensor begins at a multiple of a burst, a small one at one of a power of two that holds it.
std::uint64_t alignment_of(std::uint64_t bytes) {
  std::uint64_t alignment = 64;
  while (alignment < compiler::kTensorAlignment && alignment < bytes)
    alignment *= 2;
  return alignment;
}

/// Memory that grows, with what is given back.
class FreeList {
public:
  std::uint64_t take(std::uint64_t bytes, std::uint64_t alignment) {
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      const std::uint64_t begin = it->first, end = it->second, at = compiler::round_up(begin, alignment);
      if (at + bytes > end) continue;
      free_.erase(it);
      give(begin, at);
      give(at + bytes, end);
      return at;
    }
    const std::uint64_t at = compiler::round_up(end_, alignment);
    give(end_, at);
    end_ = at + bytes;
    return at;
  }

  void give(std::uint64_t begin, std::uint64_t end) {
    if (begin == end) return;
    auto behind = free_.lower_bound(begin);
    if (behind != free_.end() && behind->first == end) {
      end = behind->second;
      behind = free_.erase(behind);
    }
    if (behind != free_.begin() && std::prev(behind)->second == begin)
      std::prev(behind)->second = end;
    else
      free_.emplace(begin, end);
  }

  std::uint64_t end() const { return end_; }

private:
  std::map<std::uint64_t, std::uint64_t> free_; ///< first byte, one past the last
  std::uint64_t end_ = 0;
};

class MemoryPlanner {
public:
  explicit MemoryPlanner(const MemoryNeeds &needs)
      : needs_(needs), graph_(needs.graph), reuse_(needs.reuse), readers_(graph_.consumers()),
        over_(graph_.tensors.size()) {
    memory_.places.resize(graph_.tensors.size());
    for (TensorId id = 0; id < graph_.tensors.size(); ++id)
      if (!is_inside(id)) memory_.places[id].owner = id;
  }

  StepMemory run() {
    take_next_values();
    for (const View &view : needs_.views.views)
      over_[view.tensor] = &view;
    for (TensorId id = 0; id < graph_.tensors.size(); ++id)
      if (over_[id] != nullptr) find_owner(id);
    place_owners();
    for (TensorId id = 0; id < graph_.tensors.size(); ++id) {
      TensorPlace &place = memory_.places[id];
      if (is_inside(id)) continue;
      place.address = memory_.places[place.owner].address;
      place.kept = memory_.places[place.owner].kept;
    }
    memory_.scratch = compiler::round_up(free_.end(), compiler::kTensorAlignment);
    return std::move(memory_);
  }

private:
  bool is_inside(TensorId id) const { return !needs_.inside.empty() && needs_.inside[id]; }

  void take_next_values() {
    std::vector<std::uint32_t> next_values(graph_.tensors.size());
    for (const graph::Update &update : graph_.updates)
      ++next_values[update.next];
    for (const graph::Update &update : graph_.updates)
      if (next_values[update.next] == 1 && can_take(update))
        memory_.places[update.next].owner = update.tensor;
      else
        memory_.moved.push_back(update);
  }

  /// Whether nobody needs the old value once the next one is there. That jobs of one section read it before they write
  /// is for fit_in_place() to see.
  bool can_take(const graph::Update &update) const {
    const graph::Tensor &next = graph_.tensors[update.next];
    if (needs_.displaced.count(update.next) != 0) return false;
    if (!next.computed() || next.type != graph_.tensors[update.tensor].type) return false;
    const Station &writes = needs_.order.stations[run_at(next.producer)];
    for (const OpId reader : readers_[update.tensor])
      if (run_at(reader) > run_at(next.producer) ||
          (run_at(reader) == run_at(next.producer) && (writes.by_areas || writes.group)))
        return false;
    return std::find(graph_.results.begin(), graph_.results.end(), update.tensor) == graph_.results.end();
  }

  /// A view of a view is one of the same place.
  void find_owner(TensorId id) {
    TensorPlace &place = memory_.places[id];
    TensorId of = id;
    for (std::size_t depth = 0; over_[of] != nullptr && depth <= graph_.tensors.size(); ++depth) {
      if (!over_[of]->strides.empty()) place.strides = over_[of]->strides;
      of = over_[of]->of;
    }
    place.owner = is_inside(of) ? of : memory_.places[of].owner; // a next value lies in the place of the one before
  }

  /// The station that runs an op.
  std::uint32_t run_at(OpId op) const { return needs_.order.station_of[op]; }

  /// From the first to the last station of the step that has to do with it.
  struct Life {
    std::uint32_t first = 0, last = 0;
    bool whole = true; ///< the step, and what follows
  };

  std::vector<Life> lives() const {
    std::vector<Life> all(graph_.tensors.size());
    for (TensorId id = 0; id < all.size(); ++id) {
      const TensorId owner = memory_.places[id].owner;
      if (is_inside(id) || stays(id)) continue;
      const std::uint32_t born = run_at(graph_.tensors[id].producer);
      Life &life = all[owner];
      if (life.whole) life = {born, 0, false};
      life.first = std::min(life.first, born);
      for (const OpId reader : readers_[id])
        life.last = std::max(life.last, run_at(reader));
    }
    for (TensorId id = 0; id < all.size(); ++id)
      if (!is_inside(id) && stays(id)) all[memory_.places[id].owner].whole = true;
    return all;
  }

  /// What is to be there behind the step, or was there before it.
  bool stays(TensorId id) const {
    const graph::Tensor &tensor = graph_.tensors[id];
    return !tensor.computed() || tensor.role == graph::Role::kUpdated || readers_[id].empty() || id == graph_.loss ||
           std::find(graph_.results.begin(), graph_.results.end(), id) != graph_.results.end();
  }

  void place_owners() {
    std::vector<Life> all;
    if (reuse_) all = lives();
    std::vector<TensorId> order;
    for (TensorId id = 0; id < graph_.tensors.size(); ++id)
      if (memory_.places[id].owner == id) order.push_back(id);
    if (reuse_)
      std::sort(order.begin(), order.end(), [&all](TensorId a, TensorId b) {
        const auto key = [&all](TensorId id) {
          return std::make_tuple(!all[id].whole, all[id].whole ? 0U : all[id].first, id);
        };
        return key(a) < key(b);
      });
    std::multimap<std::uint32_t, TensorId> alive; // by their last station
    for (const TensorId id : order) {
      while (reuse_ && !all[id].whole && !alive.empty() && alive.begin()->first < all[id].first) {
        const TensorId old = alive.begin()->second;
        memory_.places[old].kept = false;
        free_.give(memory_.places[old].address, memory_.places[old].address + bytes_of_tensor(graph_.tensors[old]));
        alive.erase(alive.begin());
      }
      const std::uint64_t bytes = bytes_of_tensor(graph_.tensors[id]);
      memory_.places[id].address = free_.take(bytes, alignment_of(bytes));
      if (reuse_ && !all[id].whole) alive.emplace(all[id].last, id);
    }
  }

  const MemoryNeeds &needs_;
  const Graph &graph_;
  bool reuse_;
  graph::Consumers readers_;
  std::vector<const View *> over_; ///< of each tensor, what it is a view of
  FreeList free_;
  StepMemory memory_;
};

} // namespace

std::size_t TensorPlace::element(const graph::Shape &shape, std::size_t number) const {
  if (strides.empty()) return number;
  std::size_t at = 0;
  for (std::size_t axis = shape.rank(); axis-- > 0; number /= shape[axis])
    at += number % shape[axis] * strides[axis];
  return at;
}

StepMemory plan_memory(const MemoryNeeds &needs) { return MemoryPlanner(needs).run(); }

void check_memory(std::uint64_t bytes, const Machine &npu) {
  if (bytes <= npu.memory.size_bytes) return;
  throw std::invalid_argument(
      fmt::format("the step's tensors and commands need {} bytes of device memory, NPU '{}' has {}; raise "
                  "memory.size_bytes, take a smaller batch, or leave operators to the host (--operators host)",
                  bytes, npu.name, npu.memory.size_bytes));
}

} // namespace gradweave::runtime::train
