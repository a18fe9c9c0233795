"""What Python code says of a launch, written as host code in C++: sizes, arrays with their element types, grids."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from porter.validation.cases.python_kernels import C_TYPES

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Mod: "%", ast.LShift: "<<", ast.RShift: ">>",
    ast.BitAnd: "&", ast.BitOr: "|",
}  # fmt: skip
_MAKES = frozenset({"zeros", "ones", "empty", "full", "pagelocked_zeros", "pagelocked_empty", "managed_empty"})
_LIKE = frozenset({"zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like"})
_RANDOM = frozenset({"rand", "randn"})
_SIZED = frozenset({"random", "standard_normal", "uniform", "normal", "random_sample", "randint", "integers"})
_SAME = frozenset({"asarray", "array", "ascontiguousarray", "asfortranarray", "to_gpu", "to_device", "In", "Out",
                   "InOut", "copy", "ravel", "flatten", "contiguous", "cuda", "cpu", "get", "asnumpy", "to_gpu_async",
                   "mem_alloc_like", "squeeze"})  # fmt: skip
_VALUES = frozenset({"int", "float", "intp", *C_TYPES})
_FIT = frozenset({"ceil", "cdiv"})


@dataclass(frozen=True)
class Kernel:
    """A kernel that a name of the file stands for."""

    name: str
    library: str


@dataclass(frozen=True)
class Shape:
    """What is known of an array: its sides as C++, and the type of an element; empty where it is not known."""

    sides: tuple[str, ...]
    type: str = ""
    is_zero: bool = False

    @property
    def count(self) -> str:
        """How many elements."""
        return " * ".join(f"({side})" for side in self.sides) or "1"


@dataclass(frozen=True)
class PythonLaunch:
    """One launch: grid, block, bytes of shared memory and arguments as Python has them."""

    kernel: str
    grid: ast.expr | None
    block: ast.expr | None
    shared: ast.expr | None
    arguments: tuple[ast.expr, ...]


def as_host(
    node: ast.Module | ast.FunctionDef, kernels: Mapping[str, Kernel], types: Mapping[str, Sequence[str]]
) -> str:
    """A function, or what stands outside of all, as host code; `types` are those of the kernels' parameters."""
    if isinstance(node, ast.Module):
        return _Scope(kernels, types).text("python_module", (), node.body)
    given = [*node.args.posonlyargs, *node.args.args]
    names = tuple(argument.arg for argument in given if argument.arg not in ("self", "cls"))
    return _Scope(kernels, types).text(node.name, names, node.body)


@dataclass
class _Scope:
    """One function, in the order of its lines."""

    kernels: Mapping[str, Kernel]
    types: Mapping[str, Sequence[str]]
    arrays: dict[str, Shape] = field(default_factory=dict)
    tuples: dict[str, tuple[str, ...]] = field(default_factory=dict)
    out: list[str] = field(default_factory=list)
    temporary: int = 0

    def text(self, name: str, parameters: tuple[str, ...], body: Sequence[ast.stmt]) -> str:
        for node in _statements(body):
            self._statement(node)
        shown = ", ".join(f"long {parameter}" for parameter in parameters)
        return "\n".join([f"void {name}({shown}) {{", *(f"  {line}" for line in self.out), "}\n"])

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            self.out.append(f"long {node.target.id} = 0;")
            return
        for call in _calls(node):
            self._call(call)
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            self._assign(node.targets[0], node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._assign(node.target, node.value)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple):
            self._unpack(target, value)
            return
        if not isinstance(target, ast.Name):
            return
        name = target.id
        shape = self.shape(value)
        if shape is not None:
            self.arrays[name] = shape
            self._declare(name, shape)
            return
        sides = self.sides(value)
        if sides is not None and isinstance(value, ast.Tuple | ast.Attribute):
            self.tuples[name] = sides
            if 1 <= len(sides) <= 3:
                self.out.append(f"dim3 {name}({', '.join(sides)});")
            return
        shown = self.expression(value)
        if shown is not None:
            self.out.append(f"{'double' if _is_real(value) else 'long'} {name} = {shown};")

    def _unpack(self, target: ast.Tuple, value: ast.expr) -> None:
        names = [element.id if isinstance(element, ast.Name) else "" for element in target.elts]
        if isinstance(value, ast.Tuple) and len(value.elts) == len(names):
            for element, inner in zip(target.elts, value.elts, strict=True):
                self._assign(element, inner)
        elif isinstance(value, ast.Attribute) and value.attr == "shape" and all(names):
            whole = ast.unparse(value.value)
            known = self.arrays.get(whole)
            for place, name in enumerate(names):
                side = known.sides[place] if known is not None and place < len(known.sides) else "rand()"
                self.out.append(f"long {name} = {side};")
            if known is None:
                self.arrays[whole] = Shape(tuple(names))

    def _declare(self, name: str, shape: Shape) -> None:
        if shape.type:
            self.out.append(f"{shape.type}* {name} = new {shape.type}[{shape.count}];")
            self.out += [f"cudaMemset({name}, 0, 1);"] * shape.is_zero

    # -- expressions ----------------------------------------------------------------------------------

    def expression(self, node: ast.expr) -> str | None:
        """A number as C++; None where it is none that can be told."""
        if isinstance(node, ast.Constant):
            return str(int(node.value) if isinstance(node.value, bool) else node.value) if isinstance(
                node.value, int | float
            ) else None  # fmt: skip
        if isinstance(node, ast.Name):
            return node.id if node.id not in self.arrays else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = self.expression(node.operand)
            return None if inner is None else f"(-{inner})"
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.Call):
            return self._value(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Subscript):
            sides, place = self.sides(node.value), node.slice
            if sides is not None and isinstance(place, ast.Constant) and isinstance(place.value, int):
                return sides[place.value] if place.value < len(sides) else None
            if isinstance(node.value, ast.Attribute) and node.value.attr == "shape" and _is_whole(place):
                return self._size(f"{ast.unparse(node.value.value)}_{ast.unparse(place)}")
        return None

    def _size(self, words: str) -> str:
        """A size that the file does not tell."""
        name = re.sub(r"\W+", "_", words).strip("_")
        line = f"long {name} = rand();"
        self.out += [line] * (line not in self.out)
        return name

    def _operation(self, node: ast.BinOp) -> str | None:
        left, right = self.expression(node.left), self.expression(node.right)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Pow):
            if left.isdigit() and right.isdigit() and len(left) < 6 and len(right) < 2:
                return str(int(left) ** int(right))
            return f"(1 << {right})" if left == "2" else None
        if isinstance(node.op, ast.Div):
            return f"({left} / {right})" if _is_real(node.left) or _is_real(node.right) else None
        sign = _OPERATORS.get(type(node.op))
        return None if sign is None else f"({left} {sign} {right})"

    def _value(self, node: ast.Call) -> str | None:
        name = _last(node.func)
        if name in _FIT and len(node.args) == 2:
            parts = [self.expression(argument) for argument in node.args]
            return None if None in parts else f"(({parts[0]} + {parts[1]} - 1) / {parts[1]})"
        if len(node.args) == 1 and not node.keywords:
            (argument,) = node.args
            if name in _FIT and isinstance(argument, ast.BinOp) and isinstance(argument.op, ast.Div):
                left, right = self.expression(argument.left), self.expression(argument.right)
                return None if left is None or right is None else f"(({left} + {right} - 1) / {right})"
            if name == "int" and isinstance(argument, ast.BinOp) and isinstance(argument.op, ast.Div):
                left, right = self.expression(argument.left), self.expression(argument.right)
                return None if left is None or right is None else f"({left} / {right})"
            if name == "len":
                sides = self.sides(argument) or (self.shape(argument) or Shape(())).sides
                return sides[0] if sides else self._size(f"{ast.unparse(argument)}_0")
            if name in _VALUES or name in _FIT:
                return self.expression(argument)
        if name in ("min", "max") and node.args:
            shown = [self.expression(argument) for argument in node.args]
            return None if None in shown else f"{name}({', '.join(map(str, shown))})"
        return None

    def _attribute(self, node: ast.Attribute) -> str | None:
        if node.attr not in ("size", "nbytes"):
            return None
        shape = self.shape(node.value)
        if shape is not None and node.attr == "size":
            return f"({shape.count})"
        if shape is not None and shape.type:
            return f"(({shape.count}) * sizeof({shape.type}))"
        return self._size(f"{ast.unparse(node.value)}_{node.attr}") if isinstance(node.value, ast.Name) else None

    def sides(self, node: ast.expr) -> tuple[str, ...] | None:
        """A shape: a tuple, a variable that is one, or `x.shape`."""
        if isinstance(node, ast.Tuple | ast.List):
            found: list[str] = []
            for element in node.elts:
                if isinstance(element, ast.Starred):
                    found += self.sides(element.value) or ("",)
                else:
                    found.append(self.expression(element) or "")
            return tuple(found) if all(found) else None
        if isinstance(node, ast.Name) and node.id in self.tuples:
            return self.tuples[node.id]
        if isinstance(node, ast.Attribute) and node.attr == "shape":
            shape = self.shape(node.value)
            return None if shape is None else shape.sides
        return None

    # -- arrays ---------------------------------------------------------------------------------------

    def shape(self, node: ast.expr, depth: int = 0) -> Shape | None:
        """What is known of an array that an expression makes; None for what is none."""
        if depth > 8:
            return None
        if isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node) in self.arrays:
            return self.arrays[ast.unparse(node)]
        if isinstance(node, ast.BinOp):
            found = [self.shape(side, depth + 1) for side in (node.left, node.right)]
            return next(filter(None, found), None)
        if isinstance(node, ast.List | ast.Tuple) and depth:
            return _listed(node)
        return self._made(node, depth) if isinstance(node, ast.Call) else None

    def _made(self, node: ast.Call, depth: int) -> Shape | None:
        name, words = _last(node.func), {word.arg: word.value for word in node.keywords}
        base = node.func.value if isinstance(node.func, ast.Attribute) else None
        of_torch = isinstance(base, ast.Name) and base.id == "torch"
        usual = "float" if of_torch else "double"
        kind = self._type(words.get("dtype"))
        if name in _MAKES and (node.args or "shape" in words):
            sides = self._dimensions(words.get("shape", node.args[0] if node.args else None))
            given = node.args[1 + (name == "full")] if len(node.args) > 1 + (name == "full") and not of_torch else None
            kind = kind if "dtype" in words else self._type(given) if given is not None else usual
            return None if sides is None else Shape(sides, kind, "zeros" in name)
        if name in _LIKE and node.args:
            like = self.shape(node.args[0], depth + 1)
            return None if like is None else Shape(like.sides, kind or like.type, "zeros" in name)
        if name == "arange" and node.args:
            ends = [self.expression(argument) for argument in node.args[:2]]
            count = ends[0] if len(ends) == 1 else None if None in ends else f"({ends[1]} - {ends[0]})"
            usual = "double" if any(map(_is_real, node.args)) else "long long"
            return None if count is None else Shape((count,), kind or usual)
        if name == "linspace" and len(node.args) >= 3:
            points = self.expression(node.args[2])
            return None if points is None else Shape((points,), kind or "double")
        if name in _RANDOM and node.args:
            sides = self._dimensions(node.args[0] if of_torch and len(node.args) == 1 else ast.Tuple(elts=node.args))
            return None if sides is None else Shape(sides, kind or usual)
        if name in _SIZED and base is not None and (node.args or "size" in words):
            sides = self._dimensions(words.get("size", node.args[-1] if node.args else None))
            usual = "long long" if name in ("randint", "integers") else "double"
            return None if sides is None else Shape(sides, kind or usual)
        if name == "mem_alloc" and len(node.args) == 1:
            return self._allocated(node.args[0], depth)
        return self._changed(node, name, base, kind, depth)

    def _changed(self, node: ast.Call, name: str, base: ast.expr | None, kind: str, depth: int) -> Shape | None:
        """Another array with its elements."""
        inner = self.shape(base, depth + 1) if base is not None else None
        if inner is None and name in _SAME and node.args:
            found = self.shape(node.args[0], depth + 1)
            return None if found is None else Shape(found.sides, kind or found.type)
        if inner is None:
            return None
        if name in ("astype", "to") and node.args:
            return Shape(
                inner.sides, self._type(node.args[0]) or ("" if name == "astype" else inner.type), inner.is_zero
            )
        if name == "reshape" and node.args:
            sides = self._dimensions(node.args[0] if len(node.args) == 1 else ast.Tuple(elts=node.args))
            return (
                inner
                if sides is None or any("-1" in side for side in sides)
                else Shape(sides, inner.type, inner.is_zero)
            )
        return inner if name in _SAME else None

    def _allocated(self, size: ast.expr, depth: int) -> Shape | None:
        """`mem_alloc(x.nbytes)` is like `x`."""
        if isinstance(size, ast.Attribute) and size.attr == "nbytes":
            return self.shape(size.value, depth + 1)
        count = self.expression(size)
        return None if count is None else Shape((count,), "char")

    def _dimensions(self, node: ast.expr | None) -> tuple[str, ...] | None:
        if node is None:
            return None
        sides = self.sides(node)
        if sides is None and (one := self.expression(node)) is not None:
            sides = (one,)
        return sides

    def _type(self, node: ast.expr | None) -> str:
        if node is None:
            return ""
        if isinstance(node, ast.Attribute) and node.attr == "dtype":
            shape = self.shape(node.value)
            return shape.type if shape is not None else ""
        word = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else _last(node)
        return C_TYPES.get(word, "")

    # -- launches -------------------------------------------------------------------------------------

    def _call(self, call: ast.Call) -> None:
        launch = self._launch(call)
        if launch is not None:
            self._write(launch)
        elif isinstance(call.func, ast.Name) and not call.keywords and _is_plain(call):
            shown = [self._argument(argument, "") for argument in call.args]
            self.out.append(f"{call.func.id}({', '.join(shown)});")

    def _launch(self, call: ast.Call) -> PythonLaunch | None:
        prepared = isinstance(call.func, ast.Attribute) and call.func.attr in ("prepared_call", "prepared_async_call")
        func = call.func.value if prepared and isinstance(call.func, ast.Attribute) else call.func
        kernel = self.kernels.get(ast.unparse(func))
        if kernel is None or any(isinstance(argument, ast.Starred) for argument in call.args):
            return None
        words = {word.arg: word.value for word in call.keywords}
        if prepared:
            skipped = 3 if _last(call.func) == "prepared_async_call" else 2
            if len(call.args) < skipped:
                return None
            return PythonLaunch(
                kernel.name, call.args[0], call.args[1], words.get("shared_size"), tuple(call.args[skipped:])
            )
        if kernel.library == "PyCUDA":
            grid, block = words.get("grid"), words.get("block")
            return PythonLaunch(kernel.name, grid, block, words.get("shared"), tuple(call.args))
        given: list[ast.expr | None] = [*call.args[:4], *([None] * (4 - len(call.args)))]
        places = ("grid", "block", "args", "shared_mem")
        grid, block, passed, shared = (words.get(word, node) for word, node in zip(places, given, strict=False))
        if grid is None or block is None or not isinstance(passed, ast.Tuple | ast.List):
            passed = ast.Tuple(elts=[])
        return PythonLaunch(kernel.name, grid, block, shared, tuple(passed.elts))

    def _write(self, launch: PythonLaunch) -> None:
        types = self.types.get(launch.kernel.partition("<")[0], ())
        shown = [
            self._argument(argument, types[place] if place < len(types) else "")
            for place, argument in enumerate(launch.arguments)
        ]
        one = "dim3(1)" if launch.grid is None else self._dim3(launch.grid)
        shared = None if launch.shared is None else self.expression(launch.shared) or _unknown(launch.shared)
        inside = f"{one}, {self._dim3(launch.block)}{f', {shared}' if shared else ''}"
        self.out.append(f"{launch.kernel}<<<{inside}>>>({', '.join(shown)});")

    def _dim3(self, node: ast.expr | None) -> str:
        if isinstance(node, ast.Name) and node.id in self.tuples:
            return node.id if len(self.tuples[node.id]) <= 3 else _unknown(node)
        sides = self._dimensions(node)
        return f"dim3({', '.join(sides)})" if sides is not None and 1 <= len(sides) <= 3 else _unknown(node)

    def _argument(self, node: ast.expr, kind: str) -> str:
        """What is passed, with an array of its own where it is made in the call or its type is the kernel's to say."""
        while isinstance(node, ast.Attribute) and node.attr in ("data", "ptr", "gpudata"):
            node = node.value
        if isinstance(node, ast.Call) and _last(node.func) == "data_ptr" and isinstance(node.func, ast.Attribute):
            node = node.func.value
        if isinstance(node, ast.Call) and _last(node.func) in ("In", "Out", "InOut") and node.args:
            node = node.args[0]
        shape = self.shape(node)
        if shape is not None:
            plain = isinstance(node, ast.Name)
            name = node.id if isinstance(node, ast.Name) else f"python_{self._next()}"
            element = re.sub(r"\b(?:const|__restrict__|volatile)\b|\*", " ", kind).strip()
            if not shape.type and element:
                self._declare(name, Shape(shape.sides, element))
            elif not plain:
                self._declare(name, shape)
            return name
        if isinstance(node, ast.Name):
            return node.id
        return self.expression(node) or _unknown(node)

    def _next(self) -> int:
        self.temporary += 1
        return self.temporary


def _unknown(node: ast.expr | None) -> str:
    """A call of a function that nothing declares: what it gives is not known, and shown as it is."""
    return "python()" if node is None else f"python({ast.unparse(node)})"


def _listed(node: ast.List | ast.Tuple) -> Shape | None:
    """A literal array."""
    sides: list[str] = []
    inner: ast.expr = node
    while isinstance(inner, ast.List | ast.Tuple) and inner.elts:
        sides.append(str(len(inner.elts)))
        inner = inner.elts[0]
    if not isinstance(inner, ast.Constant):
        return None
    return Shape(tuple(sides), "double" if isinstance(inner.value, float) else "long long")


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Those of one function, inner blocks included, in order."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if isinstance(node, ast.ClassDef):
                yield from _statements([inner for inner in node.body if not isinstance(inner, ast.FunctionDef)])
            continue
        yield node
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(node, name, []))


def _calls(node: ast.stmt) -> list[ast.Call]:
    """Calls of one statement, without those of the statements in it."""
    inner = {id(below) for name in ("body", "orelse", "finalbody", "handlers") for part in getattr(node, name, [])
             for below in ast.walk(part)}  # fmt: skip
    found = [below for below in ast.walk(node) if isinstance(below, ast.Call) and id(below) not in inner]
    return sorted(found, key=lambda call: (call.lineno, call.col_offset))


def _is_plain(call: ast.Call) -> bool:
    """Whether a call may be one of a function of the file: no type, no built-in that is read elsewhere."""
    return _last(call.func) not in {*_VALUES, *_FIT, "len", "min", "max", "print", "range", "dim3"}


def _is_whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_real(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and _last(node.func) in ("float32", "float64", "float", "float16"):
        return True
    return any(isinstance(inner, ast.Constant) and isinstance(inner.value, float) for inner in ast.walk(node))
