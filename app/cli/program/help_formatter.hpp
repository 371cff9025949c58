// Help as wide as the terminal.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <cstddef>
#include <string>

namespace gradweave::cli {

/// Lines of `text` broken at spaces so that each has `width` characters at most, where words allow it. What follows of
/// a line that describes an option (from `column` on) stands below the description, else below the line's beginning. 0:
/// as it is.
std::string wrapped(const std::string &text, std::size_t width, std::size_t column);

/// The width to print help with: $COLUMNS, else that of the terminal that standard output is; 0: it is none.
std::size_t help_width();

class HelpFormatter : public CLI::Formatter {
public:
  std::string make_help(const CLI::App *app, std::string name, CLI::AppFormatMode mode) const override {
    return wrapped(CLI::Formatter::make_help(app, std::move(name), mode), help_width(), get_column_width());
  }
};

} // namespace gradweave::cli
