// The sections of a run's page. Each takes the layers of one schedule, as the record has them.
#pragma once

#include "app/page/document.hpp"
#include "app/report/page/layer_data.hpp"

namespace gradweave::report {

/// Multiply-adds a cycle over multiply-adds a byte, below what array and memory allow.
void add_roofline(page::Document &page, const std::vector<const Json *> &layers, const NpuFacts &npu);
/// What array, load and store engine did with the cycles of each layer, by their counters.
void add_engine_time(page::Document &page, const std::vector<const Json *> &layers, const NpuFacts &npu);
/// Bytes moved by tensor, beside each tensor moved once.
void add_traffic(page::Document &page, const std::vector<const Json *> &layers);
/// Energy by part, of each layer; of a schedule's `totals` without energies nothing.
void add_energy(page::Document &page, const Json &totals, const std::vector<const Json *> &layers);
/// From the lowest bound up to the run.
void add_ladder(page::Document &page, const std::vector<const Json *> &layers);
/// When engines worked, and the scratchpad's occupancy, to zoom into; of layers that have a sketch.
void add_timeline(page::Document &page, const std::vector<const Json *> &layers, const NpuFacts &npu);

} // namespace gradweave::report
