// Topologies of SCALE-Sim (https://github.com/scalesim-project/scale-sim-v2): a convolution a line, without padding,
// which the files count into the height and width of the input where it matters. What its reader
// (scalesim/topology_utils.py) makes of a line is made of it here, too; what that stumbles over and people still mean,
// as repeated names, is taken as meant.
#include "graph/frontend/csv_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>

namespace gradweave::compiler {
namespace {

constexpr std::size_t kNumbers = 7; ///< behind the name; an eighth is the stride along the width
constexpr std::array<std::string_view, 9> kFields = {"Layer name",    "IFMAP Height", "IFMAP Width",
                                                     "Filter Height", "Filter Width", "Channels",
                                                     "Num Filter",    "Strides",      "Stride Width"};

std::string form() { return fmt::format("{}", fmt::join(kFields.begin(), kFields.end() - 1, ", ")); }

std::string letters_of(std::string_view text) {
  std::string letters;
  for (const char c : text)
    if (c >= 'A' && c <= 'Z')
      letters.push_back(static_cast<char>(c + 32));
    else if (c >= 'a' && c <= 'z')
      letters.push_back(c);
  return letters;
}

/// Two numbers that stand in one cell behind an empty one: a comma and a space that changed places.
void mend_swapped_comma(std::vector<std::string_view> &cells) {
  for (std::size_t i = 1; i + 1 < cells.size(); ++i) {
    const std::size_t space = cells[i + 1].find(' ');
    if (!cells[i].empty() || space == std::string_view::npos) continue;
    cells[i] = cells[i + 1].substr(0, space);
    cells[i + 1] = trim(cells[i + 1].substr(space));
  }
}

/// The name and the numbers, without what stands behind them: remarks, and notes behind an empty cell.
std::vector<std::string_view> fields(const CsvRow &row) {
  std::vector<std::string_view> cells = row.cells;
  mend_swapped_comma(cells);
  const auto ends = [](std::string_view cell) { return cell.empty() || cell.front() == '#'; };
  const std::size_t known = std::min(cells.size(), kNumbers + 1);
  cells.erase(std::find_if(cells.begin() + static_cast<std::ptrdiff_t>(known), cells.end(), ends), cells.end());
  while (!cells.empty() && ends(cells.back()))
    cells.pop_back();
  return cells;
}

/// Zeros behind the last pixel that make whole steps of what is left of the image: SCALE-Sim rounds the number of
/// outputs up.
std::uint32_t pad_to_step(std::uint32_t image, std::uint32_t kernel, std::uint32_t stride) {
  const std::uint32_t rest = kernel > image ? 0 : (image - kernel) % stride;
  return rest == 0 ? 0 : stride - rest;
}

class Topology {
public:
  Topology(const std::filesystem::path &file, const std::vector<CsvRow> &rows, std::uint32_t batch)
      : file_(file), rows_(rows), batch_(batch), layers_(file) {}

  std::vector<Layer> layers() {
    for (std::size_t i = 1; i < rows_.size(); ++i)
      if (rows_[i].cells.size() > 1) given_.insert(rows_[i].cells[0]);
    for (std::size_t i = 1; i < rows_.size(); ++i)
      add(rows_[i].line, fields(rows_[i]));
    return layers_.take();
  }

private:
  void add(std::size_t line, const std::vector<std::string_view> &cells) {
    if (cells.size() <= 1) return; // a heading between layers, or commas alone
    check_fields(line, cells.size());
    const auto number = [&](std::size_t column) {
      return csv_dimension(file_, line, kFields[column], cells[column], form());
    };
    Convolution conv;
    conv.batch = batch_;
    conv.height = number(1);
    conv.width = number(2);
    conv.kernel_height = number(3);
    conv.kernel_width = number(4);
    conv.channels = number(5);
    conv.out_channels = number(6);
    conv.stride_height = number(7);
    conv.stride_width = cells.size() > kNumbers + 1 ? number(8) : conv.stride_height;
    conv.pad_bottom = pad_to_step(conv.height, conv.kernel_height, conv.stride_height);
    conv.pad_right = pad_to_step(conv.width, conv.kernel_width, conv.stride_width);
    if (cells[0].find("DP") != std::string_view::npos) { // depthwise: the filters see one channel each, and are for all
      conv.groups = conv.channels;
      check_depthwise(line, conv);
      conv.out_channels *= conv.groups;
    }
    Layer layer;
    layer.name = free_name(cells[0]);
    set_convolution(layer, conv, file_, line);
    layers_.add(std::move(layer), line);
  }

  void check_fields(std::size_t line, std::size_t count) const {
    if (count != kNumbers + 1 && count != kNumbers + 2)
      fail(file_, line,
           fmt::format("{} fields where there must be {}, or {} with a stride for the width; write lines as {}", count,
                       kNumbers + 1, kNumbers + 2, form()));
    const std::vector<std::string_view> &headings = rows_.front().cells;
    if (count == kNumbers + 2 && headings.size() == count && letters_of(headings.back()).find("batch") == 0)
      fail(file_, line,
           "a ninth field is the stride along the width, but the heading says batch; leave it out and give --batch");
  }

  void check_depthwise(std::size_t line, const Convolution &conv) const {
    const std::uint64_t all = std::uint64_t{conv.out_channels} * conv.groups;
    if (all > kMaxDimension)
      fail(file_, line,
           fmt::format("Channels x Num Filter = {} is more than {}; reduce one of them", all, kMaxDimension));
  }

  /// The name, or, if a layer has it already, the name with the lowest number from 2 on that nobody has.
  std::string free_name(std::string_view name) {
    std::string free(name);
    for (std::uint32_t number = 2; taken_.count(free) != 0 || (number > 2 && given_.count(free) != 0); ++number)
      free = fmt::format("{}_{}", name, number);
    taken_.insert(free);
    return free;
  }

  const std::filesystem::path &file_;
  const std::vector<CsvRow> &rows_;
  std::uint32_t batch_;
  LayerList layers_;
  std::unordered_set<std::string_view> given_; ///< names in the file
  std::unordered_set<std::string> taken_;
};

} // namespace

bool is_topology(const std::vector<CsvRow> &rows) {
  if (rows.empty()) return false;
  const std::vector<std::string_view> &cells = rows.front().cells;
  return cells.size() > kNumbers && letters_of(cells[0]).find("layer") == 0 &&
         std::any_of(cells.begin() + 1, cells.end(),
                     [](std::string_view cell) { return letters_of(cell).find("ifmap") == 0; });
}

std::vector<Layer> topology_layers(const std::filesystem::path &file, const std::vector<CsvRow> &rows,
                                   std::uint32_t batch) {
  return Topology(file, rows, batch).layers();
}

} // namespace gradweave::compiler
