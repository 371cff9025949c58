// What the tables of cosim and simulate have in common: cycles against bounds, what tuning found, and how they end.
#pragma once

#include "app/report/energy/accelergy.hpp"
#include "runtime/run/run.hpp"

#include <cstdio>
#include <string>
#include <vector>

namespace gradweave::runtime {

/// `bound` as a share of the cycles; "-" if there is no bound or the backend has no time.
std::string bound_share(std::uint64_t bound, std::uint64_t cycles);

/// Bounds of all layers, and what tuning did if it was asked for.
void print_plans(std::FILE *out, const RunOptions &options, const RunResult &run);

/// Energies of the layers together, by schedule.
void print_energies(std::FILE *out, const RunOptions &options, const RunResult &run);

/// Counts of all layers, of the first schedule.
void commit_accelergy(report::AccelergyFiles &files, const RunOptions &options, const RunResult &run);

/// Which of the layers' convolutions read images where they lie, and why the others go by im2col; nothing where all
/// are products.
void print_convolutions(std::FILE *out, const std::vector<compiler::Layer> &layers);

/// Products that are no layers, with their share: "8 MatMul, 4.7 % of the multiply-adds of a forward pass"; empty:
/// there are none.
std::string not_counted(const compiler::Network &network);
/// The same, as a line.
void print_not_counted(std::FILE *out, const compiler::Network &network);

/// Files written, the command that repeats the run, failures, the verdict.
void print_end(std::FILE *out, const RunOptions &options, const RunResult &run);

} // namespace gradweave::runtime
