#include "graph/frontend/csv_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace gradweave::compiler {
namespace {

constexpr std::string_view kNoBreakSpace = "\xc2\xa0";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

} // namespace

std::string_view trim(std::string_view text) {
  const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  const auto starts = [&text](std::string_view with) { return text.substr(0, with.size()) == with; };
  const auto ends = [&text](std::string_view with) {
    return text.size() >= with.size() && text.substr(text.size() - with.size()) == with;
  };
  for (;;) {
    if (!text.empty() && space(text.front()))
      text.remove_prefix(1);
    else if (!text.empty() && space(text.back()))
      text.remove_suffix(1);
    else if (starts(kNoBreakSpace))
      text.remove_prefix(kNoBreakSpace.size());
    else if (ends(kNoBreakSpace))
      text.remove_suffix(kNoBreakSpace.size());
    else
      return text;
  }
}

namespace {

/// The first line tells: a table without a comma in it that has tabs is cut at these.
char separator_of(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  return first.find(',') == std::string_view::npos && first.find('\t') != std::string_view::npos ? '\t' : ',';
}

} // namespace

std::vector<CsvRow> csv_rows(std::string_view text) {
  std::vector<CsvRow> rows;
  std::size_t line = 0;
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) text.remove_prefix(kByteOrderMark.size());
  const char separator = separator_of(text);
  for (std::string_view rest = text; !rest.empty();) {
    ++line;
    const std::size_t end = rest.find('\n');
    const std::string_view content = trim(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (content.empty() || content.front() == '#') continue;
    CsvRow &row = rows.emplace_back();
    row.line = line;
    for (std::size_t begin = 0; begin <= content.size();) {
      const std::size_t comma = std::min(content.find(separator, begin), content.size());
      row.cells.push_back(trim(content.substr(begin, comma - begin)));
      begin = comma + 1;
    }
  }
  return rows;
}

std::uint32_t csv_dimension(const std::filesystem::path &file, std::size_t line, std::string_view field,
                            std::string_view cell, std::string_view form) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error == std::errc::result_out_of_range)
    fail(file, line,
         fmt::format("{} = {} is out of range; give a whole number from 1 to {}", field, cell, kMaxDimension));
  if (cell.empty() || error != std::errc{} || end != cell.data() + cell.size())
    fail(file, line, fmt::format("{} = '{}' is not a whole number; write lines as {}", field, cell, form));
  return checked_dimension(file, line, field, value);
}

bool same_heading(std::string_view cell, std::string_view heading) {
  const auto letters = [](std::string_view text) {
    std::string result;
    for (const char c : text)
      if (c != ' ') result.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    return result;
  };
  return letters(cell) == letters(heading);
}

void drop_sparsity(const std::filesystem::path &file, std::vector<CsvRow> &rows) {
  if (rows.empty()) return;
  const std::vector<std::string_view> &headings = rows.front().cells;
  const auto found = std::find_if(headings.begin(), headings.end(),
                                  [](std::string_view cell) { return same_heading(cell, "Sparsity"); });
  if (found == headings.end()) return;
  const std::ptrdiff_t column = found - headings.begin();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::string_view> &cells = rows[i].cells;
    if (static_cast<std::ptrdiff_t>(cells.size()) <= column) continue;
    const std::string_view ratio = cells[static_cast<std::size_t>(column)];
    const std::size_t colon = ratio.find(':');
    const bool dense = ratio.empty() || (colon != std::string_view::npos &&
                                         trim(ratio.substr(0, colon)) == trim(ratio.substr(colon + 1)));
    if (i > 0 && !dense)
      fail(file, rows[i].line,
           fmt::format("Sparsity = {}: layers are computed dense; write 1:1, or leave the column Sparsity out", ratio));
    cells.erase(cells.begin() + column);
  }
}

} // namespace gradweave::compiler
