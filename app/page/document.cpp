#include "app/page/document.hpp"

#include "page_parts.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace gradweave::page {
namespace {

/// A text of so many characters may stand in one line, however narrow the screen.
constexpr std::size_t kOneLine = 30;
constexpr std::size_t kLinesOfACell = 3, kLinesOfAHead = 2;

CellKind kind_of(const TableForm &form, std::size_t column) {
  return column < form.kinds.size() ? form.kinds[column] : CellKind::kText;
}

} // namespace

XmlWriter::Attributes cell_attributes(CellKind kind, std::size_t characters, std::size_t lines) {
  XmlWriter::Attributes attributes;
  if (kind == CellKind::kNumber) return {{"class", "number"}};
  // Words are not cut: a line is as good as never full.
  if (characters <= kOneLine && lines > kLinesOfAHead)
    attributes.emplace_back("class", "line");
  else if (characters > kOneLine / lines)
    attributes.emplace_back("style", fmt::format("min-width:{}ch", characters / lines + 8));
  return attributes;
}

Document::Document(const std::string &title, std::string_view style) {
  html_.raw("<!DOCTYPE html>\n");
  html_.open("html", {{"xmlns", "http://www.w3.org/1999/xhtml"}, {"lang", "en"}});
  html_.open("head");
  html_.empty("meta", {{"charset", "utf-8"}});
  html_.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  html_.element("title", title);
  html_.raw(fmt::format("<style>\n{}{}</style>\n", kPageStyle, style));
  html_.close();
  html_.open("body");
  html_.element("h1", title);
  html_.line_feed();
}

void Document::heading(const std::string &text, const std::string &id) {
  html_.element("h2", text, id.empty() ? XmlWriter::Attributes{} : XmlWriter::Attributes{{"id", id}});
  html_.line_feed();
}

void Document::paragraph(const std::string &text, const std::string &kind) {
  html_.element("p", text, kind.empty() ? XmlWriter::Attributes{} : XmlWriter::Attributes{{"class", kind}});
  html_.line_feed();
}

void Document::command(const std::string &text) {
  html_.open("p");
  html_.element("code", text);
  html_.close();
  html_.line_feed();
}

void Document::verdict(const std::string &text, bool good) {
  html_.open("p");
  html_.element("strong", text, {{"class", good ? "good" : "bad"}});
  html_.close();
  html_.line_feed();
}

void Document::facts(const std::vector<Fact> &facts) {
  html_.open("dl", {{"class", "facts"}});
  for (const Fact &fact : facts) {
    html_.open("div");
    html_.element("dt", fact.name);
    html_.element("dd", fact.value);
    html_.close();
  }
  html_.close();
  html_.line_feed();
}

void Document::list(const std::vector<std::string> &items) {
  if (items.empty()) return;
  html_.open("ul");
  for (const std::string &item : items)
    html_.element("li", item);
  html_.close();
  html_.line_feed();
}

void Document::open_table(const Table &table, const TableForm &form) {
  html_.open("div", {{"class", "scroll"}});
  html_.open("table", form.sortable ? XmlWriter::Attributes{{"class", "sortable"}} : XmlWriter::Attributes{});
  if (!table.title.empty()) html_.element("caption", table.title);
  html_.open("thead");
  html_.open("tr");
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    XmlWriter::Attributes attributes = cell_attributes(kind_of(form, i), table.columns[i].size(), kLinesOfAHead);
    attributes.emplace_back("scope", "col");
    html_.element("th", table.columns[i], attributes);
  }
  html_.close();
  html_.close();
  html_.open("tbody");
}

void Document::table(const Table &table, const TableForm &form) {
  sorts_ = sorts_ || form.sortable;
  open_table(table, form);
  for (const std::vector<std::string> &row : table.rows) {
    html_.open("tr");
    for (std::size_t i = 0; i < row.size(); ++i) {
      const CellKind kind = kind_of(form, i);
      const XmlWriter::Attributes attributes = cell_attributes(kind, row[i].size(), kLinesOfACell);
      if (kind != CellKind::kCode) {
        html_.element("td", row[i], attributes);
        continue;
      }
      html_.open("td", attributes);
      html_.element("code", row[i]);
      html_.close();
    }
    html_.close();
    html_.line_feed();
  }
  html_.close();
  html_.close();
  html_.close();
  html_.line_feed();
}

void Document::figure(std::string_view svg, const std::string &caption) {
  html_.open("figure");
  html_.open("div", {{"class", "scroll"}});
  html_.raw(svg);
  html_.close();
  html_.element("figcaption", caption);
  html_.close();
  html_.line_feed();
}

void Document::figure(std::string_view svg, const std::string &caption, const Table &values) {
  figure(svg, caption);
  html_.open("details");
  html_.element("summary", "values");
  table(values);
  html_.close();
  html_.line_feed();
}

void Document::data(const std::string &id, const nlohmann::json &json) {
  // As text of an element, and of a CDATA section: without '<', '&' and '>'.
  std::string text = json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  for (const auto &[from, to] : {std::pair('<', "\\u003c"), {'&', "\\u0026"}, {'>', "\\u003e"}})
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos;)
      text.replace(at, 1, to);
  html_.open("script", {{"type", "application/json"}, {"id", id}});
  html_.raw(text);
  html_.close();
  html_.line_feed();
}

void Document::script(std::string_view text) {
  html_.raw(fmt::format("<script>//<![CDATA[\n{}//]]></script>\n", text));
}

std::string Document::finish() {
  if (sorts_) script(kSortScript);
  html_.close();
  html_.close();
  return html_.str() + '\n';
}

} // namespace gradweave::page
