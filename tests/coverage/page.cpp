#include "tests/coverage/page.hpp"

#include <fmt/format.h>

#include <fstream>
#include <stdexcept>

namespace gradweave::coverage {

namespace {

std::string escaped(const std::string &text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

class Page {
public:
  Page(const std::string &directory, const std::string &name, const std::string &title)
      : file_(directory + "/" + name) {
    out_.open(file_);
    out_ << "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>" << title << "</title><style>"
         << "body{font-family:sans-serif;margin:2em;max-width:70em}table{border-collapse:collapse;margin:1em 0}"
         << "td,th{border:1px solid #bbb;padding:.2em .6em;text-align:left;vertical-align:top}"
         << ".n{text-align:right}.miss{background:#fbb}.out{color:#777}.met{background:#cec}"
         << "</style></head><body><h1>" << title << "</h1>\n";
  }
  void text(const std::string &html) { out_ << html << '\n'; }
  void head(const std::vector<std::string> &cells) {
    out_ << "<table><tr>";
    for (const std::string &cell : cells)
      out_ << "<th>" << cell << "</th>";
    out_ << "</tr>\n";
  }
  void row(const std::vector<std::string> &cells, const std::string &style = "") {
    out_ << "<tr class=\"" << style << "\">";
    for (const std::string &cell : cells)
      out_ << "<td>" << cell << "</td>";
    out_ << "</tr>\n";
  }
  void end_table() { out_ << "</table>\n"; }
  void close() {
    out_ << "</body></html>\n";
    if (!out_.flush()) throw std::runtime_error("cannot write " + file_);
  }

private:
  std::string file_;
  std::ofstream out_;
};

void shares(Page &page, const std::vector<FileShare> &list, const std::string &what) {
  page.head({what, "covered", "of", "%"});
  for (const FileShare &s : list)
    page.row({escaped(s.file), std::to_string(s.covered), std::to_string(s.total),
              fmt::format("{:.1f}",
                          s.total == 0 ? 0.0 : 100.0 * static_cast<double>(s.covered) / static_cast<double>(s.total))});
  page.end_table();
}

void write_index(const Report &r, const std::string &directory) {
  Page page(directory, "index.html", "gradweave: coverage");
  page.text("<p>" + escaped(r.measured) + "</p>");
  page.head({"what", "covered", "of", "%", "wanted", "verdict"});
  for (const Gate &g : r.gates)
    page.row({g.what, std::to_string(g.covered), std::to_string(g.total), fmt::format("{:.2f}", g.percent()),
              fmt::format("{} {:.0f}", g.wanted >= 100 ? "all:" : "more than", g.wanted), g.met() ? "met" : "missed"},
             g.met() ? "met" : "miss");
  page.end_table();
  page.text("<ul><li><a href=\"rtl/index.html\">RTL, line by line</a></li><li><a href=\"toggles.html\">Toggles: bits "
            "that did not, "
            "and why</a></li><li><a href=\"bins.html\">Functional bins</a></li><li><a href=\"waivers.html\">Waived "
            "lines</a></li>"
            "<li><a href=\"cxx/index.html\">C++, line by line</a></li></ul>");
  for (const Gate &g : r.gates) {
    for (const std::string &defect : g.defects)
      page.text("<p class=\"miss\">" + g.what + ": " + escaped(defect) + "</p>");
  }
  page.text("<h2>Toggles of control by file</h2>");
  shares(page, r.toggles, "file");
  page.text("<h2>C++ lines by directory</h2>");
  shares(page, r.cxx, "directory");
  page.close();
}

void write_bins(const Report &r, const std::string &directory) {
  Page page(directory, "bins.html", "Functional bins");
  for (const BinGroup &group : r.bins.groups) {
    page.text("<h2>" + group.name + "</h2><p>" + escaped(group.doc) + "</p>");
    page.head({"bin", "hits", "first hit by"});
    for (const Bin &bin : r.bins.bins) {
      if (bin.group != group.name) continue;
      if (!bin.excluded.empty())
        page.row({bin.name, "excluded", escaped(bin.excluded)}, "out");
      else
        page.row({bin.name, std::to_string(bin.count), escaped(bin.first)}, bin.count == 0 ? "miss" : "");
    }
    page.end_table();
  }
  page.close();
}

void write_toggles(const Report &r, const std::string &directory) {
  Page page(directory, "toggles.html", "Toggles");
  page.text("<h2>Bits of control that did not toggle</h2>");
  page.head({"file: bit"});
  for (const Gate &g : r.gates)
    if (g.what == "RTL toggles of control")
      for (const std::string &bit : g.missed)
        page.row({escaped(bit)}, "miss");
  page.end_table();
  page.text("<h2>Bits that no run of the measured NPUs can toggle</h2>");
  page.head({"signals", "bits", "reason"});
  for (const ToggleRule &rule : r.waivers.constants)
    page.row({escaped(rule.signals), std::to_string(rule.matches), escaped(rule.reason)});
  page.end_table();
  page.text("<h2>Data</h2><p>Counted in no gate.</p>");
  page.head({"signals", "bits", "reason"});
  for (const ToggleRule &rule : r.waivers.data)
    page.row({escaped(rule.signals), std::to_string(rule.matches), escaped(rule.reason)});
  page.end_table();
  page.close();
}

void write_waivers(const Report &r, const std::string &directory) {
  Page page(directory, "waivers.html", "Lines of the RTL");
  page.text("<h2>Missed</h2>");
  page.head({"line"});
  for (const Gate &g : r.gates)
    if (g.what == "RTL lines")
      for (const std::string &line : g.missed)
        page.row({escaped(line)}, "miss");
  page.end_table();
  page.text("<h2>Waived</h2>");
  page.head({"file", "kind", "text", "reason"});
  for (const LineWaiver &w : r.waivers.lines)
    page.row({w.file, w.kind, escaped(w.text), escaped(w.reason)});
  page.end_table();
  page.close();
}

} // namespace

void write_pages(const Report &report, const std::string &directory) {
  write_index(report, directory);
  write_bins(report, directory);
  write_toggles(report, directory);
  write_waivers(report, directory);
}

} // namespace gradweave::coverage
