#include "sw_models/timing/engines/burst_walker.hpp"

namespace gradweave::timing {

BurstSize Granules::in_accesses(std::uint32_t offset, std::uint32_t bytes, std::uint16_t beats) const {
  const auto accesses_to = [&](std::uint32_t end) {
    return static_cast<std::uint16_t>(((end - 1) >> access_shift) - (offset >> access_shift) + 1);
  };
  return {beats, accesses_to(offset + bytes), accesses_to(std::min(offset + bytes, 1U << beat_shift))};
}

void BurstWalker::start(const isa::DmaCommand &d, const Granules &granules) {
  granules_ = granules;
  row_addr_ = addr_ = d.dram_addr;
  pitch_ = d.pitch;
  row_bytes_ = left_ = d.cols * (d.fp32 ? 4U : 2U);
  rows_ = d.rows;
  const std::uint32_t offset = offset_of(addr_);
  alike_ = offset_of(pitch_) == 0 && offset + row_bytes_ <= most_bytes();
  if (alike_) row_ = granules_.size_of(offset, row_bytes_);
  // All rows begin at the same offset in pieces of this size, of which a page has a whole number.
  const std::uint32_t piece = std::min(kPageBytes, d.rows == 1 || pitch_ == 0 ? kPageBytes : pitch_ & (~pitch_ + 1));
  never_cut_ = (static_cast<std::uint32_t>(addr_) & (piece - 1)) + row_bytes_ <= piece;
  whole_ = 0;
}

std::uint32_t BurstWalker::count_whole() const {
  std::uint32_t rows = 0;
  for (std::uint64_t addr = addr_; rows < rows_ && (addr & (kPageBytes - 1)) + row_bytes_ <= kPageBytes; addr += pitch_)
    ++rows;
  return rows;
}

} // namespace gradweave::timing
