// What a sweep tries: fields with several values, and how they are combined.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::sweep {

/// A field of a point as users write it, "model" or "npu.rows", and its value's text.
struct Field {
  std::string name, value;
};
/// Fields in the order of their axes.
using Point = std::vector<Field>;

/// Fields that change together: most often one. Each value is a text for each of them.
struct Axis {
  std::vector<std::string> fields;
  std::vector<std::vector<std::string>> values;
};

enum class Walk {
  kGrid,  ///< all combinations, the last axis changing fastest
  kList,  ///< the first values of all axes, then the second ones, ...; axes of one value stand for all
  kRandom ///< some of the grid
};

struct Study {
  std::string title;
  Walk walk = Walk::kGrid;
  std::uint64_t count = 0; ///< points of a random one
  std::uint64_t seed = 1;  ///< by which they are drawn
  std::vector<Axis> axes;  ///< no field is in two
};

inline constexpr std::uint64_t kMostPoints = 1'000'000;

/// The axis that "npu.rows" or "npu.rows,npu.cols" is with these values: of one field a text each; of several, texts
/// with ':' between them, or one for all. A value "16..64+16" is 16, 32, 48, 64; "16..64*2" is 16, 32, 64; "1..3" steps
/// by 1. Throws std::invalid_argument that begins with `source`.
Axis make_axis(const std::string &fields, const std::vector<std::string> &values, const std::string &source);

/// Puts an axis behind the others, or in the place of that of the same fields. Throws std::invalid_argument if a field
/// is in another one.
void set_axis(Study &study, Axis axis, const std::string &source);

/// The points, in the study's order. A random study draws without putting back, the same for a seed everywhere, and has
/// the grid's order. Throws std::invalid_argument for lists of different lengths and for more than kMostPoints.
std::vector<Point> points_of(const Study &study);

/// "model=mlp npu.rows=16"
std::string to_text(const Point &point);

/// Reads a study (docs/sweeps.md). Fields of `paths` that are paths are seen from its directory. Throws ConfigError
/// naming file, line, key, value and remedy.
Study load_study(const std::filesystem::path &file, const std::vector<std::string> &paths);
Study parse_study(std::string_view text, const std::filesystem::path &file, const std::vector<std::string> &paths);

/// The study as such a file. What it reads is the same study.
std::string to_toml(const Study &study);

} // namespace gradweave::sweep
