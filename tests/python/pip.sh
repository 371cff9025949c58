#!/bin/bash
# pip.sh BUILD SOURCE PYTHON: `pip install .` into a fresh environment, with the module of the build directory; without network.
set -euo pipefail
build=$1
source=$2
python=$3
"$python" -c 'import setuptools, wheel, venv, ensurepip' 2>/dev/null || {
  echo "skipped: Debian's python3-venv, python3-setuptools and python3-wheel are not all installed"
  exit 77
}
unset GRADWEAVE_HOME GRADWEAVE_LIB_DIR PYTHONPATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv --system-site-packages "$work/venv"
# What pip makes while it builds stays out of the source tree.
mkdir "$work/source"
cp -r "$source"/{pyproject.toml,setup.py,LICENSE,python,models,configs} "$work/source/"
GRADWEAVE_BUILD=$build "$work/venv/bin/pip" install --no-build-isolation --no-deps --no-index --quiet "$work/source"
rm -r "$work/source"
cd "$work"
venv/bin/python - <<'PYTHON'
import os, gradweave
assert "venv" in gradweave.__file__, gradweave.__file__
assert "resnet50" in gradweave.models() and "small" in gradweave.npus()
assert os.path.exists(os.path.join(os.path.dirname(gradweave.__file__), "py.typed"))
assert gradweave.simulate("mlp", "test8", batch=1, plan_cache="off")["verdict"] == "PASS"
PYTHON
