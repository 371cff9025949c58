// Plain GEMM lists: lines name,M,K,N, or name,M,N,K if a header says so.
#include "graph/frontend/csv_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace gradweave::compiler {
namespace {

/// Where the three dimensions of a row stand, and how its form is written down.
struct Columns {
  std::array<std::size_t, 3> at = {1, 2, 3}; ///< M, K, N
  std::string_view form = "name,M,K,N";
  bool header = false;
  bool comma_at_end = false; ///< the header ends in a comma: so may the rows
};

Columns columns_of(const CsvRow &first) {
  Columns columns;
  std::vector<std::string_view> cells = first.cells;
  columns.comma_at_end = cells.size() == 5 && cells.back().empty();
  if (columns.comma_at_end) cells.pop_back();
  if (cells.size() != 4 || !same_heading(cells[1], "M")) return {};
  if (same_heading(cells[2], "N") && same_heading(cells[3], "K")) {
    columns.at = {1, 3, 2};
    columns.form = "name,M,N,K";
  } else if (!same_heading(cells[2], "K") || !same_heading(cells[3], "N")) {
    return {};
  }
  columns.header = true;
  return columns;
}

/// Whether the cell begins as a number does.
bool is_number(std::string_view cell) {
  return !cell.empty() && (std::isdigit(static_cast<unsigned char>(cell.front())) != 0 || cell.front() == '-');
}

/// A first line that names columns that neither form has.
void check_heading(const std::filesystem::path &file, const CsvRow &first) {
  if (first.cells.size() < 2 || std::any_of(first.cells.begin() + 1, first.cells.end(), is_number)) return;
  fail(file, first.line,
       fmt::format("heading '{}' is not known; expected 'name,M,K,N' or 'name,M,N,K' (a list of products), or 'Layer "
                   "name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides' (a "
                   "topology of SCALE-Sim)",
                   fmt::join(first.cells, ",")));
}

std::vector<Layer> plain_layers(const std::filesystem::path &file, const std::vector<CsvRow> &rows) {
  LayerList layers(file);
  const Columns columns = rows.empty() ? Columns{} : columns_of(rows.front());
  if (!rows.empty() && !columns.header) check_heading(file, rows.front());
  for (std::size_t i = columns.header ? 1 : 0; i < rows.size(); ++i) {
    const std::size_t line = rows[i].line;
    std::vector<std::string_view> cells = rows[i].cells;
    if (columns.comma_at_end && cells.size() == 5 && cells.back().empty()) cells.pop_back();
    if (cells.size() != 4)
      fail(file, line, fmt::format("{} fields where there must be 4; write lines as {}", cells.size(), columns.form));
    Layer layer;
    layer.name = std::string(cells[0]);
    layer.m = csv_dimension(file, line, "M", cells[columns.at[0]], columns.form);
    layer.k = csv_dimension(file, line, "K", cells[columns.at[1]], columns.form);
    layer.n = csv_dimension(file, line, "N", cells[columns.at[2]], columns.form);
    layers.add(std::move(layer), line);
  }
  return layers.take();
}

/// Images in a batch of a topology.
std::uint32_t batch_of(const std::filesystem::path &file, const NetworkSettings &settings) {
  std::uint32_t batch = 1;
  for (const auto &[field, value] : settings.values) {
    if (field != "batch")
      fail(file, 0, fmt::format("a topology has no field '{}' that {} could replace; only batch", field, value));
    batch = csv_dimension(file, 0, field, value, "batch = 8");
  }
  return batch;
}

} // namespace

Network parse_network_csv(std::string_view text, const std::filesystem::path &file, const NetworkSettings &settings) {
  std::vector<CsvRow> rows = csv_rows(text);
  drop_sparsity(file, rows);
  Network network;
  network.name = file.stem().string();
  if (is_topology(rows)) {
    network.description = "SCALE-Sim topology";
    network.layers = topology_layers(file, rows, batch_of(file, settings));
  } else {
    for (const auto &[field, value] : settings.values)
      fail(file, 0, fmt::format("a plain list gives M as it is; no {} of {} can be set for it", field, value));
    network.description = "GEMM list";
    network.layers = plain_layers(file, rows);
  }
  network.layers.front().dx = false;
  return network;
}

} // namespace gradweave::compiler
