// A page: one HTML file that needs nothing else and asks nobody; well-formed XML.
#pragma once

#include "app/page/chart.hpp"
#include "app/page/xml.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::page {

/// Of all pages whose data can grow: so much fits a mail and opens at once.
inline constexpr std::size_t kMostPageBytes = 950'000;

/// A number of a summary.
struct Fact {
  std::string name, value;
};

/// How a column's cells look.
enum class CellKind { kText, kNumber, kCode };

struct TableForm {
  std::vector<CellKind> kinds; ///< by column; those at the end may be left out: text
  bool sortable = false;       ///< by a click on a column's head
};

class Document {
public:
  /// Begins the page. `style`: CSS beside that of all pages.
  explicit Document(const std::string &title, std::string_view style = {});

  void heading(const std::string &text, const std::string &id = {});
  void subheading(const std::string &text) { html_.element("h3", text); }
  /// `kind`: a class of the style: soft, bad, good.
  void paragraph(const std::string &text, const std::string &kind = {});
  /// A command line.
  void command(const std::string &text);
  /// The verdict of a run, and what it is about.
  void verdict(const std::string &text, bool good);
  void facts(const std::vector<Fact> &facts);
  void list(const std::vector<std::string> &items);
  /// In a container that scrolls; cells are wide enough that a row has four lines at most.
  void table(const Table &table, const TableForm &form = {});
  /// Markup of a drawing, in a container that scrolls, with what it shows below.
  void figure(std::string_view svg, const std::string &caption);
  /// The same with its values as a table, folded away.
  void figure(std::string_view svg, const std::string &caption, const Table &values);
  /// Data for scripts, as an element with this id whose text is JSON.
  void data(const std::string &id, const nlohmann::json &json);
  void script(std::string_view text);

  /// A number for the next drawing, which tells its ids from those of others.
  std::size_t next_drawing() { return drawings_++; }
  /// For what has no function here.
  XmlWriter &html() { return html_; }
  /// Ends the page and gives its text.
  std::string finish();

private:
  void open_table(const Table &table, const TableForm &form);
  bool sorts_ = false;
  std::size_t drawings_ = 0;
  XmlWriter html_;
};

/// Begins a cell (td or th) that is wide enough to hold so many characters in less than `lines` lines.
XmlWriter::Attributes cell_attributes(CellKind kind, std::size_t characters, std::size_t lines);

} // namespace gradweave::page
