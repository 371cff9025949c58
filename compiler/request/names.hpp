// Schedules, passes, partitions and tensors, and their names for users and reports.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::compiler {

/// A schedule, by the name of its scheduler (compiler/schedule/registry.hpp). The text must live as long as the
/// program. Those that are named here are orders of the backward pass (igo_micro23, sections 4.2 and 4.3), and choices
/// among them.
class Schedule {
public:
  constexpr Schedule() : Schedule("sequential") {}
  constexpr explicit Schedule(std::string_view name) : name_(name) {}
  constexpr std::string_view name() const { return name_; }

  bool operator==(Schedule o) const { return name_ == o.name_; }
  bool operator!=(Schedule o) const { return name_ != o.name_; }
  bool operator<(Schedule o) const { return name_ < o.name_; }

  static const Schedule kSequential, kInterleave, kDxMajor, kDwMajor;
  static const Schedule kDwFirst;   ///< `sequential` the other way round, which is none of the paper's
  static const Schedule kRearrange; ///< Algorithm 1 of the paper
  static const Schedule kIdeal;     ///< the fastest of the orders that share dY
  static const Schedule kSearch;    ///< the fastest of all orders and partitions

private:
  std::string_view name_;
};
inline constexpr Schedule Schedule::kSequential{"sequential"}, Schedule::kInterleave{"interleave"},
    Schedule::kDxMajor{"dx_major"}, Schedule::kDwMajor{"dw_major"}, Schedule::kDwFirst{"dw_first"},
    Schedule::kRearrange{"rearrange"}, Schedule::kIdeal{"ideal"}, Schedule::kSearch{"search"};
inline std::string_view to_string(Schedule s) { return s.name(); }
std::ostream &operator<<(std::ostream &out, Schedule s);
/// Those of the paper: all above but `dw_first` and `search`.
const std::vector<Schedule> &all_schedules();

/// How a layer's backward pass is cut into parts (igo_micro23, section 5, figure 11), each a smaller layer: along M, N
/// or K. Parts follow one another on one core, or run beside each other on several.
enum class Partition { kNone, kWeightSharing, kDySharing, kIfmapSharing };
/// Throws std::invalid_argument listing the names that there are.
Partition parse_partition(std::string_view name);
std::string_view to_string(Partition p);
/// "none, weight_sharing, ...": what parse_partition() accepts; likewise the others below.
std::string partition_names();
const std::vector<Partition> &all_partitions();

/// How cores that share a reduction bring their sums together: a core continues the sum of the core before, which
/// gives the bits of one core; or each sums from zero, and ADD commands add the sums under a reduction plan.
enum class Reduction { kChain, kAdd };
/// Throws std::invalid_argument listing the names that there are.
Reduction parse_reduction(std::string_view name);
std::string_view to_string(Reduction r);
std::string reduction_names();

/// How cores share a layer that is cut: each walks parts of its own, or they take the tiles along the dimension by
/// turns, so that at any time they are at neighbours (figure 3 of flexer_cgo23).
enum class Sharing { kParts, kTurns };
/// Throws std::invalid_argument listing the names that there are.
Sharing parse_sharing(std::string_view name);
std::string_view to_string(Sharing s);
std::string sharing_names();

/// What a search minimises: cycles, energy by the NPU's table [energy], or the product of both.
enum class Objective { kCycles, kEnergy, kEdp };
/// Throws std::invalid_argument listing the names that there are.
Objective parse_objective(std::string_view name);
std::string_view to_string(Objective o);
std::string objective_names();

enum class Pass { kForward, kBackward, kBoth };
Pass parse_pass(std::string_view name);
std::string_view to_string(Pass p);
std::string pass_names();

enum class Tensor : std::uint8_t { kX, kW, kDY, kY, kDX, kDW };
inline constexpr std::size_t kTensorCount = 6;
std::string_view to_string(Tensor t); ///< "X", "W", "dY", "Y", "dX", "dW"

} // namespace gradweave::compiler
