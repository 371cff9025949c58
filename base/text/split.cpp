#include "base/text/split.hpp"

namespace gradweave {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  for (std::size_t first = 0, end = 0; end != std::string_view::npos; first = end + 1) {
    end = text.find(separator, first);
    parts.emplace_back(text.substr(first, end - first));
  }
  return parts;
}

} // namespace gradweave
