#include "app/validate/corpus/dram_regions.hpp"

#include "base/random/random_data.hpp"

#include <algorithm>

namespace gradweave::corpus {

namespace {

constexpr std::uint64_t kPage = 4096; // bursts end at its multiples

constexpr std::uint64_t bytes_of(bool fp32) { return fp32 ? 4 : 2; }
constexpr std::uint64_t whole_pages(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

} // namespace

DramRegions::DramRegions(std::uint64_t base, std::uint64_t row_words, Dice &dice) : base_(base), dice_(dice) {
  regions_[0].bytes = whole_pages(2 * row_words) + 2 * kPage;
  regions_[1] = {regions_[0].bytes, regions_[0].bytes};
  end_ = regions_[1].offset + regions_[1].bytes;
}

void DramRegions::place(isa::DmaCommand &d) {
  const std::uint64_t element = bytes_of(d.fp32);
  const Region &region = regions_[d.fp32 ? 1 : 0];
  d.cols = static_cast<std::uint32_t>(std::min<std::uint64_t>(d.cols, region.bytes / element));
  const std::uint64_t row = d.cols * element;
  d.rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(d.rows, region.bytes / row));
  std::uint64_t pitch = row;
  switch (dice_.below(4)) {
  case 0:
    pitch = row + dice_.below(40) * element;
    break;
  case 1:
    pitch = row + dice_.below(3000) * element;
    break;
  case 2:
    pitch = d.store ? row : dice_.below(d.cols + 1) * element;
    break; // rows that overlap may be read
  default:
    break;
  }
  if ((d.rows - 1) * pitch + row > region.bytes) pitch = row;
  const std::uint64_t room = region.bytes - ((d.rows - 1) * pitch + row);
  std::uint64_t at = dice_.below(room / element + 1) * element;
  if (dice_.chance(0.3)) { // a row that starts just before the end of a page
    const std::uint64_t before = kPage - (dice_.below(std::min<std::uint64_t>(d.cols, 64)) + 1) * element;
    const std::uint64_t snapped = at / kPage * kPage + before;
    if (snapped <= room) at = snapped;
  }
  d.dram_addr = base_ + region.offset + at;
  d.pitch = static_cast<std::uint32_t>(pitch);
  if (d.rows == 1 && dice_.chance(0.5)) d.pitch = static_cast<std::uint32_t>(dice_.bits()); // of no effect
}

void DramRegions::append(isa::DmaCommand &d) {
  d.pitch = static_cast<std::uint32_t>((d.cols + dice_.below(9)) * bytes_of(d.fp32));
  end_ = (end_ + 3) / 4 * 4 + dice_.below(8) * 4;
  d.dram_addr = base_ + end_;
  end_ += std::uint64_t{d.pitch} * d.rows;
}

std::vector<std::uint8_t> DramRegions::image() {
  std::vector<std::uint8_t> image(whole_pages(end_));
  const DataMix mix = random_mix(dice_);
  fill_bf16(image.data() + regions_[0].offset, regions_[0].bytes / 2, mix, dice_);
  fill_fp32(image.data() + regions_[1].offset, regions_[1].bytes / 4, mix, dice_);
  for (std::uint64_t i = regions_[1].offset + regions_[1].bytes; i < image.size(); ++i)
    image[i] = static_cast<std::uint8_t>(dice_.bits());
  return image;
}

} // namespace gradweave::corpus
