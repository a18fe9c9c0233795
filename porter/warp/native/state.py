"""What a walk over a kernel keeps: meanings of variables, guards, edits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from porter.cpp.nodes import Node
from porter.engine.edits import apply
from porter.model import Edit
from porter.warp.bodies import Bodies
from porter.warp.function import Function
from porter.warp.native.kinds import Kind, Undecided


@dataclass
class Shared:
    """A shared array: its bound, and what its elements are once that is known."""

    node: Node
    bound: Node | None
    kind: Kind = Kind.DATA
    by_lane: bool = False
    """Whether lanes index it, so that it needs 64 elements."""
    operation: str = ""
    """How the lanes' values became the element of a warp."""
    filler: Node | None = None
    """What stands where no warp has written."""
    type_words: frozenset[str] = frozenset()
    """The words of its elements' type, as far as they are in sight."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How threads number lanes and warps: `line`: threadIdx.x counts on; `row`: threadIdx.x is the lane."""

    form: str
    threads: int | None
    """Threads per block where that is one constant."""
    names: frozenset[str] = frozenset()
    """Names that stand for the number of threads per block."""
    part: bool = False
    """Whether a block may have an odd number of warps, so that its last wavefront is half empty."""


@dataclass
class Plan:
    """What one walk collected."""

    bodies: Bodies
    shape: Shape
    edits: dict[tuple[int, int], str] = field(default_factory=dict)
    functions: dict[int, Function] = field(default_factory=dict)
    shared: dict[str, Shared] = field(default_factory=dict)
    item: bool = False
    """Whether a warp works on an item of its own."""
    loops_over_items: bool = False
    """Whether each warp goes on to further items until none is left."""
    thread_memory: bool = False
    """Whether memory is indexed by thread."""
    exchanges: bool = False
    """Whether it needs whole wavefronts: shuffles read lanes, or the warps of a block are counted."""
    rows_per_block: list[Node] = field(default_factory=list)
    """What a block number is multiplied by to give its first item."""
    factors: dict[int, Node] = field(default_factory=dict)
    distances: set[int] = field(default_factory=set)
    """Tokens of distances in unrolled trees."""
    copies: list[tuple[int, int, int, tuple[int, int], str]] = field(default_factory=list)
    """Statements to write once more: where, from, to, the distance that becomes 32, and what goes in front."""
    unlike: Node | None = None
    """Where lanes meet whose parts of an item were gathered in another way."""
    bare: Node | None = None
    """A 32 that was left as it is: right for threads, but perhaps not where warps have items."""
    widths: dict[int, frozenset[str]] = field(default_factory=dict)
    """By the beginning of a helper, its template parameters that are the width."""
    constants: set[str] = field(default_factory=set)
    """Named widths that were replaced."""
    calls: dict[int, str] = field(default_factory=dict)
    """Tokens that name a helper where it is called."""

    def replace(self, node: Node, text: str) -> None:
        """Notes an edit; two different ones in one place cannot be."""
        tokens = self.bodies.tokens
        self.put(tokens.starts[node.first], tokens.end(node.last), text, node)

    def put(self, start: int, end: int, text: str, node: Node) -> None:
        """Notes an edit of a byte range."""
        known = self.edits.setdefault((start, end), text)
        if known != text:
            raise Undecided(node, "has two meanings")

    def ordered(self) -> tuple[Edit, ...]:
        """The edits in order, the copies of statements among them."""
        edits = [Edit(start, end, text) for (start, end), text in self.edits.items()]
        edits += [self._copy(edits, *copy) for copy in self.copies]
        return tuple(sorted(edits))

    def _copy(self, edits: list[Edit], place: int, start: int, end: int, distance: tuple[int, int], front: str) -> Edit:
        """A statement as it is after the edits, with the distance 32."""
        text = self.bodies.tokens.text
        inside = [e for e in edits if start <= e.start and e.end <= end and (e.start, e.end) != distance]
        moved = [Edit(e.start - start, e.end - start, e.text) for e in inside]
        moved.append(Edit(distance[0] - start, distance[1] - start, "32"))
        return Edit(place, place, f"{front}{apply(text[start:end], moved)} ")


@dataclass
class Scope:
    """Meanings of the variables of one function, and the guards around a statement."""

    function: Function
    kinds: dict[str, Kind]
    declared: dict[str, Node] = field(default_factory=dict)
    """Declarations of the variables: the statement that holds the type."""
    locals: set[str] = field(default_factory=set)
    """Arrays in registers."""
    operations: dict[str, str] = field(default_factory=dict)
    """How a variable was gathered: `add`, `max`, or the text of the tree."""
    guards: tuple[str, ...] = ()
    tree: frozenset[str] = frozenset()
    """Distances of the tree loop that we are in."""
    exited: bool = False
    """Whether some lanes of a warp have returned."""
    returns: list[Kind] = field(default_factory=list)
    functors: dict[str, str] = field(default_factory=dict)
    """What the parameters by which values are combined stand for, as the kernel wrote it."""

    widths: frozenset[str] = frozenset()
    """Template parameters that are the width."""
    pointees: set[str] = field(default_factory=set)
    """Parameters that point to a variable of the caller."""
    parts: dict[str, str] = field(default_factory=dict)
    """How each lane gathered a variable from the places of an item that are its own."""
    starts: dict[str, Node] = field(default_factory=dict)
    """What variables begin with."""
    strided: frozenset[str] | None = None
    """The variables that a loop over a lane's places of an item goes on with, where we are in one."""

    @property
    def is_first_thread(self) -> bool:
        """Whether only the first thread of a block comes here."""
        return "tid0" in self.guards or {"warp0", "lane0"} <= set(self.guards)

    @property
    def is_one_lane(self) -> bool:
        """Whether one lane of each warp comes here, and not only that of the first."""
        return bool({"lane0", "last", "leader"} & set(self.guards)) and not {"tid0", "warp0"} & set(self.guards)

    def copy(self, *guards: str) -> Scope:
        """The scope of a branch."""
        return Scope(
            self.function,
            dict(self.kinds),
            self.declared,
            self.locals,
            self.operations,
            (*self.guards, *guards),
            self.tree,
            self.exited,
            self.returns,
            self.functors,
            self.widths,
            self.pointees,
            self.parts,
            self.starts,
            self.strided,
        )


class Gathered(Protocol):
    """What is known of how values were gathered."""

    plan: Plan
    returned: dict[str, str]
    """How each helper's result was gathered."""


class FollowsCalls(Protocol):
    """The part of the walk that knows CUDA's functions, as expressions need it."""

    def call(self, node: Node, scope: Scope) -> Kind:
        """The meaning of a call's result."""


class FollowsConditions(Protocol):
    """The part of the walk that knows conditions, as expressions need it."""

    def condition(self, node: Node, scope: Scope) -> tuple[str, ...]:
        """The guards that a condition puts around what follows."""

    def is_one_warp(self, node: Node) -> bool:
        """Whether a condition says that the block is one warp."""


class FollowsAssignments(Protocol):
    """The part of the walk that knows what is written where, as expressions need it."""

    def assigned(self, node: Node, scope: Scope) -> Kind:
        """`target = source` and its relatives."""

    def shared_element(self, node: Node, name: str, scope: Scope) -> Kind:
        """What an element of a shared array is."""


class FollowsStatements(Protocol):
    """The walk over statements, as calls need it."""

    def function(self, scope: Scope) -> None:
        """The body of the function of a scope."""

    def widen_type(self, node: Node, name: str, scope: Scope) -> None:
        """A variable that holds a bit per lane needs 64 bits."""
