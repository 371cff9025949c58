#include "sw_models/timing/engines/gemm_engine.hpp"

namespace gradweave::timing {
namespace {

constexpr std::uint32_t kBf16Bytes = 2, kFp32Bytes = 4;

/// Lines of a WGRAD's walk that are pixels of the result: grid row by grid row.
std::uint32_t working_lines(const isa::ConvCommand &wgrad) {
  const isa::ImageWalk &image = wgrad.image;
  std::uint32_t working = 0, y = image.grid_y;
  for (std::uint32_t left = wgrad.product.k; left != 0; y = y + 1 == image.grid_h ? 0 : y + 1) {
    const std::uint32_t lines = std::min(left, image.grid_w);
    if (y < image.out_h) working += std::min(lines, image.out_w);
    left -= lines;
  }
  return working;
}

} // namespace

GemmEngine::GemmEngine(const NpuConfig &npu, std::uint64_t limit, ProgressLog &progress)
    : rows_(npu.rows), cols_(npu.cols), lanes_(npu.lanes()), banks_(npu), limit_(limit),
      drain_(latency::pass_to_written(npu.rows, npu.cols)), progress_(progress) {}

/// First cycle in which the first column, behind the block's swap mark, can shift.
std::uint64_t GemmEngine::swapped(const Block &block) const {
  return block.feed.first + latency::kReadToStep + latency::swap_to_swapped(rows_);
}

void GemmEngine::read_initial(const Block &next, std::uint64_t first) {
  shadow_.initialised = true;
  shadow_.since = first + rows_;
  if (!current_.real() || first > current_.feed.last) return;
  const GemmBanks &mine = current_.gemm->banks;
  if (!next.gemm->banks.c.overlaps(mine.a) && !next.gemm->banks.c.overlaps(mine.b)) return;
  reads_ = {first, &next.gemm->command, next.place};
  current_.feed = banks_.feed(current_.gemm->command, current_.gemm->image, current_.place, current_.start, reads_);
}

std::uint64_t GemmEngine::swap(const Block *next, std::uint64_t visible) {
  swap_pending_ = false;
  const std::uint64_t passed = swapped(current_);
  const auto wanted = [&](std::uint64_t cycle) { return next && next->gemm->command.acc && visible <= cycle; };
  if (!drains_ && !wanted(passed)) {
    shadow_.initialised = false;
    shadow_.since = passed + latency::kWaveToZero;
    return kNever;
  }
  const std::uint64_t pass = std::max(passed, shadow_.written);
  const std::uint64_t first_shift = pass + latency::kPassToShift;
  shadow_.initialised = false;
  shadow_.since = first_shift + rows_;
  if (wanted(pass)) read_initial(*next, first_shift);
  if (!drains_) return kNever;
  shadow_.written = pass + drain_;
  const std::uint64_t done = shadow_.written + latency::kWrittenToDone;
  if (done <= limit_) ++totals_.blocks;
  progress_.add(current_.start + 1, done);
  return done;
}

/// Counts the current block's line pairs. `next_here`: first cycle in which another block waits behind it.
void GemmEngine::close_feed(std::uint64_t next_here) {
  if (progress_.on()) log_progress();
  if (!current_.real()) return;
  const std::uint64_t start = current_.start, last = current_.feed.last;
  const std::uint64_t waits_from = std::max(start, next_here - (next_here > 0 ? 1 : 0));
  if (last > waits_from) totals_.shadow -= clip(last) - clip(waits_from);
  const Gemm &gemm = *current_.gemm;
  std::uint32_t read = gemm.steps();
  if (last > limit_) banks_.feed(gemm.command, gemm.image, current_.place, start, reads_, limit_, &read);
  totals_.active += read;
  totals_.bank += clip(last) - clip(start) - read;
}

/// Steps of the array: each line pair, and on from the swap mark until it has passed the last cell.
void GemmEngine::log_progress() {
  if (current_.feed.first == 0) return; // there was no block yet
  const std::uint64_t swap = current_.feed.first + latency::kReadToStep;
  progress_.add(swap, current_.feed.last + latency::kReadToStep);
  progress_.add(swap, swap + rows_ + cols_ - 2);
}

void GemmEngine::count(const Gemm &product, std::uint64_t block_rows, std::uint64_t block_cols) {
  const isa::GemmCommand &gemm = product.command;
  const std::uint64_t results = std::uint64_t{gemm.m} * gemm.n, macs = results * product.working_steps;
  const std::uint64_t steps = block_rows * block_cols * product.steps();
  AccessCounts &a = totals_.accesses;
  a.macs += macs;
  a.idle_macs += steps * rows_ * cols_ - macs;
  a.operand_read_bytes += steps * 2 * lanes_ * kBf16Bytes;
  if (gemm.acc) a.sum_read_bytes += gemm.m * block_cols * lanes_ * kFp32Bytes;
  a.result_write_bytes += results * (gemm.out_bf16 ? kBf16Bytes : kFp32Bytes);
}

void GemmEngine::start_null(std::uint64_t cycle) {
  drains_ = current_.real();
  current_.gemm = nullptr;
  current_.start = cycle;
  current_.feed.first = current_.feed.last = cycle + latency::kBlockToRead;
  swap_pending_ = true;
  reads_ = {};
}

void GemmEngine::start_block(const Block &next, std::uint64_t here, std::uint64_t visible) {
  if (swap_pending_) swap(&next, visible);
  if (current_.real() && flush_cycle() < visible) {
    close_feed(here);
    start_null(flush_cycle());
    swap(&next, visible);
  }
  if (next.gemm->command.acc && !shadow_.initialised)
    read_initial(next, std::max({shadow_.since, visible, shadow_.written}) + latency::kPassToShift);
  close_feed(here);

  const std::uint64_t start = std::max({visible, current_.feed.last, shadow_.since});
  drains_ = current_.real();
  current_ = next;
  current_.start = start;
  reads_ = {};
  const Gemm &gemm = *next.gemm;
  const std::uint64_t first = start + latency::kBlockToRead;
  if (gemm.banks.a.overlaps(gemm.banks.b))
    current_.feed = banks_.feed(gemm.command, gemm.image, next.place, start, reads_);
  else
    current_.feed = {first, first + gemm.steps() - 1};
  swap_pending_ = true;
}

/// The cycle in which the current block's GEMM is done if no other follows in time.
std::uint64_t GemmEngine::forecast() const {
  GemmEngine::Shadow shadow = shadow_;
  const std::uint64_t passed = swapped(current_);
  if (drains_) {
    const std::uint64_t pass = std::max(passed, shadow.written);
    shadow.since = pass + latency::kPassToShift + rows_;
    shadow.written = pass + drain_;
  } else {
    shadow.since = passed + latency::kWaveToZero;
  }
  Block null;
  null.start = std::max(current_.feed.last, shadow.since);
  null.feed.first = null.start + latency::kBlockToRead;
  return std::max(swapped(null), shadow.written) + drain_ + latency::kWrittenToDone;
}

void GemmEngine::start_gemm(std::uint64_t cycle, const isa::GemmCommand &command) {
  start_product(cycle, {command, {}, banks_.ranges(command), command.k}, cycle + latency::kAcceptToBlock);
}

/// The lanes of a CONV are counted before its first block can start.
void GemmEngine::start_conv(std::uint64_t cycle, const isa::ConvCommand &conv) {
  const std::uint64_t lanes = conv.weights ? 0 : latency::lanes_counted(rows_);
  if (lanes != 0) progress_.add(cycle + 1, cycle + lanes);
  const std::uint32_t working = conv.weights ? working_lines(conv) : conv.steps();
  start_product(cycle, {conv.product, conv.image, banks_.ranges(conv), working},
                cycle + latency::kAcceptToBlock + lanes);
}

/// Blocks whose reads never meet take the same time wherever they are, and however many rows and columns they have.
bool GemmEngine::blocks_alike(const Gemm &product) const {
  const GemmBanks &banks = product.banks;
  if (limit_ != kNever || progress_.on() || banks.a.overlaps(banks.b)) return false;
  return !product.command.acc || (!banks.c.overlaps(banks.a) && !banks.c.overlaps(banks.b));
}

void GemmEngine::repeat(std::uint64_t blocks, std::uint64_t before, const Totals &counted) {
  const std::uint64_t later = blocks * (current_.start - before);
  for (std::uint64_t *time :
       {&current_.start, &current_.feed.first, &current_.feed.last, &shadow_.since, &shadow_.written})
    *time += later;
  for (const auto total : {&Totals::active, &Totals::bank, &Totals::shadow, &Totals::blocks})
    totals_.*total += blocks * (totals_.*total - counted.*total);
}

void GemmEngine::start_product(std::uint64_t cycle, const Gemm &product, std::uint64_t visible) {
  Gemm &gemm = gemms_[gemm_count_++ % gemms_.size()];
  gemm = product;
  const isa::GemmCommand &command = gemm.command;
  const std::uint32_t block_rows = (command.m + rows_ - 1) / rows_, block_cols = (command.n + cols_ - 1) / cols_;

  count(gemm, block_rows, block_cols);
  totals_.shadow -= clip(cycle); // the first block waits from the next cycle on, the last one until it starts
  std::uint64_t here = cycle + latency::kAcceptToBlock;
  Block next;
  next.gemm = &gemm;
  const std::uint64_t blocks = std::uint64_t{block_rows} * block_cols;
  const bool alike = blocks > 2 && blocks_alike(gemm);
  for (std::uint64_t b = 0; b < blocks; ++b) {
    next.place = {static_cast<std::uint32_t>(b / block_cols), static_cast<std::uint32_t>(b % block_cols)};
    const Pattern pattern_before = pattern();
    const std::uint64_t before = current_.start;
    const Totals counted = totals_;
    start_block(next, here, visible);
    if (visible != 0 && drains_) // the GEMM before ends with this block's pass, whatever follows
      done_[(last_ - 1) % kRing] = std::max(swapped(current_), shadow_.written) + drain_ + latency::kWrittenToDone;
    here = visible = 0;
    if (alike && b > 0 && pattern() == pattern_before) {
      repeat(blocks - 1 - b, before, counted);
      current_.place = {block_rows - 1, block_cols - 1};
      break;
    }
  }
  totals_.shadow += clip(current_.start);
  gemm_ready_ = current_.start + latency::kBlocksToStart;
  done_[last_++ % kRing] = forecast();
}

/// The engine is empty and stays so until the ADD is done.
void GemmEngine::start_add(std::uint64_t cycle, const isa::AddCommand &add) {
  const std::uint64_t chunks = (add.n + cols_ - 1) / cols_;
  const std::uint64_t done = cycle + latency::kAddRow * chunks * add.m + latency::kAddReadToDone;
  done_[last_++ % kRing] = done;
  gemm_ready_ = done + latency::kAddDoneToStart;
  totals_.add += clip(done) - clip(cycle);
  const std::uint64_t elements = std::uint64_t{add.m} * add.n;
  totals_.accesses.adds += elements;
  totals_.accesses.sum_read_bytes += 2 * chunks * add.m * lanes_ * kFp32Bytes;
  totals_.accesses.result_write_bytes += elements * (add.out_bf16 ? kBf16Bytes : kFp32Bytes);
  progress_.add(cycle + 1, done);
}

GemmEngine::Totals GemmEngine::finish() {
  if (swap_pending_) swap(nullptr, kNever);
  if (current_.real()) {
    close_feed(kNever);
    start_null(flush_cycle());
    swap(nullptr, kNever);
  }
  close_feed(kNever);
  return totals_;
}

} // namespace gradweave::timing
