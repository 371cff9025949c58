#include "app/page/xml.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace gradweave::page {
namespace {

void escape(std::string &out, std::string_view text) {
  for (const char c : text) {
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default: // control characters have no place in XML 1.0
      out += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
}

} // namespace

void XmlWriter::tag(std::string_view name, const Attributes &attributes, std::string_view end) {
  out_ += '<';
  out_ += name;
  for (const auto &[key, value] : attributes) {
    out_ += ' ';
    out_ += key;
    out_ += "=\"";
    escape(out_, value);
    out_ += '"';
  }
  out_ += end;
}

void XmlWriter::open(std::string_view name, const Attributes &attributes) {
  tag(name, attributes, ">");
  open_.emplace_back(name);
}

void XmlWriter::close() {
  if (open_.empty()) throw std::logic_error("no element is open");
  out_ += "</" + open_.back() + ">";
  open_.pop_back();
}

void XmlWriter::text(std::string_view text) { escape(out_, text); }

void XmlWriter::element(std::string_view name, std::string_view text, const Attributes &attributes) {
  open(name, attributes);
  escape(out_, text);
  close();
}

void XmlWriter::empty(std::string_view name, const Attributes &attributes) { tag(name, attributes, "/>"); }

const std::string &XmlWriter::str() const {
  if (!open_.empty()) throw std::logic_error("element " + open_.back() + " is open");
  return out_;
}

void open_drawing(XmlWriter &svg, std::size_t number, std::string_view title, std::string_view description,
                  double width, double height) {
  const std::string title_id = fmt::format("chart{}-title", number), text_id = fmt::format("chart{}-text", number);
  svg.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                   {"viewBox", fmt::format("0 0 {} {}", width, height)},
                   {"role", "img"},
                   {"aria-labelledby", title_id + " " + text_id},
                   {"font-family", "sans-serif"},
                   {"font-size", "12"}});
  svg.element("title", title, {{"id", title_id}});
  svg.element("desc", description, {{"id", text_id}});
  svg.empty("rect", {{"class", "paper"},
                     {"width", fmt::format("{}", width)},
                     {"height", fmt::format("{}", height)},
                     {"fill", "#fff"}});
}

} // namespace gradweave::page
