#include "tests/validate/racing_npu.hpp"

#include "sw_models/numerics/numerics.hpp"
#include "sw_models/vector/interpreter.hpp"

#include <algorithm>
#include <cstring>

namespace gradweave::test {

namespace {

constexpr std::size_t kCompute = 2; // engine of the first core
constexpr std::size_t kTransfersAtOnce = 3;
constexpr std::ptrdiff_t kResultsOnTheirWay = 2;

} // namespace

RacingNpu::RacingNpu(const Machine &config, std::uint64_t dram_base, std::vector<std::uint8_t> &memory,
                     std::uint64_t seed)
    : npu_(config), dram_base_(dram_base), memory_(memory), dice_(seed),
      spm_(std::size_t{config.spm_rows()} * config.lanes()), semaphores_(config.semaphores), cores_(config.cores),
      units_(config.vectors()) {
  for (std::uint16_t &w : spm_)
    w = static_cast<std::uint16_t>(dice_.bits()); // nothing may depend on it
}

bool RacingNpu::run(const std::vector<isa::Command> &stream) {
  for (const isa::Command &c : stream) {
    const isa::Decoded d = *isa::decode(c);
    const std::size_t engine = isa::engine_place(d.engine(), npu_.cores);
    if (engine < kCompute)
      queues_[engine].push_back(d);
    else if (engine < kCompute + cores_.size())
      cores_[engine - kCompute].queue.push_back(d);
    else
      units_[engine - kCompute - cores_.size()].queue.push_back(d);
  }
  const auto idle = [&] {
    return std::all_of(queues_.begin(), queues_.end(), [](const auto &q) { return q.empty(); }) &&
           std::all_of(transfers_.begin(), transfers_.end(), [](const auto &t) { return t.empty(); }) &&
           std::all_of(cores_.begin(), cores_.end(),
                       [](const Core &c) { return c.queue.empty() && c.results.empty(); }) &&
           std::all_of(units_.begin(), units_.end(), [](const Unit &u) { return u.queue.empty(); });
  };
  const std::size_t engines = kCompute + cores_.size() + units_.size();
  while (!idle()) {
    const std::size_t first = dice_.below(engines);
    const std::size_t times = 1 + dice_.below(12); // long turns let an engine run far ahead of the others
    bool moved = false;
    for (std::size_t t = 0; t < times && turn(first); ++t)
      moved = true;
    for (std::size_t other = 1; !moved && other < engines; ++other)
      moved = turn((first + other) % engines);
    if (!moved) return false;
  }
  return true;
}

bool RacingNpu::turn(std::size_t engine) {
  if (engine >= kCompute + cores_.size()) return turn_unit(units_[engine - kCompute - cores_.size()]);
  return engine < kCompute ? turn_dma(engine) : turn_compute(cores_[engine - kCompute]);
}

bool RacingNpu::can_start(const isa::Sync &sync) const {
  return std::all_of(sync.waits.begin(), sync.waits.end(), [&](const isa::Wait &w) {
    return w.semaphore == isa::kNoSemaphore || semaphores_[w.semaphore] >= w.count;
  });
}

void RacingNpu::take(const isa::Sync &sync) {
  for (const isa::Wait &w : sync.waits)
    if (w.semaphore != isa::kNoSemaphore) semaphores_[w.semaphore] -= w.count;
}

void RacingNpu::post(const isa::Sync &sync) {
  for (const std::uint8_t p : sync.posts)
    if (p != isa::kNoSemaphore) ++semaphores_[p];
}

std::size_t RacingNpu::word(const isa::SpmTile &t, std::uint32_t i, std::uint32_t j, bool fp32) const {
  const std::uint32_t lanes = npu_.lanes();
  const std::uint32_t row = t.row + j / lanes * t.pstride + (fp32 ? 2 * i : i);
  return std::size_t{row} * lanes + (t.rot + i + j) % lanes;
}

std::uint32_t RacingNpu::element(const isa::SpmTile &t, std::uint32_t i, std::uint32_t j, bool fp32) const {
  const std::size_t w = word(t, i, j, fp32);
  return fp32 ? spm_[w] | std::uint32_t{spm_[w + npu_.lanes()]} << 16U : spm_[w];
}

// --- load and store ---------------------------------------------------------------------------------

bool RacingNpu::turn_dma(std::size_t engine) {
  std::deque<isa::Decoded> &queue = queues_[engine];
  std::deque<Transfer> &transfers = transfers_[engine];
  const bool may_start = !queue.empty() && transfers.size() < kTransfersAtOnce && can_start(queue.front().sync);
  if (!may_start && transfers.empty()) return false;
  if (may_start && (transfers.empty() || dice_.chance(0.5))) {
    take(queue.front().sync);
    transfers.push_back({queue.front(), false, {}});
    queue.pop_front();
    if (dice_.chance(0.5)) read(transfers.back());
    return true;
  }
  Transfer &oldest = transfers.front();
  read(oldest);
  write(oldest);
  post(oldest.command.sync);
  transfers.pop_front();
  return true;
}

void RacingNpu::read(Transfer &t) {
  const auto *d = std::get_if<isa::DmaCommand>(&t.command.op);
  if (d == nullptr || t.has_read) return;
  t.has_read = true;
  const std::size_t bytes = d->fp32 ? 4 : 2;
  for (std::uint32_t i = 0; i < d->rows; ++i)
    for (std::uint32_t j = 0; j < d->cols; ++j) {
      std::uint32_t value = 0;
      if (d->store) {
        value = element(d->spm, i, j, d->fp32);
      } else {
        std::memcpy(&value, &memory_.at(d->dram_addr - dram_base_ + std::uint64_t{i} * d->pitch + j * bytes), bytes);
      }
      t.data.push_back(value);
    }
}

void RacingNpu::write(const Transfer &t) {
  const auto *d = std::get_if<isa::DmaCommand>(&t.command.op);
  if (d == nullptr) return;
  const std::size_t bytes = d->fp32 ? 4 : 2;
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < d->rows; ++i)
    for (std::uint32_t j = 0; j < d->cols; ++j) {
      const std::uint32_t value = t.data[next++];
      if (d->store) {
        std::memcpy(&memory_.at(d->dram_addr - dram_base_ + std::uint64_t{i} * d->pitch + j * bytes), &value, bytes);
      } else {
        const std::size_t w = word(d->spm, i, j, d->fp32);
        spm_[w] = static_cast<std::uint16_t>(value);
        if (d->fp32) spm_[w + npu_.lanes()] = static_cast<std::uint16_t>(value >> 16U);
      }
    }
}

// --- vector units -----------------------------------------------------------------------------------

std::size_t RacingNpu::word(const isa::VectorTile &t, std::uint32_t strip, std::uint32_t step,
                            std::uint32_t lane) const {
  const std::uint32_t e = t.same_element ? 0 : strip * npu_.lanes() + lane, k = t.same_step ? 0 : step;
  // From column 0 of the panels on it is a tile as any other.
  return word(t.spm, t.by_col ? e : k, t.col + (t.by_col ? k : e), t.fp32);
}

void RacingNpu::put(std::size_t word, std::uint16_t value, Unit *late) {
  if (late != nullptr)
    late->writes.emplace_back(word, value);
  else
    spm_[word] = value;
}

void RacingNpu::run_vector(Unit &unit, const isa::VectorCommand &run) {
  Unit *const late = dice_.chance(0.5) ? &unit : nullptr;
  vector::Execution x;
  x.lanes = npu_.lanes();
  x.strips = (run.elements + x.lanes - 1) / x.lanes;
  x.steps = run.steps;
  const auto lanes = [&](std::uint32_t strip) { return std::min(x.lanes, run.elements - strip * x.lanes); };
  x.read = [&](const vector::LinePlace &at, std::uint32_t *line) {
    const isa::VectorTile &t = unit.state.slot(at.tile);
    for (std::uint32_t l = 0; l < lanes(at.strip); ++l) {
      const std::size_t w = word(t, at.strip, at.step, l);
      line[l] = t.fp32 ? spm_[w] | std::uint32_t{spm_[w + npu_.lanes()]} << 16U : std::uint32_t{spm_[w]} << 16U;
    }
  };
  x.write = [&](const vector::LinePlace &at, const std::uint32_t *line) {
    const isa::VectorTile &t = unit.state.slot(isa::kOperandSlots + at.tile);
    for (std::uint32_t l = 0; l < lanes(at.strip); ++l) {
      const std::size_t w = word(t, at.strip, at.step, l);
      put(w, t.fp32 ? static_cast<std::uint16_t>(line[l]) : bf16_from_fp32(fp32_from_bits(line[l])), late);
      if (t.fp32) put(w + npu_.lanes(), static_cast<std::uint16_t>(line[l] >> 16U), late);
    }
  };
  vector::interpret(isa::vector::decode(unit.state.words(run.first)), x);
}

bool RacingNpu::turn_unit(Unit &unit) {
  if (unit.queue.empty()) return false;
  const isa::Decoded &head = unit.queue.front();
  if (unit.busy) {
    for (const auto &[w, value] : unit.writes)
      spm_[w] = value;
    unit.writes.clear();
    post(head.sync);
    unit.busy = false;
    unit.queue.pop_front();
    return true;
  }
  if (!can_start(head.sync)) return false;
  take(head.sync);
  unit.busy = true;
  if (const auto *program = std::get_if<isa::ProgramCommand>(&head.op)) unit.state.take(*program);
  if (const auto *tiles = std::get_if<isa::TileCommand>(&head.op)) unit.state.take(*tiles);
  if (const auto *run = std::get_if<isa::VectorCommand>(&head.op)) run_vector(unit, *run);
  return true;
}

// --- compute ----------------------------------------------------------------------------------------

bool RacingNpu::may_start(const Core &core) const {
  if (core.busy || core.holds_sum || core.queue.empty() || !can_start(core.queue.front().sync)) return false;
  return core.results.empty() || !std::holds_alternative<isa::AddCommand>(core.queue.front().op);
}

void RacingNpu::start(Core &core) {
  const isa::Decoded &head = core.queue.front();
  take(head.sync);
  if (std::holds_alternative<isa::SyncCommand>(head.op)) {
    core.results.push_back({{}, true, head.sync});
    core.queue.pop_front();
  } else {
    core.busy = true;
    core.block_row = core.block_col = 0;
  }
}

bool RacingNpu::turn_compute(Core &core) {
  if (may_start(core)) {
    start(core);
    return true;
  }
  if (core.busy && (core.results.empty() || dice_.chance(0.7))) {
    const auto &op = core.queue.front().op;
    if (const auto *g = std::get_if<isa::GemmCommand>(&op)) {
      compute_block(core, *g, [&](std::uint32_t i, std::uint32_t j, float c) { return multiply(*g, i, j, c); });
    } else if (const auto *v = std::get_if<isa::ConvCommand>(&op)) {
      compute_block(core, v->product, [&](std::uint32_t i, std::uint32_t j, float c) { return convolve(*v, i, j, c); });
    } else {
      compute_sum(core, std::get<isa::AddCommand>(core.queue.front().op));
      if (dice_.chance(0.5)) write_oldest_result(core);
    }
    return true;
  }
  if (core.results.empty()) return false;
  write_oldest_result(core);
  return true;
}

void RacingNpu::add_result(Result &result, const isa::SpmTile &t, std::uint32_t i, std::uint32_t j, bool bf16,
                           float value) const {
  const std::size_t w = word(t, i, j, !bf16);
  if (bf16) {
    result.writes.emplace_back(w, bf16_from_fp32(value));
  } else {
    result.writes.emplace_back(w, static_cast<std::uint16_t>(bits_of_fp32(value)));
    result.writes.emplace_back(w + npu_.lanes(), static_cast<std::uint16_t>(bits_of_fp32(value) >> 16U));
  }
}

void RacingNpu::end_command(Core &core, Result &result) {
  result.ends_command = true;
  result.sync = core.queue.front().sync;
  core.queue.pop_front();
  core.busy = false;
}

float RacingNpu::multiply(const isa::GemmCommand &g, std::uint32_t i, std::uint32_t j, float c) const {
  for (std::uint32_t s = 0; s < g.k; ++s) {
    const std::uint32_t a = g.a_col ? element(g.a, i, s, false) : element(g.a, s, i, false);
    const std::uint32_t b = g.b_col ? element(g.b, j, s, false) : element(g.b, s, j, false);
    c = mac(static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b), c);
  }
  return c;
}

float RacingNpu::convolve(const isa::ConvCommand &v, std::uint32_t i, std::uint32_t j, float c) const {
  const isa::GemmCommand &g = v.product;
  const isa::ImageWalk &w = v.image;
  // Element (line, channel) of the image as the tap has it.
  const auto image = [&](std::uint32_t line, std::uint32_t channel, std::uint32_t row, std::uint32_t col) {
    const std::int64_t y = image_row(w, (w.grid_y + line / w.grid_w) % w.grid_h, row);
    const std::int64_t x = image_col(w, line % w.grid_w, col);
    if (y < 0 || y >= w.img_h || x < 0 || x >= w.img_w) return std::uint32_t{0};
    isa::SpmTile t = g.a;
    const std::int64_t lanes = npu_.lanes();
    t.row = static_cast<std::uint32_t>(t.row + tap_shift(w, row, col));
    t.rot = static_cast<isa::Lane>(((t.rot + tap_turn(w, row, col)) % lanes + lanes) % lanes);
    return element(t, line, channel, false);
  };
  for (std::uint32_t tap = 0; tap < w.taps(); ++tap)
    for (std::uint32_t s = 0; s < g.k; ++s) {
      if (v.weights && (s % w.grid_w >= w.out_w || (w.grid_y + s / w.grid_w) % w.grid_h >= w.out_h)) continue;
      const std::uint32_t a = v.weights ? image(s, i, 0, 0) : image(i, s, tap / w.taps_x, tap % w.taps_x);
      const std::uint32_t row = tap * w.b_tap;
      const std::uint32_t b = g.b_col ? element(g.b, row + j, s, false) : element(g.b, row + s, j, false);
      c = mac(static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b), c);
    }
  return c;
}

template <typename Chain> void RacingNpu::compute_block(Core &core, const isa::GemmCommand &g, Chain chain) {
  const auto on_their_way = [&] {
    return std::count_if(core.results.begin(), core.results.end(), [](const Result &r) { return !r.writes.empty(); });
  };
  while (on_their_way() > kResultsOnTheirWay)
    write_oldest_result(core);

  Result result;
  for (std::uint32_t i = core.block_row; i < std::min(g.m, core.block_row + npu_.rows); ++i)
    for (std::uint32_t j = core.block_col; j < std::min(g.n, core.block_col + npu_.cols); ++j) {
      const float c = g.acc ? fp32_from_bits(element(g.cin, i, j, true)) : 0.0F;
      add_result(result, g.cout, i, j, g.out_bf16, chain(i, j, c));
    }
  core.block_col += npu_.cols;
  if (core.block_col >= g.n) {
    core.block_col = 0;
    core.block_row += npu_.rows;
  }
  if (core.block_row >= g.m) end_command(core, result);
  core.results.push_back(std::move(result));
}

void RacingNpu::compute_sum(Core &core, const isa::AddCommand &a) {
  Result result;
  for (std::uint32_t i = 0; i < a.m; ++i)
    for (std::uint32_t j = 0; j < a.n; ++j)
      add_result(result, a.cout, i, j, a.out_bf16,
                 add_fp32(fp32_from_bits(element(a.a, i, j, true)), fp32_from_bits(element(a.cin, i, j, true))));
  end_command(core, result);
  core.holds_sum = true;
  core.results.push_back(std::move(result));
}

void RacingNpu::write_oldest_result(Core &core) {
  const Result &r = core.results.front();
  for (const auto &[w, value] : r.writes)
    spm_[w] = value;
  if (r.ends_command) post(r.sync);
  core.results.pop_front();
  core.holds_sum = false;
}

} // namespace gradweave::test
