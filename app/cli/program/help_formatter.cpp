#include "app/cli/program/help_formatter.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <sys/ioctl.h>
#include <unistd.h>

namespace gradweave::cli {
namespace {

constexpr std::size_t kNarrowest = 40;

/// Where a line's further parts begin.
std::size_t indent_of(const std::string &line, std::size_t width, std::size_t column) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const bool described = begin >= 2 && line.size() > column && line[column - 1] == ' ' && line[column] != ' ';
  if (described && begin <= column && column + kNarrowest / 2 <= width) return column;
  return begin + 2;
}

std::string wrapped_line(std::string line, std::size_t width, std::size_t column) {
  const std::size_t indent = indent_of(line, width, column);
  std::string text;
  while (line.size() > width) {
    const std::size_t least = std::max(indent, line.find_first_not_of(' '));
    std::size_t at = line.rfind(' ', width);
    if (at == std::string::npos || at <= least) at = line.find(' ', width); // a word that is longer than the line
    if (at == std::string::npos) break;
    text += line.substr(0, line.find_last_not_of(' ', at) + 1) + '\n';
    line = std::string(indent, ' ') + line.substr(std::min(line.find_first_not_of(' ', at), line.size()));
  }
  return text + line;
}

} // namespace

std::string wrapped(const std::string &text, std::size_t width, std::size_t column) {
  if (width == 0) return text;
  std::istringstream in(text);
  std::string all;
  for (std::string line; std::getline(in, line);)
    all += wrapped_line(line, std::max(width, kNarrowest), column) + '\n';
  return all;
}

std::size_t help_width() {
  std::size_t columns = 0;
  if (const char *text = std::getenv("COLUMNS"); text != nullptr)
    std::from_chars(text, text + std::strlen(text), columns);
  if (columns != 0) return columns;
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

} // namespace gradweave::cli
