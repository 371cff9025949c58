#include "tests/mutation_score/sv_places.hpp"

#include "tests/mutation_score/sv_faults.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::mutation {

namespace {

/// Walks modules and packages, down to the statements.
class SvReader {
public:
  explicit SvReader(const std::string &source)
      : tokens_(sv_tokens(source)), cursor_(source, tokens_), faults_(source, places_) {}

  std::vector<Place> run() {
    while (cursor_.peek().kind != SvKind::kEnd) {
      if (!cursor_.is("module") && !cursor_.is("package")) cursor_.fail("module or package");
      const bool module = cursor_.take().text == "module";
      faults_.scope = cursor_.take().text;
      cursor_.skip_past(";");
      while (!cursor_.accept(module ? "endmodule" : "endpackage"))
        item();
    }
    return std::move(places_);
  }

private:
  bool is_any(std::initializer_list<std::string_view> words) const {
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return cursor_.is(word); });
  }
  bool is_declaration() const {
    return is_any(
        {"logic", "localparam", "parameter", "typedef", "genvar", "int", "integer", "automatic", "wire", "bit"});
  }
  void label() {
    if (cursor_.accept(":")) cursor_.take();
  }

  // --- Items of a module or package
  void item() {
    if (is_declaration() || is_any({"import", "export"})) return cursor_.skip_past(";");
    if (is_any({"initial", "final"}))
      return without_places([&] {
        cursor_.take();
        statement();
      });
    if (cursor_.accept("assign")) {
      assigned(sv_primary(cursor_), false);
      return cursor_.expect(";");
    }
    if (is_any({"always_comb", "always_ff", "always", "always_latch"})) return process();
    if (is_any({"function", "task"})) return routine();
    if (cursor_.accept("begin")) {
      label();
      while (!cursor_.accept("end"))
        item();
      return label();
    }
    if (is_any({"for", "if"})) { // generate: the header has to be constant
      cursor_.take();
      cursor_.skip_brackets();
      item();
      if (cursor_.accept("else")) item();
      return;
    }
    if (is_any({"generate", "endgenerate"}) || cursor_.is(";")) {
      cursor_.take();
      return;
    }
    if (cursor_.is("#", 1) || cursor_.is("(", 2)) return instance();
    cursor_.skip_past(";"); // a declaration of a type that has a name
  }

  void process() {
    const bool clocked = cursor_.take().text != "always_comb";
    if (clocked && cursor_.accept("@")) {
      if (cursor_.is("("))
        cursor_.skip_brackets();
      else
        cursor_.take();
    }
    const std::size_t before = places_.size();
    asserts_ = false;
    statement();
    if (asserts_) places_.resize(before);
  }

  template <class Body> void without_places(Body body) {
    const std::size_t before = places_.size();
    body();
    places_.resize(before);
  }

  void routine() {
    const bool function = cursor_.take().text == "function";
    const std::string outer = faults_.scope;
    const SvToken *name = nullptr;
    while (!cursor_.is("(") && !cursor_.is(";")) {
      if (cursor_.is("[")) {
        cursor_.skip_brackets();
        continue;
      }
      name = &cursor_.peek();
      cursor_.take();
    }
    if (name != nullptr) faults_.scope = outer + "." + std::string(name->text);
    if (cursor_.is("(")) cursor_.skip_brackets();
    cursor_.expect(";");
    while (!cursor_.accept(function ? "endfunction" : "endtask"))
      statement();
    faults_.scope = outer;
  }

  /// Only what goes into an instance can be exchanged, but which port that is does not show here: names, with their
  /// indices, stay as they are, since an output may drive them.
  void instance() {
    cursor_.take();
    if (cursor_.accept("#")) cursor_.skip_brackets();
    cursor_.take();
    if (!cursor_.accept("(")) cursor_.fail("the ports of an instance");
    while (!cursor_.accept(")")) {
      cursor_.expect(".");
      cursor_.take();
      if (cursor_.accept("(") && !cursor_.accept(")")) {
        faults_.in_expression(sv_expression(cursor_), false);
        cursor_.expect(")");
      }
      cursor_.accept(",");
    }
    cursor_.expect(";");
  }

  // --- Statements
  void statement() {
    if (is_declaration()) return cursor_.skip_past(";");
    if (cursor_.accept(";")) return;
    if (cursor_.accept("begin")) {
      label();
      while (!cursor_.accept("end"))
        statement();
      return label();
    }
    if (cursor_.accept("if")) return branch();
    if (is_any({"unique", "priority"})) cursor_.take();
    if (is_any({"case", "casez"})) return choice();
    if (cursor_.accept("for")) { // its bounds decide what the simulator keeps as a loop
      cursor_.skip_brackets();
      return statement();
    }
    if (cursor_.accept("return")) {
      faults_.in_value(sv_expression(cursor_));
      return cursor_.expect(";");
    }
    if (cursor_.peek().kind == SvKind::kName && cursor_.is(":", 1)) { // the name of an assertion
      cursor_.take();
      cursor_.take();
    }
    if (is_any({"assert", "assume", "cover"})) {
      asserts_ = true;
      return cursor_.skip_past(";");
    }
    if (cursor_.peek().text.substr(0, 1) == "$") return cursor_.skip_past(";");
    // A variable of a type that has a name, maybe one of a package.
    if (cursor_.peek(cursor_.is("::", 1) ? 3 : 1).kind == SvKind::kName) return cursor_.skip_past(";");
    simple();
  }

  void branch() {
    cursor_.expect("(");
    const SvExpression condition = sv_expression(cursor_);
    cursor_.expect(")");
    const std::string text = faults_.text(condition);
    const bool resets = text == "!rst_ni" || text == "clear_i", outer = resetting_;
    if (text != "!rst_ni") faults_.in_condition(condition); // a register's reset pin is there or not, see "reset"
    resetting_ = outer || resets;
    statement();
    resetting_ = outer;
    if (cursor_.accept("else")) statement();
  }

  void choice() {
    cursor_.take();
    cursor_.expect("(");
    faults_.in_expression(sv_expression(cursor_));
    cursor_.expect(")");
    while (!cursor_.accept("endcase")) {
      cursor_.skip_past(":");
      statement();
    }
  }

  /// An assignment, or the call of a task.
  void simple() {
    const std::size_t begin = cursor_.peek().begin;
    const SvExpression target = sv_primary(cursor_);
    if (cursor_.accept(";")) {
      add_fault(places_, begin, cursor_.last_end(), faults_.scope, {resetting_ ? "reset" : "drop", ""});
      if (target.kind == SvExpression::Kind::kGroup) faults_.in_expression(target);
      return;
    }
    assigned(target, true);
    cursor_.expect(";");
  }

  /// From "=" or "<=" to the end of the value.
  void assigned(const SvExpression &target, bool procedural) {
    const bool clocked = cursor_.is("<=");
    if (!cursor_.is("=") && !clocked) cursor_.fail("an assignment");
    cursor_.take();
    const SvExpression value = sv_expression(cursor_);
    // Only a clocked register keeps its value without becoming a latch.
    if (procedural && clocked) faults_.add(value, resetting_ ? "reset" : "hold", faults_.text(target));
    faults_.in_value(value);
    faults_.in_expression(target);
  }

  std::vector<SvToken> tokens_;
  SvCursor cursor_;
  std::vector<Place> places_;
  SvFaults faults_;
  bool asserts_ = false, resetting_ = false;
};

} // namespace

std::vector<Place> sv_places(const std::string &source) { return SvReader(source).run(); }

} // namespace gradweave::mutation
