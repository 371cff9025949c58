// What igo_micro23 says about its baseline, and what it leaves open: the latter as named choices.
#pragma once

#include "compiler/lower/order.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gradweave::compiler::paper {

/// Sides of a tile. A multiple counts array sides: ROWS along M, COLS along N, the larger of them along K.
enum class TileRule {
  kArray,   ///< once the array ("array-sized tiles")
  kArray2,  ///< twice
  kArray4,  ///< four times
  kLargest, ///< the largest multiple at which the tiles of a step (of dX and dW together if fused) fill at most half of
            ///< the scratchpad
};

/// Which operand tiles are still there when a product wants them again.
enum class Replacement {
  kNone,   ///< the last step's operands only: all else streams
  kHalves, ///< a half is filled with the tiles of as many products as fit, and emptied when the other half is full
  kFifo,   ///< those loaded last
  kLru,    ///< those used last
  kBelady, ///< those needed soonest: the best that any policy can do
};

/// Share of the operands' space that FIFO, LRU and Belady keep tiles in; the rest is for tiles on their way in.
enum class Reuse { kHalf, kWhole };

/// Loops of the two results that the traditional orders leave open. dX always has (m, k, n): dY by rows.
enum class DwOrder {
  kRows,    ///< (k, n, m): dW row by row, like any product; dY by columns, as a whole for each row of tiles of dW
  kColumns, ///< (n, k, m): dW column by column, a column of dY serves all of them
};

/// What dx_major (dw_major) means beyond "dY by rows (columns) for both".
enum class MajorOrder {
  kTile,   ///< (m, n, k) and (n, m, k): a dY tile is used up before the next one comes
  kResult, ///< (m, k, n) and (n, k, m): the named result as in the traditional order, its tile summed up in one go
};

/// How much of the scratchpad partial sums may take.
enum class PartialShare {
  kAll,  ///< as much as they can use; operands keep what double buffering of a step takes
  kHalf, ///< half
};

/// Which partial sums stay when their space is full.
enum class PartialRule {
  kSoonest,    ///< those needed soonest ("to the extent possible")
  kAsOperands, ///< by the operands' replacement (kNone and kHalves: LRU)
};

/// A baseline. The defaults are argued in docs/paper-baseline.md.
struct Policy {
  TileRule tile = TileRule::kArray;
  Replacement replacement = Replacement::kLru;
  Reuse reuse = Reuse::kHalf;
  DwOrder dw_order = DwOrder::kRows;
  MajorOrder major = MajorOrder::kTile;
  PartialShare partial_share = PartialShare::kAll;
  PartialRule partial_rule = PartialRule::kSoonest;

  bool operator==(const Policy &o) const {
    return tile == o.tile && replacement == o.replacement && reuse == o.reuse && dw_order == o.dw_order &&
           major == o.major && partial_share == o.partial_share && partial_rule == o.partial_rule;
  }
};

/// One word for each choice, joined by '/': "array/lru/half/rows/tile/all/soonest".
std::string to_string(const Policy &policy);
/// Reverses to_string(). A word that is left out keeps its default, so "lru" or "array2/belady" will do. Throws
/// std::invalid_argument naming the word and those that exist.
Policy parse_policy(std::string_view text);
/// "array, array2, ...": the words of all choices, in the order of the choices.
std::string policy_words();

/// All combinations that differ, the default first.
const std::vector<Policy> &all_policies();
/// The default, and policies that differ from it in one choice.
const std::vector<Policy> &policies_near_default();

} // namespace gradweave::compiler::paper
