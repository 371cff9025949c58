"""The stubs, the docstrings and the options of the command agree with the module."""

import ast
import inspect
import os
import subprocess
import unittest

import gradweave
from gradweave import _core
from support import COMMAND, Case


def stub():
    file = os.path.join(os.path.dirname(gradweave.__file__), "__init__.pyi")
    with open(file, encoding="utf-8") as text:
        return ast.parse(text.read())


def parameters(node):
    arguments = node.args
    return [a.arg for a in arguments.posonlyargs + arguments.args] + [a.arg for a in arguments.kwonlyargs]


class Stubs(Case):
    def test_every_public_name_is_in_them(self):
        named = {n.name: n for n in stub().body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
        self.assertEqual(sorted(named), sorted(gradweave.__all__))

    def test_functions_have_the_same_parameters(self):
        functions = [n for n in stub().body if isinstance(n, ast.FunctionDef)]
        self.assertGreater(len(functions), 10)
        for node in functions:
            own = inspect.signature(getattr(gradweave, node.name))
            self.assertEqual(parameters(node), list(own.parameters), node.name)

    def test_classes_have_the_same_members(self):
        for node in stub().body:
            if not isinstance(node, ast.ClassDef) or node.name.endswith("Error"):
                continue
            members = {n.name for n in node.body if isinstance(n, ast.FunctionDef)} - {"__init__"}
            own = {name for name in dir(getattr(gradweave, node.name)) if not name.startswith("_")}
            self.assertEqual({m for m in members if not m.startswith("_")}, own, node.name)

    def test_everything_has_a_docstring(self):
        for name in gradweave.__all__:
            self.assertTrue(inspect.getdoc(getattr(gradweave, name)), name)
        for name in ("simulate", "cosim", "train", "compile", "timeline"):
            self.assertIn("Args:", inspect.getdoc(getattr(gradweave, name)))
            self.assertIn("Returns:", inspect.getdoc(getattr(gradweave, name)))

    def test_options_of_the_compiler_are_options_of_calls(self):
        for call in (gradweave.simulate, gradweave.cosim, gradweave.compile, gradweave.timeline):
            names = inspect.signature(call).parameters
            for option in _core.compile_options():
                self.assertIn(option, names)

    def test_options_are_those_of_the_command(self):
        other = {"model", "npu", "pass_", "input", "out", "dump", "evaluate", "jobs"}  # or called otherwise there
        for name in ("simulate", "cosim", "compile", "search", "train"):
            text = subprocess.run([COMMAND, name, "--help"], check=True, capture_output=True, text=True).stdout
            for option in inspect.signature(getattr(gradweave, name)).parameters:
                if option not in other:
                    self.assertIn("--" + option.replace("_", "-"), text, name)


if __name__ == "__main__":
    unittest.main()
