// Rows of values separated by commas, or by tabs where the first line has no comma, without quoting.
#pragma once

#include "graph/frontend/network_file.hpp"

#include <string_view>
#include <vector>

namespace gradweave::compiler {

/// Without the spaces (U+00A0, too), tabs and carriage returns around it.
std::string_view trim(std::string_view text);

struct CsvRow {
  std::size_t line = 0;                ///< from 1
  std::vector<std::string_view> cells; ///< without spaces around them; they point into the text
};

/// All rows but empty lines and those that begin with '#'. A byte-order mark before the first is skipped.
std::vector<CsvRow> csv_rows(std::string_view text);

/// A cell as a dimension; throws ConfigError that names `field` and, with `form`, how rows are to be written.
std::uint32_t csv_dimension(const std::filesystem::path &file, std::size_t line, std::string_view field,
                            std::string_view cell, std::string_view form);

/// Takes the column away that the heading calls Sparsity (SCALE-Sim v3), of rows that are all dense (N:N). Throws
/// ConfigError that names the first one that is not.
void drop_sparsity(const std::filesystem::path &file, std::vector<CsvRow> &rows);

/// Whether two cells are the same but for the case of letters and for spaces.
bool same_heading(std::string_view cell, std::string_view heading);

/// A SCALE-Sim topology: the first row is its heading, "Layer ..." and an "IFMAP ..." in eight columns at least.
/// `batch` images.
bool is_topology(const std::vector<CsvRow> &rows);
std::vector<Layer> topology_layers(const std::filesystem::path &file, const std::vector<CsvRow> &rows,
                                   std::uint32_t batch);

} // namespace gradweave::compiler
