#include "compiler/cost/estimate/tile_estimate.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/ir/grid/tile_rows.hpp"
#include "compiler/lower/dram_bytes.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/spm/action_writer.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// Share of the steps in which the lines of A and B come from the same macro-bank, if both tiles are walked evenly.
double bank_conflicts(const RowRange &a, const RowRange &b, std::uint32_t bank_rows) {
  double share = 0;
  const auto overlap = [&](const RowRange &r, std::uint32_t bank) {
    const std::uint32_t first = std::max(r.first, bank * bank_rows);
    const std::uint32_t end = std::min(r.end(), (bank + 1) * bank_rows);
    return end > first ? static_cast<double>(end - first) / r.rows : 0.0;
  };
  const std::uint32_t first = std::max(a.first, b.first) / bank_rows;
  const std::uint32_t last = (std::min(a.end(), b.end()) - 1) / bank_rows;
  for (std::uint32_t bank = first; bank <= last && a.rows > 0 && b.rows > 0; ++bank)
    share += overlap(a, bank) * overlap(b, bank);
  return share;
}

/// Bytes of the DRAM that the LOADs of a product's operands take which no product before it needs, and memory holds.
std::uint64_t first_loads(const TileWalk &walk, std::uint32_t product) {
  const Needs &needs = walk.table().needs[product];
  std::uint64_t bytes = 0;
  for (const std::size_t slot : {Needs::kA, Needs::kB}) {
    const std::int32_t id = needs.tile[slot];
    if (id < 0 || (slot == Needs::kB && id == needs.tile[Needs::kA])) continue;
    const Tile &t = walk.table().tiles[static_cast<std::size_t>(id)];
    if (t.computed || t.first_use != product) continue;
    const TensorBinding &binding = walk.layout().tensors[static_cast<std::size_t>(t.binding)];
    bytes += dram_bytes_of(element_address(binding, t.rect), t.rect, t.fp32, walk.npu());
  }
  return bytes;
}

} // namespace

void RunningEstimate::clear_products() {
  cycles_.clear();
  cores_.clear();
  all_ = {};
  tail_ = 0;
  first_loads_.assign(1, 0);
  ahead_.clear();
}

void RunningEstimate::add_product(const TileProduct &product, const Layer &layer, std::uint64_t first_loads) {
  cycles_.push_back(static_cast<double>(product_cycles(product, layer, npu_)));
  cores_.push_back(product.core);
  all_[kComputeEngine + product.core] += cycles_.back();
  first_loads_.push_back(first_loads_.back() + first_loads);
}

void RunningEstimate::set_products(const std::vector<PhasePlan> &plans, const TileWalk &walk) {
  clear_products();
  std::uint32_t step = 0;
  for (const Slice &slice : walk.order())
    for (std::size_t i = slice.first; i < slice.end; ++i, ++step) {
      const TileProduct &product = plans[slice.plan].products[i];
      add_product(product, walk.layers()[product.layer], first_loads(walk, step));
    }
}

/// Fills ahead_.
void RunningEstimate::look_ahead() {
  ahead_.assign(cycles_.size() + 1, 0);
  PerEngine left{};
  for (std::size_t i = cycles_.size(); i-- > 0;) {
    double &mine = left[kComputeEngine + cores_[i]];
    mine += cycles_[i];
    const bool loads = first_loads_[i + 1] > first_loads_[i];
    ahead_[i] = std::max(ahead_[i + 1], loads ? service(first_loads_[i + 1]) + mine : 0);
  }
}

bool RunningEstimate::begin(std::uint64_t limit) {
  if (ahead_.size() != cycles_.size() + 1) look_ahead();
  order_.begin();
  limit_ = static_cast<double>(limit);
  moving_ = idle_ = array_ = 0;
  left_ = all_;
  done_.clear();
  bytes_.clear();
  for (std::vector<std::size_t> &queue : queue_)
    queue.clear();
  head_ = {};
  free_ = {};
  channel_free_ = end_ = 0;
  queued_loads_ = placed_ = 0;
  return !late();
}

double RunningEstimate::service(std::uint64_t bytes) const {
  return static_cast<double>(bytes) * static_cast<double>(npu_.memory.bytes_den) /
         static_cast<double>(npu_.memory.bytes_num);
}

/// The fetch delivers the commands at the DRAM's speed.
double RunningEstimate::fetched(std::size_t action) const {
  return static_cast<double>(action) * isa::kCommandBytes * npu_.memory.bytes_den / npu_.memory.bytes_num;
}

/// Programs that differ in nothing that counts are told from one another at once where the array never waits: so it is
/// exact then, but for rounding.
double RunningEstimate::least() const {
  constexpr double kRounding = 1e-3;
  const double answered = npu_.memory.latency_cycles + kPipeline;
  return std::max({moving_ > 0 ? moving_ + idle_ + answered : 0, array_ > 0 ? array_ + tail_ : 0,
                   least_to_come() - kRounding}) -
         kRounding;
}

/// What products to come load first is loaded behind all that is queued, and then they and those after them compute.
double RunningEstimate::least_to_come() const {
  if (ahead_[placed_] == 0) return 0;
  return channel_free_ + service(queued_loads_) + ahead_[placed_] - service(first_loads_[placed_]) +
         npu_.memory.latency_cycles + kPipeline + tail_;
}

/// The last result leaves the array, and then the scratchpad; whatever the places of tiles, it is the same.
double RunningEstimate::tail_of(const Program &program) const {
  const auto &actions = program.actions;
  const auto last = std::find_if(actions.rbegin(), actions.rend(), [](const Action &a) { return a.computes(); });
  if (npu_.cores > 1 || last == actions.rend() || last->kind == Action::Kind::kAdd) return 0;
  const auto store = std::find_if(last.base(), actions.end(), [&](const Action &a) {
    return a.kind == Action::Kind::kStore && a.place.row == last->place.row;
  });
  return drain() + (store == actions.end()
                        ? 0
                        : service(dram_bytes_of(program, *store, npu_)) + npu_.memory.latency_cycles + kPipeline);
}

/// When the head of an engine's queue can start; infinity while that is unknown.
double RunningEstimate::ready(std::size_t engine) const {
  if (!is_known(engine)) return kNotReady;
  const std::size_t index = queue_[engine][head_[engine]];
  double start = std::max(free_[engine], fetched(index));
  const std::int32_t *after = ordering_->after(index);
  for (std::size_t e = 0; e < kComputeEngine + npu_.cores; ++e)
    if (const std::int32_t other = after[e]; other != Ordering::kNone) {
      const double other_done = done_[static_cast<std::size_t>(other)];
      if (other_done < 0) return kNotReady;
      start = std::max(start, other_done);
    }
  return start;
}

/// The same of a head that may be still to come.
double RunningEstimate::ready_at_least(std::size_t engine) const {
  return is_known(engine) ? ready(engine) : std::max(free_[engine], fetched(done_.size()));
}

void RunningEstimate::move(const Program &program, std::size_t engine, double start) {
  const std::size_t index = queue_[engine][head_[engine]++];
  const double latency = npu_.memory.latency_cycles;
  if (engine == kLoadEngine) queued_loads_ -= bytes_[index];
  const std::uint32_t rows = program.form(program.actions[index]).rows;
  // A burst a cycle is issued, but no more than may be in flight until the first is answered.
  const double issued = start + rows * std::max(1.0, latency / npu_.outstanding);
  idle_ += std::max(0.0, start - channel_free_);
  channel_free_ = std::max(channel_free_, start) + service(bytes_[index]);
  done_[index] = std::max(channel_free_, issued) + latency + kPipeline;
  // The next command's bursts are issued as soon as this one's are.
  free_[engine] = std::max(issued, channel_free_ - latency);
  end_ = std::max(end_, done_[index]);
}

void RunningEstimate::compute(const Program &program, std::size_t engine, double start) {
  const std::size_t index = queue_[engine][head_[engine]++];
  const Action &a = program.actions[index];
  const TileProduct &p = program.products[a.product];
  double cycles = cycles_[a.product];
  array_ = std::max(array_, start + left_[engine]);
  left_[engine] -= cycles;
  if (p.add) { // begins and ends with an empty array
    free_[engine] = done_[index] = std::max(start, free_[engine] + drain()) + cycles + kPipeline;
  } else {
    if (const double conflicts =
            bank_conflicts(program.place(a.in.a).rows, program.place(a.in.b).rows, npu_.bank_rows());
        conflicts > 0)
      cycles += conflicts * static_cast<double>(block_count(program.form(a).lines, program.form(a).cols, npu_)) *
                range_of(p, contraction_of(p.result).red).size;
    const bool stalled = start > free_[engine];
    if (stalled && a.acc) start += npu_.rows; // nothing computes while the first initial values enter
    free_[engine] = start + cycles;
    done_[index] = free_[engine] + drain();
  }
  end_ = std::max(end_, done_[index]);
}

/// Whether any core could go on.
bool RunningEstimate::compute_all(const Program &program) {
  bool any = false;
  for (std::size_t engine = kComputeEngine; engine < kComputeEngine + npu_.cores; ++engine)
    for (double at = ready(engine); at < kNotReady; at = ready(engine)) {
      compute(program, engine, at);
      any = true;
    }
  return any;
}

/// Takes in the actions that the program has beyond those known.
void RunningEstimate::follow(const Program &program) {
  ordering_ = &order_.follow(program);
  for (std::size_t i = done_.size(); i < program.actions.size(); ++i) {
    const Action &a = program.actions[i];
    queue_[engine_of(a)].push_back(i);
    bytes_.push_back(dram_bytes_of(program, a, npu_));
    done_.push_back(kPending);
    if (a.kind == Action::Kind::kLoad) queued_loads_ += bytes_.back();
  }
  placed_ = program.products.size();
}

/// Plays what is known, as far as it does not depend on what is not; false if the program is late.
bool RunningEstimate::play(const Program &program, bool whole) {
  for (;;) {
    if (late()) return false;
    if (compute_all(program)) continue;
    const double load_at = whole ? ready(kLoadEngine) : ready_at_least(kLoadEngine);
    const double store_at = whole ? ready(kStoreEngine) : ready_at_least(kStoreEngine);
    if (load_at == kNotReady && store_at == kNotReady) return true;
    const std::size_t first = load_at <= store_at ? kLoadEngine : kStoreEngine;
    if (!is_known(first)) return true;
    move(program, first, first == kLoadEngine ? load_at : store_at);
  }
}

bool RunningEstimate::goes_on(const Program &program, std::uint64_t bytes) {
  moving_ = service(bytes);
  follow(program);
  return play(program, false);
}

std::uint64_t RunningEstimate::end(const Program &program) {
  follow(program);
  tail_ = tail_of(program);
  return static_cast<std::uint64_t>(play(program, true) ? end_ : limit_);
}

std::uint64_t estimate_cycles(const Program &program, const Machine &npu, std::uint64_t limit) {
  RunningEstimate estimate(npu);
  for (const TileProduct &p : program.products)
    estimate.add_product(p, program.layers[p.layer]);
  estimate.begin(limit);
  return estimate.goes_on(program, moved_bytes(program, npu)) ? estimate.end(program) : limit;
}

} // namespace gradweave::compiler
