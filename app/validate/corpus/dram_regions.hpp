// The device memory of a random stream: what is loaded from, and where results go.
#pragma once

#include "base/random/dice.hpp"
#include "isa/command.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace gradweave::corpus {

/// A region of bf16 elements and one of fp32, which are loaded and partly stored to, and behind them a place for each
/// tile that is stored whole. Bytes; addresses are from `base` on.
class DramRegions {
public:
  /// `row_words`: the most words of the scratchpad in a row that is loaded. The dice must outlive this.
  DramRegions(std::uint64_t base, std::uint64_t row_words, Dice &dice);

  /// Address and pitch of rows x cols elements somewhere in the region of the type. Results of GEMMs can be larger than
  /// the region, which is as large as what is loaded: of those, the part that fits is moved.
  void place(isa::DmaCommand &d);
  /// Address and pitch of a tile that is stored whole, behind all that there is.
  void append(isa::DmaCommand &d);

  /// All of it, to the end of a page, with random elements of the regions' types.
  std::vector<std::uint8_t> image();

private:
  struct Region {
    std::uint64_t offset = 0, bytes = 0;
  };

  std::uint64_t base_;
  Dice &dice_;
  std::array<Region, 2> regions_; ///< bf16 and fp32 elements
  std::uint64_t end_ = 0;         ///< of the DRAM in use
};

} // namespace gradweave::corpus
