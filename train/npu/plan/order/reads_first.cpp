#include "train/npu/plan/order/reads_first.hpp"

#include "compiler/verify/verify_sync.hpp"

#include <algorithm>
#include <variant>

namespace gradweave::runtime::train {
namespace {

constexpr std::uint64_t kUnit = 2; ///< bytes

class Replay {
public:
  Replay(std::uint64_t begin, std::uint64_t end, const NpuConfig &npu)
      : begin_(begin), sync_(npu), read_((end - begin) / kUnit), written_(read_.size()) {}

  bool step(const isa::Command &command) {
    const isa::Decoded decoded = *isa::decode(command);
    if (!sync_.step(decoded).empty()) return false;
    const auto *dma = std::get_if<isa::DmaCommand>(&decoded.op);
    if (dma == nullptr) return true;
    for (std::uint32_t row = 0; row < dma->rows; ++row)
      if (!move(dma->dram_addr + std::uint64_t{row} * dma->pitch, dma->cols * (dma->fp32 ? 4 : 2), dma->store))
        return false;
    return true;
  }

private:
  bool move(std::uint64_t at, std::uint64_t bytes, bool store) {
    const std::uint64_t end = begin_ + kUnit * read_.size();
    const std::uint64_t from = std::max(at, begin_), to = std::min(at + bytes, end);
    for (std::uint64_t unit = from; unit < to; unit += kUnit) {
      const std::uint64_t i = (unit - begin_) / kUnit;
      if (!store && written_[i]) return false;
      if (store && !sync_.complete(static_cast<std::size_t>(isa::Engine::LOAD), read_[i])) return false;
      if (store)
        written_[i] = true;
      else
        read_[i] = sync_.position();
    }
    return true;
  }

  std::uint64_t begin_;
  compiler::SyncReplay sync_;
  std::vector<std::uint32_t> read_; ///< of each unit, the position of its last LOAD; 0: none
  std::vector<bool> written_;
};

} // namespace

bool reads_come_first(const std::vector<isa::Command> &section, std::uint64_t begin, std::uint64_t end,
                      const NpuConfig &npu) {
  Replay replay(begin, end, npu);
  return std::all_of(section.begin(), section.end(), [&](const isa::Command &command) { return replay.step(command); });
}

} // namespace gradweave::runtime::train
