#include "tests/report/requests.hpp"

namespace gradweave::test {

std::vector<std::string> requests_of(const std::string &html) {
  std::vector<std::string> found;
  for (const char *attribute :
       {" src=\"", " href=\"", " srcset=\"", " data=\"", " action=\"", " poster=\"", "xlink:href=\""})
    for (std::size_t at = 0; (at = html.find(attribute, at)) != std::string::npos;) {
      at = html.find('"', at) + 1;
      const std::string value = html.substr(at, html.find('"', at) - at);
      if (value.empty() || value.front() != '#') found.push_back(value);
    }
  for (const char *word :
       {"url(", "@import", "fetch(", "XMLHttpRequest", "WebSocket", "import(", "sendBeacon", "EventSource"})
    if (html.find(word) != std::string::npos) found.emplace_back(word);
  return found;
}

} // namespace gradweave::test
