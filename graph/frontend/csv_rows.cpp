#include "graph/frontend/csv_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace gradweave::compiler {

std::string_view trim(std::string_view text) {
  const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && space(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && space(text.back()))
    text.remove_suffix(1);
  return text;
}

std::vector<CsvRow> csv_rows(std::string_view text) {
  std::vector<CsvRow> rows;
  std::size_t line = 0;
  for (std::string_view rest = text; !rest.empty();) {
    ++line;
    const std::size_t end = rest.find('\n');
    const std::string_view content = trim(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (content.empty() || content.front() == '#') continue;
    CsvRow &row = rows.emplace_back();
    row.line = line;
    for (std::size_t begin = 0; begin <= content.size();) {
      const std::size_t comma = std::min(content.find(',', begin), content.size());
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

} // namespace gradweave::compiler
