// What the points of a sweep are, and what they give.
#pragma once

#include "app/sweep/run.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace gradweave::cli {

/// The fields that are options of a run, as they are called there without dashes: "model", "batch", ...; those of
/// machines and networks, as "npu.rows", come beside them.
const std::vector<std::string> &option_fields();
/// Those of them whose values may be paths.
const std::vector<std::string> &path_fields();
/// The help of the option.
std::string help_of_field(const std::string &name);
/// What a field's value is if the sweep does not say; empty: what the network or the compiler says.
std::string usual_value(const std::string &name);

/// The points of a study with their keys, and the work that there is to do for them.
struct Points {
  std::vector<sweep::KeyedPoint> points;
  std::vector<sweep::Work> work;  ///< one for each key
  std::vector<std::string> notes; ///< what of networks no point counts
};

/// Reads each network and machine. A point that cannot be made, as on an NPU that there is not, becomes work that says
/// so; but if no point with a value of a field can be made, this is a mistake: throws ConfigError or
/// std::invalid_argument, as the command would that runs such a point.
Points make_points(const sweep::Study &study);

} // namespace gradweave::cli
