// Writes XML elements: every tag is closed, every text escaped. Pages and drawings are made of it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gradweave::page {

class XmlWriter {
public:
  using Attributes = std::vector<std::pair<std::string_view, std::string>>;

  /// Begins an element, to be ended by close().
  void open(std::string_view name, const Attributes &attributes = {});
  void close();
  /// Text inside the open element.
  void text(std::string_view text);
  /// An element with text and nothing else.
  void element(std::string_view name, std::string_view text, const Attributes &attributes = {});
  /// An element without content.
  void empty(std::string_view name, const Attributes &attributes = {});
  /// Markup that another XmlWriter made, or a declaration.
  void raw(std::string_view markup) { out_ += markup; }
  void line_feed() { out_ += '\n'; }

  /// The document so far; throws std::logic_error if an element is open.
  const std::string &str() const;

private:
  void tag(std::string_view name, const Attributes &attributes, std::string_view end);

  std::string out_;
  std::vector<std::string> open_;
};

/// Begins a drawing on white, to be ended by close(): element svg, with what people see and what is read to them.
/// `number` tells it from others of its page.
void open_drawing(XmlWriter &svg, std::size_t number, std::string_view title, std::string_view description,
                  double width, double height);

} // namespace gradweave::page
