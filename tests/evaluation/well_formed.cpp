#include "tests/evaluation/well_formed.hpp"

#include <fmt/format.h>

#include <cctype>
#include <set>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace gradweave::test {
namespace {

class Parser {
public:
  explicit Parser(const std::string &text) : text_(text) {}

  void parse() {
    if (text_.rfind("<!DOCTYPE html>", 0) == 0) at_ = 15;
    while (at_ < text_.size()) {
      if (text_.compare(at_, kData.size(), kData) == 0)
        data();
      else if (text_[at_] == '<')
        tag();
      else
        content();
    }
    if (!open_.empty()) fail("element " + open_.back() + " is not closed");
    if (roots_ != 1) fail(fmt::format("{} root elements", roots_));
  }

private:
  static constexpr std::string_view kData = "<![CDATA[", kDataEnd = "]]>";

  [[noreturn]] void fail(const std::string &what) const {
    throw std::runtime_error(fmt::format("at byte {}: {}", at_, what));
  }
  char next() {
    if (at_ >= text_.size()) fail("the text ends in a tag");
    return text_[at_++];
  }
  std::string name() {
    std::string result;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '-'))
      result += text_[at_++];
    if (result.empty()) fail("a name is missing");
    return result;
  }
  void content() {
    const char c = next();
    if (c == '&') entity();
    if (c == '>') fail("> in text");
    if (open_.empty() && std::isspace(static_cast<unsigned char>(c)) == 0) fail("text outside of the root");
  }
  void data() {
    if (open_.empty()) fail("data outside of the root");
    at_ = text_.find(kDataEnd, at_);
    if (at_ == std::string::npos) {
      at_ = text_.size();
      fail("data is not closed");
    }
    at_ += kDataEnd.size();
  }
  void entity() {
    std::string entity;
    for (char c = next(); c != ';'; c = next())
      entity += c;
    if (std::set<std::string>{"amp", "lt", "gt", "quot"}.count(entity) == 0) fail("unknown entity " + entity);
  }
  void attribute(std::set<std::string> &seen) {
    const std::string key = name();
    if (!seen.insert(key).second) fail("attribute " + key + " twice");
    if (next() != '=' || next() != '"') fail("attribute " + key + " without a value in quotes");
    for (char c = next(); c != '"'; c = next()) {
      if (c == '<') fail("< in an attribute");
      if (c == '&') entity();
    }
  }
  void tag() {
    next();
    if (at_ < text_.size() && text_[at_] == '/') {
      next();
      const std::string closed = name();
      if (next() != '>') fail("a closing tag with more than a name");
      if (open_.empty() || open_.back() != closed) fail("</" + closed + "> does not close what is open");
      open_.pop_back();
      return;
    }
    const std::string opened = name();
    std::set<std::string> seen;
    if (open_.empty()) ++roots_;
    while (true) {
      const char c = next();
      if (c == '>') {
        open_.push_back(opened);
        return;
      }
      if (c == '/') {
        if (next() != '>') fail("/ in a tag");
        return;
      }
      if (c != ' ') fail("attributes are not separated");
      attribute(seen);
    }
  }

  const std::string &text_;
  std::size_t at_ = 0;
  int roots_ = 0;
  std::vector<std::string> open_;
};

} // namespace

std::string xml_problem(const std::string &text) {
  try {
    Parser(text).parse();
  } catch (const std::runtime_error &error) {
    return error.what();
  }
  return {};
}

} // namespace gradweave::test
