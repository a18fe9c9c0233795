"""Read a PTX module."""

from __future__ import annotations

from pathlib import Path

from porter.validation.devices.core.hostcc import fingerprint
from porter.validation.devices.core.translated import made_by, remembered
from porter.validation.devices.ptx.body import read_body
from porter.validation.devices.ptx.declarations import LINKAGE, SPACES, read_parameters, read_variables
from porter.validation.devices.ptx.model import Function, Program, Unreadable, Variable
from porter.validation.devices.ptx.tokens import Cursor

_FLAGS = (".noreturn", ".explicitcluster", ".unified", ".blocksareclusters")
_NUMBERED = (
    ".maxntid", ".reqntid", ".minnctapersm", ".maxnctapersm", ".maxnreg", ".reqnctapercluster", ".maxclusterrank",
    ".abi_preserve", ".abi_preserve_control",
)  # fmt: skip


def read(text: str, *, bodies_later: bool = False) -> Program:
    """The module; raises Unreadable with the line of what is no PTX.

    `bodies_later`: of each function the declaration alone; what translates it completes it.
    """
    cursor = Cursor(text, whole_bodies=bodies_later)
    program = Program(origin=fingerprint(_encoded(text)))
    while cursor.here.kind != "end":
        _statement(cursor, program)
    if not program.version:
        raise Unreadable("no .version directive: this is no PTX", 1)
    return program


def read_again(text: str) -> Program:
    """The same; bodies are left for later where this text was read to its end before."""
    found: list[Program] = []

    def first() -> bool:
        found.append(read(text))
        return True

    remembered(made_by(Path(__file__).parent, "readable", _encoded(text)), first)
    return found[0] if found else read(text, bodies_later=True)


def _encoded(text: str) -> bytes:
    """Whatever bytes were in it."""
    return text.encode("utf-8", "surrogatepass")


def _statement(cursor: Cursor, program: Program) -> None:
    token = cursor.here
    linkage: list[str] = []
    while cursor.here.text in LINKAGE:
        linkage.append(cursor.take().text)
    name = cursor.here.text
    if name in SPACES:
        for variable in read_variables(cursor, ".extern" in linkage):
            _declare(program, variable)
    elif name in (".entry", ".func"):
        _function(cursor, program)
    elif name == ".version":
        cursor.take()
        program.version = cursor.take().text
    elif name == ".target":
        _target(cursor, program)
    elif name == ".address_size":
        cursor.take()
        program.address_size = cursor.integer()
    elif name == ".file":
        _file(cursor, program)
    elif name == ".section":
        cursor.take()
        cursor.word()
        cursor.skip_braces()
    elif name == ".alias":
        cursor.take()
        alias = cursor.word()
        cursor.expect(",")
        program.aliases[alias] = cursor.word()
        cursor.expect(";")
    elif name == ".pragma":
        cursor.take()
        cursor.take()
        cursor.expect(";")
    elif name == ";":
        cursor.take()
    else:
        raise Unreadable(f"unexpected {name!r} outside functions", token.line)


def _declare(program: Program, variable: Variable) -> None:
    known = program.variables.get(variable.name)
    if known is None or known.external:
        program.variables[variable.name] = variable


def _target(cursor: Cursor, program: Program) -> None:
    cursor.take()
    names = [cursor.word()]
    while cursor.accept(","):
        names.append(cursor.word())
    program.target = names[0]


def _file(cursor: Cursor, program: Program) -> None:
    cursor.take()
    index = cursor.integer()
    program.files[index] = cursor.take().text[1:-1].replace("\\\\", "\\")
    while cursor.accept(","):
        cursor.integer()


def _function(cursor: Cursor, program: Program) -> None:
    is_kernel = cursor.take().text == ".entry"
    _skip_attribute(cursor)
    returns = read_parameters(cursor) if cursor.here.text == "(" else []
    function = Function(cursor.word(), is_kernel, returns=returns)
    if cursor.here.text == "(":
        function.parameters = read_parameters(cursor)
    _directives(cursor, function)
    if cursor.accept(";"):
        program.functions.setdefault(function.name, function)
        return
    if cursor.here.kind == "body":
        body, function.has_body = cursor.take(), True
        function.later = lambda: read_body(Cursor(body.text, body.line), function, program)
    else:
        read_body(cursor, function, program)
    program.functions[function.name] = function


def _skip_attribute(cursor: Cursor) -> None:
    while cursor.accept(".attribute"):
        cursor.expect("(")
        while not cursor.accept(")"):
            cursor.take()


def _directives(cursor: Cursor, function: Function) -> None:
    while cursor.here.text.startswith("."):
        token = cursor.take()
        if token.text in _FLAGS:
            function.directives[token.text[1:]] = ()
        elif token.text in _NUMBERED:
            numbers = [cursor.integer()]
            while cursor.accept(","):
                numbers.append(cursor.integer())
            function.directives[token.text[1:]] = tuple(numbers)
        elif token.text == ".pragma":
            cursor.take()
            cursor.expect(";")
        elif token.text == ".attribute":
            cursor.position -= 1
            _skip_attribute(cursor)
        else:
            raise Unreadable(f"unknown directive {token.text!r}", token.line)
