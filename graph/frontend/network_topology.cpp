// Topologies of SCALE-Sim (https://github.com/scalesim-project/SCALE-Sim): a convolution a line, without padding, which
// the files count into the height and width of the input where it matters.
#include "graph/frontend/csv_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gradweave::compiler {
namespace {

constexpr std::array<std::string_view, 8> kHeadings = {"Layer name",   "IFMAP Height", "IFMAP Width", "Filter Height",
                                                       "Filter Width", "Channels",     "Num Filter",  "Strides"};
constexpr std::string_view kForm = "name, IFMAP height, IFMAP width, filter height, filter width, channels, filters, "
                                   "stride";

/// The cells without those at the end that are empty or a remark.
std::vector<std::string_view> fields(const CsvRow &row) {
  std::vector<std::string_view> cells = row.cells;
  while (!cells.empty() && (cells.back().empty() || cells.back().front() == '#'))
    cells.pop_back();
  return cells;
}

} // namespace

bool is_topology(const std::vector<CsvRow> &rows) {
  if (rows.empty()) return false;
  const std::vector<std::string_view> &cells = rows.front().cells;
  const auto same = [](std::string_view heading, std::string_view cell) { return same_heading(cell, heading); };
  return std::mismatch(kHeadings.begin(), kHeadings.end(), cells.begin(), cells.end(), same).first == kHeadings.end();
}

std::vector<Layer> topology_layers(const std::filesystem::path &file, const std::vector<CsvRow> &rows,
                                   std::uint32_t batch) {
  LayerList layers(file);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const std::size_t line = rows[i].line;
    const std::vector<std::string_view> cells = fields(rows[i]);
    if (cells.size() <= 1) continue; // a heading between layers, or commas alone
    if (cells.size() != kHeadings.size())
      fail(file, line,
           fmt::format("{} fields where there must be {}; write lines as {}", cells.size(), kHeadings.size(), kForm));
    const auto number = [&](std::size_t column) {
      return csv_dimension(file, line, kHeadings[column], cells[column], kForm);
    };
    Convolution conv;
    conv.batch = batch;
    conv.height = number(1);
    conv.width = number(2);
    conv.kernel_height = number(3);
    conv.kernel_width = number(4);
    conv.channels = number(5);
    conv.out_channels = number(6);
    conv.stride_height = conv.stride_width = number(7);
    Layer layer;
    layer.name = std::string(cells[0]);
    set_convolution(layer, conv, file, line);
    layers.add(std::move(layer), line);
  }
  return layers.take();
}

} // namespace gradweave::compiler
