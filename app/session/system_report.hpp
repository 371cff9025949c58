// What the devices of a system did in a step, for people and for programs.
#pragma once

#include "train/system/system_executor.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdio>

namespace gradweave::cli {

/// A line a device: the shares of the step's time in which its NPU ran streams, its memory took part in transfers, and
/// neither (the bubble); those in which its link and its flash's channels were held.
void print_system(const runtime::train::SystemExecutor &executor, std::FILE *out);

/// The same, in ps, with the times of all commands of the plan.
nlohmann::ordered_json system_json(const runtime::train::SystemExecutor &executor);

} // namespace gradweave::cli
