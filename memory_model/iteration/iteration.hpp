// A training iteration as the memory sees it: steps one after the other, and the tensors that they read and write.
// C.-Y. Tsai, "A Performance Analytical Model for DNN Training with Focus on Memory Subsystem", 2021, chapters 3 and 4.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace gradweave::memory_model {

inline constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

struct Tensor {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t row_bytes = 0; ///< of a row of the feature map, the part that a step works on at a time
  bool in_memory = false;      ///< lies in memory when the iteration begins: inputs, parameters, states
  bool to_memory = false;      ///< has to lie there when it ends: gradients of parameters, next states, the loss
  bool weight = false;         ///< a parameter or its gradient: a step has all of it at once, and rows of all others
};

/// A tensor that a step touches; what is read and written is added to, or changed in place.
struct Access {
  std::uint32_t tensor = 0;
  bool reads = false, writes = false;
  std::uint32_t rows = 1;     ///< that the step works on at a time: taps of a convolution's window
  std::uint32_t products = 0; ///< of the step that read it: a gradient is read for that of the input and of the weights
};

/// A layer's way forward, or its way back, which gives the gradients of all that it reads.
struct Step {
  std::string name;  ///< of the layer's op
  std::string layer; ///< its operator: "Conv", "Relu"; "DepthwiseConv" for convolutions in groups
  bool backward = false;
  bool product = false;         ///< of type I: each result is of many elements; else of type II, point-wise
  double operations = 0;        ///< a multiply-add is one
  std::vector<Access> accesses; ///< each tensor once
};

struct Iteration {
  std::string name;
  std::uint32_t element_bytes = 4; ///< of a real number
  std::vector<Tensor> tensors;
  std::vector<Step> steps;

  double operations() const;
};

/// When tensors are used again, and what steps need. Accesses are numbered through, step by step.
struct Uses {
  explicit Uses(const Iteration &iteration);

  std::uint32_t accesses() const { return first.back(); }

  std::vector<std::uint32_t> first; ///< of each step, its first access; one more at the end
  std::vector<std::uint32_t> step;  ///< of each access
  std::vector<Access> what;         ///< of each access
  std::vector<std::uint32_t> next;  ///< of each access the next one of its tensor; kNever: none
  std::vector<std::uint32_t> previous;
  std::vector<std::uint64_t> window;    ///< of each step: working_window()
  std::vector<std::uint64_t> footprint; ///< of each step: footprint()

  std::uint64_t largest_window() const { return *std::max_element(window.begin(), window.end()); }
};

/// Bytes of all tensors of a step.
std::uint64_t footprint(const Iteration &iteration, const Step &step);
/// Operations for each byte of a step's tensors (the thesis's equation 3.4).
double reuse_frequency(const Iteration &iteration, const Step &step);
/// What a step needs in the cache to read and write each of its tensors once: a few rows of each, and all of its
/// weights. A way back has both the weights and their gradient, or one after the other; then what both of its products
/// read stays as a whole. The smaller one counts.
std::uint64_t working_window(const Iteration &iteration, const Step &step);

/// Throws std::logic_error that says what is wrong: a tensor that is read before it is written and not in memory at
/// first, or touched twice by a step, or by none; a step without tensors; a tensor without bytes.
void check(const Iteration &iteration);

} // namespace gradweave::memory_model
