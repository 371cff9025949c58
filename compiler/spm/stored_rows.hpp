// Which action stores the rows of a tensor that pass from products to sections of the vector unit, and back.
#pragma once

#include "compiler/ir/layout.hpp"
#include "compiler/ir/program.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// Follows a program's STOREs and sections. Only tensors that a section reads or stores are followed.
class StoredRows {
public:
  /// An action stores so many elements of a tensor, all in rows [first, end).
  void store(std::size_t binding, std::uint32_t first, std::uint32_t end, std::uint64_t elements, std::size_t action);
  /// From now on the tensor is followed: nothing of it has been stored.
  void follow(std::size_t binding);
  bool follows(std::size_t binding) const { return binding < tensors_.size() && tensors_[binding].followed; }

  /// The action that stores the last of these rows to be stored so far; Action::kLast if all of the tensor is stored,
  /// or nothing of these.
  std::int32_t stored_by(const TensorBinding &tensor, std::size_t binding, std::uint32_t first,
                         std::uint32_t end) const;

  /// Gates of a section begin anew.
  void begin_section() { gates_.clear(); }
  /// Whether the section has to wait for the action, of a tensor, which it has not waited for before. Notes that it
  /// does.
  bool has_to_wait(std::size_t binding, std::int32_t action);

private:
  struct Run {
    std::uint32_t first = 0, end = 0;
    std::int32_t action = Action::kLast;
  };
  struct Stored {
    bool followed = false;
    std::vector<Run> runs;      ///< in the order of their actions
    std::uint64_t elements = 0; ///< of all of them
  };

  struct Gate {
    std::size_t binding = 0;
    std::int32_t action = Action::kLast; ///< the last that was waited for; kLast: all
  };

  std::vector<Stored> tensors_; ///< by binding
  std::vector<Gate> gates_;     ///< of the section under way
};

} // namespace gradweave::compiler
