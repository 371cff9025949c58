// What becomes of a sweep's results: tables, and the points that no other one beats.
#pragma once

#include "app/sweep/store.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::sweep {

/// A line for each point in their order: number, fields, outcome, the numbers, problem. Equal for equal results,
/// whoever computed them in which order.
std::string to_csv(const Table &table);
/// The same with the study and what the columns mean.
std::string to_json(const Table &table);

/// The fields that say what is computed, rather than on what machine and how: model, until, layers, batch, pass, net.*.
bool is_workload(std::string_view field);

/// Rows of one workload that have numbers.
struct Group {
  std::string name; ///< "model=mlp batch=4"; what all rows have in common is left out
  std::vector<std::size_t> rows;
};
std::vector<Group> workloads(const Table &table);

/// What a machine costs, as far as it differs among the points, of pes, scratchpad_bytes and bandwidth_gb_s; indices of
/// columns.
std::vector<std::size_t> costs(const Table &table);

/// The columns of these names. Throws std::invalid_argument, listing all there are, if one has no such name or comes
/// twice.
std::vector<std::size_t> columns_of(const std::vector<std::string> &names);
/// What fronts are of if nobody says: time, and what costs() gives.
std::vector<std::size_t> usual_front(const Table &table);

/// Of some rows those to which none is better in one of the columns and as good in all: smaller is better, equal ones
/// stay all. By rising values of the first column.
std::vector<std::size_t> pareto_front(const Table &table, std::vector<std::size_t> rows,
                                      const std::vector<std::size_t> &by);

/// For a terminal: each workload's front of these columns.
std::string to_text(const Table &table, const std::vector<std::size_t> &by);

} // namespace gradweave::sweep
