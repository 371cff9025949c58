// Single random commands: what the episodes of a timing stream consist of.
#pragma once

#include "app/validate/corpus/parts/tokens.hpp"
#include "base/random/dice.hpp"
#include "isa/command.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace gradweave::corpus {

/// Places of engines (isa::engine_place()): the first core; cores are behind LOAD and STORE, vector units behind them.
inline constexpr std::size_t kStore = 1, kCompute = 2;

/// Draws commands that are legal for the NPU and appends them to a stream. Sizes are wishes: tiles that do not fit the
/// scratchpad are drawn smaller.
class TimingCommands {
public:
  /// Commands move data within [0, dram_bytes). All that is drawn depends on the seed.
  TimingCommands(const Machine &config, std::uint64_t dram_bytes, std::uint64_t seed);

protected:
  // Braces, unlike arguments, are evaluated in order: a seed means the same stream with every compiler.
  struct Transfer {
    bool store;
    std::uint32_t rows, cols;
    std::uint64_t pitch_room; ///< bytes from row to row, at most about
  };
  struct Product {
    std::uint32_t m, n, k;
    std::optional<std::uint32_t> bank; ///< for all tiles
  };
  struct Sum {
    std::uint32_t m, n;
    std::optional<std::uint32_t> bank; ///< for all tiles
  };

  /// Appends the operation, with waits and posts by chance, and the wait of await(), which it ends.
  void emit(const decltype(isa::Decoded::op) &op);
  void sync(std::size_t engine);
  void dma(const Transfer &t);
  /// A GEMM, or, in streams with convolutions, now and then one of those.
  void gemm(std::size_t engine, const Product &p);
  void add(std::size_t engine, const Sum &sum);

  /// Lets the last command post for the engine; the semaphore.
  std::uint8_t post_for(std::size_t engine) { return tokens_.post_for(out_.back().sync, engine); }
  /// The next command waits for this semaphore, which is its engine's.
  void await(std::optional<std::uint8_t> semaphore) { awaited_ = semaphore; }

  /// Rows of which the engine can fetch so many, a burst each, in the time of a command.
  std::uint32_t most_rows() const;
  std::size_t any_core() { return npu_.cores == 1 ? kCompute : kCompute + dice_.below(npu_.cores); }
  std::optional<std::uint32_t> any_bank() { return dice_.between(0, npu_.spm_banks - 1); }
  /// Around multiples of `unit`, up to three.
  std::uint32_t around(std::uint32_t unit);

  const Machine &npu_;
  std::uint32_t engines_;
  Dice dice_;
  Tokens tokens_;
  double sync_chance_ = 0; ///< of each wait and post
  std::vector<isa::Decoded> out_;

private:
  std::uint32_t spm_extent(std::uint32_t rows, std::uint32_t cols, bool fp32, std::uint32_t pstride) const;
  /// Halves the larger size until the tile fits the scratchpad.
  void shrink(std::uint32_t &rows, std::uint32_t &cols, bool fp32) const;
  /// Anywhere, or, if `bank` is given and has room, in that macro-bank.
  isa::SpmTile place(std::uint32_t rows, std::uint32_t cols, bool fp32, std::optional<std::uint32_t> bank = {});
  /// The product's shape, its reduction over the taps of some image that fits.
  void convolution(std::size_t engine, const Product &p);

  std::uint64_t dram_bytes_;
  bool convs_;                          ///< some streams have convolutions
  std::optional<std::uint8_t> awaited_; ///< by the next command
};

} // namespace gradweave::corpus
