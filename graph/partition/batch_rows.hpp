// Which rows of a batch the tensors of a step have, while its ops are looked at one after another.
#pragma once

#include "graph/partition/partition.hpp"
#include "graph/partition/row_wise.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace gradweave::graph {

/// A batch of parts, one behind another, with shares of the images, and of as many micro-batches each.
class BatchRows {
public:
  /// Rows in the order in which a tensor has them, along its first dimension: unit p m + k are those of micro-batch k
  /// of part p, of m, as many as the part's share says. None: the tensor has no rows of a batch.
  using Units = std::vector<std::uint32_t>;

  /// The step's inputs have all rows. Throws GraphError if units do not divide one.
  BatchRows(const Graph &graph, const MicroBatch &inputs, const Partition &partition, std::uint32_t micro_batches);

  const Units &of(TensorId id) const { return units_[id]; }
  Units of_micro_batch(TensorId id, std::uint32_t k) const;
  /// How many rows of such a batch units are, beside one another.
  std::uint32_t shares(const Units &units) const;
  /// Whether the rows are of one micro-batch only.
  bool one_micro_batch(TensorId id) const { return one_micro_batch(units_[id]); }
  /// Whether its micro-batches are there by themselves.
  bool in_pieces(TensorId id) const { return in_pieces_[id]; }
  /// What an op computed; rows that do not fit the shape are none.
  void set(TensorId id, const Units &units, bool in_pieces);

  /// Whether the op is one of that name, Split or Concat, along the first dimension.
  static bool along_rows(const Op &op, std::string_view name);
  /// Whether an op only tells where rows are, as such do; notes it of its results.
  bool view(OpId op);
  /// The inputs of an op that can work on one micro-batch after another; nothing of all other ops.
  std::optional<std::vector<RowInput>> sliced(OpId op) const;
  /// The rows of an op that works on those of one micro-batch alone; else none.
  Units of_one_micro_batch(OpId op) const;

private:
  bool view_of_concat(const Op &op);
  bool view_of_split(const Op &op);
  bool even(TensorId id, const Units &units) const;
  bool one_micro_batch(const Units &units) const;

  const Graph &graph_;
  const Partition &partition_;
  std::uint32_t micro_;
  std::vector<Units> units_;    ///< of each tensor
  std::vector<bool> in_pieces_; ///< of each tensor
};

} // namespace gradweave::graph
