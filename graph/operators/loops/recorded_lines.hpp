// The lanes of a walk, written down: the program that each of them runs.
#pragma once

#include "graph/build/inference.hpp"
#include "graph/golden/recorded_kernel.hpp"
#include "graph/ir/error.hpp"

#include <cstddef>

namespace gradweave::graph {

/// As GoldenLines, for the text of an operator; a lane stands for all.
class RecordedLines {
public:
  using Arithmetic = Recorded;
  using Value = Recorded::Value;
  using Index = Recorded::Index;

  class At {
  public:
    explicit At(RecordedLines &lines) : lines_(&lines) {}
    Value in(std::size_t i) const { return Value(lines_->recorder_.tile(static_cast<unsigned>(i))); }
    Index index(std::size_t i) const { return in(i); }
    Index step() const { return Value(lines_->recorder_.step()); }
    void out(std::size_t o, Value value) const { lines_->recorder_.output(static_cast<unsigned>(o), value.recorded()); }

  private:
    friend class RecordedLines;
    RecordedLines *lines_;
  };

  class Variable {
  public:
    /// What is read of it is a value, and what is assigned to it an operation's result.
    class Reference {
    public:
      Reference(RecordedLines &lines, Value value) : lines_(&lines), value_(value) {}
      operator Value() const { return value_; } // NOLINT(google-explicit-constructor)
      Reference &operator=(Value value) {
        lines_->recorder_.assign(value_.recorded(), value.recorded());
        lines_->carries_ = lines_->carries_ || lines_->in_loop_;
        return *this;
      }
      Value operator-() const { return -value_; }

    private:
      RecordedLines *lines_;
      Value value_;
    };
    Variable(RecordedLines &lines, Value value) : lines_(&lines), value_(value) {}
    Reference operator()(const At & /*at*/) { return {*lines_, value_}; }

  private:
    RecordedLines *lines_;
    Value value_;
  };

  static Value constant(double value) { return Value(value); }
  static Index index(std::int32_t value) { return Value::index(value); }
  Variable variable(double value) {
    leave_loop();
    return {*this, Value(recorder_.variable(Value(value).recorded()))};
  }

  template <class Body> void loop(Body body) {
    recorder_.loop();
    in_loop_ = true;
    body(At(*this));
  }
  template <class Body> void once(Body body) {
    leave_loop();
    body(At(*this));
  }

  isa::vector::Program program() const { return recorder_.program(); }
  /// Whether a step depends on one before it.
  bool carries() const { return carries_; }

private:
  void leave_loop() {
    if (in_loop_) recorder_.once();
    in_loop_ = false;
  }

  vector::Recorder recorder_;
  bool in_loop_ = false;
  bool carries_ = false;
};

/// Adds what text(lines) runs on the walk. Throws GraphDefect if the walk is said to be of elements and is not.
template <class Text> void record_lines(Kernel<Recorded> &k, const LineWalk &walk, Text text) {
  RecordedLines lines;
  text(lines);
  if (walk.elementwise && lines.carries())
    throw GraphDefect(describe(k.op()) + ": a walk of elements carries values from step to step");
  k.add(RecordedWalk{walk, lines.program()});
}

/// The same of a text that is one loop, f(at).
template <class F> void record_elements(Kernel<Recorded> &k, const LineWalk &walk, F f) {
  record_lines(k, walk, [&f](RecordedLines &lines) { lines.loop(f); });
}

} // namespace gradweave::graph
