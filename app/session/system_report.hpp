// What the devices of a system did in a step, for people and for programs.
#pragma once

#include "train/system/partition_search.hpp"
#include "train/system/system_executor.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdio>

namespace gradweave::cli {

/// A line a device: the shares of the step's time in which its NPU ran streams, its memory took part in transfers, and
/// neither (the bubble); those in which its link and its flash's channels were held.
void print_system(const runtime::train::SystemStep &step, std::FILE *out);

/// The same, in ps, with the times of all commands of the plan. By the timing model, which a run on the RTL is compared
/// with.
nlohmann::ordered_json system_json(const runtime::train::SystemStep &step);

/// The partitions that a search tells of, the one that it found last: times of a step, and how much
/// less they are than that of the fastest device alone.
void print_search(const runtime::train::PartitionSearch &search, const SystemConfig &system, std::FILE *out);
nlohmann::ordered_json search_json(const runtime::train::PartitionSearch &search, const SystemConfig &system);

} // namespace gradweave::cli
