"""setup.py for both vendors: with each switch it does what the original, and what the port, does."""

from __future__ import annotations

import pytest

from porter.buildfiles.dual import both_paths
from porter.buildfiles.engine import convert
from porter.buildfiles.sources import Sources
from porter.buildfiles.unit import BuildUnit, Kind
from porter.source import SourceFile

HEAD = """\
'''Builds.'''
from __future__ import annotations
import sys
from setup import CUDAExtension, setup
"""
FILES = {
    "a list over lines": "setup(ext_modules=[CUDAExtension('m', ['a.cu'],\n"
    "    extra_compile_args={'cxx': ['-O3'],\n  'nvcc': ['-O3', '--use_fast_math',\n\n '-lineinfo']})])\n",
    "a variable and a call": "flags = ['--use_fast_math', '-lineinfo']\n"
    "setup(ext_modules=[CUDAExtension('m', ['a.cu'], extra_compile_args={'nvcc': flags})])\n",
    "in a function": "def build():\n    flags = ['-lineinfo']\n"
    "    if flags:\n        flags += ['-G', '--use_fast_math']\n"
    "    return CUDAExtension('m', ['a.cu'], extra_compile_args={'nvcc': flags + ['-lineinfo']})\nsetup(build())\n",
    "a string over lines": "setup(ext_modules=[CUDAExtension('m', ['a.cu'],\n"
    "    extra_compile_args={'nvcc': ['-lineinfo']})], text='''one\n  two\n''')\n",
    "a condition": "flags = []\nif sys.argv:\n    flags += ['-lineinfo']\n"
    "elif not sys.argv:\n    flags += ['-lineinfo']\n"
    "setup(ext_modules=[CUDAExtension('m', ['a.cu'], extra_compile_args={'nvcc': flags + ['-O3']})])\n",
    "carriage returns": "flags = ['-lineinfo']\r\nsetup(CUDAExtension('m', ['a.cu'],\r\n"
    "  extra_compile_args={'nvcc': flags}))\r\n",
}


class Seen(list[object]):
    """What is handed to `setup` and `CUDAExtension`."""

    def __call__(self, *given: object, **named: object) -> str:
        self.append((given, named))
        return f"built {len(self)}"


def done(text: str, monkeypatch: pytest.MonkeyPatch, use_hip: str) -> list[object]:
    """What a file does."""
    monkeypatch.setenv("USE_HIP", use_hip)
    seen = Seen()
    body = text.replace("from setup import CUDAExtension, setup", "")
    exec(compile(body, "setup.py", "exec"), {"CUDAExtension": seen, "setup": seen})
    return list(seen)


@pytest.mark.parametrize("name", FILES)
def test_each_switch_does_its_own(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = HEAD.replace("\n", "\r\n" if "\r" in FILES[name] else "\n") + FILES[name]
    unit = BuildUnit(SourceFile("setup.py", text.encode()), Kind.PYTHON, Sources())
    converted = convert(unit)
    written = both_paths(unit, converted.edits).decode()
    assert "USE_HIP" in written
    assert done(written, monkeypatch, "") == done(text, monkeypatch, "")
    assert done(written, monkeypatch, "1") == done(converted.data.decode(), monkeypatch, "1")
    assert done(written, monkeypatch, "1") != done(text, monkeypatch, "1")
    again = BuildUnit(SourceFile("setup.py", written.encode()), Kind.PYTHON, Sources())
    assert both_paths(again, convert(again).edits).decode() == written


def test_pytorch_knows_its_gpus() -> None:
    text = "import torch\nfrom torch.utils.cpp_extension import CUDAExtension\n"
    text += "CUDAExtension('m', ['a.cu'], extra_compile_args={'nvcc': ['-lineinfo']})\n"
    unit = BuildUnit(SourceFile("setup.py", text.encode()), Kind.PYTHON, Sources())
    written = both_paths(unit, convert(unit).edits).decode()
    assert "USE_HIP = torch.version.hip is not None\n" in written
    assert written.endswith("else:\n    " + text.splitlines()[-1] + "\n")
