"""git, asked so that nothing in the repository decides what runs.

git takes from a repository's configuration the programs for filters, differences, hooks, monitors and transports, and
finds its configuration in any folder that looks like a repository. So it never sees that configuration: it works in a
folder of ours, whose `config` holds a few harmless keys and whose objects and references are those of the repository.
The index is a copy. The user's own settings count only in the same few keys.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from porter.errors import Unusable
from porter.system.process import Completed, run
from porter.system.programs import absolute_path

_SETTINGS = re.compile(
    rb"core\.(?:autocrlf|eol|filemode|ignorecase|precomposeunicode|protecthfs|protectntfs|quotepath|symlinks"
    rb"|trustctime|checkstat)|extensions\.(?:objectformat|refstorage)|branch\..*\.(?:merge|remote)|remote\..*\.fetch",
    re.DOTALL,
)
"""What a configuration may tell us: how files are named and written, and which branch follows which."""
_VERBATIM = ("HEAD", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD")
_LINKED = ("refs", "packed-refs", "reftable", "shallow")
_LARGEST_REFERENCE = 1 << 20
_LARGEST_READ = 1 << 30
_UNCOPIED = ("GIT_", "SSH_ASKPASS", "EDITOR", "VISUAL", "PAGER", "HOME", "XDG_CONFIG_HOME", "PATH")


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository seen through a folder of ours; `work_tree` is the folder that its `.git` stands in."""

    work_tree: Path
    clean: Path
    """Our folder, which git takes for the repository's own."""
    is_sparse: bool
    """Whether files may be left out of the work tree by a setting."""

    def run(self, *arguments: str, folder: Path | None = None, given: bytes = b"") -> Completed:
        """A git command, at a folder of the work tree."""
        command, environment = ["git", *arguments], self._environment()
        return run(command, folder or self.work_tree, given=given, environment=environment, doubts=self._why_stuck)

    def _why_stuck(self) -> str | None:
        """git reads what stands under the names that it knows, and waits for ever on a pipe."""
        found = next(_odd_files(self.work_tree, self.clean), None)
        if found is None:
            return None
        _stuck[self.work_tree] = found
        return f"{found}: no regular file, and git would read it"

    def answer(self, *arguments: str, folder: Path | None = None, given: bytes = b"") -> bytes:
        """What a git command prints; Unusable when it fails."""
        done = self.run(*arguments, folder=folder, given=given)
        if not done.ok:
            reason = done.stderr.decode(errors="replace").strip()
            raise Unusable(f"{folder or self.work_tree}: git {arguments[0]} failed: {reason}")
        return done.stdout

    def _environment(self) -> dict[str, str]:
        return _environment(self.clean) | {
            "GIT_DIR": str(self.clean),
            "GIT_WORK_TREE": str(self.work_tree),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "HOME": str(self.clean),
            "XDG_CONFIG_HOME": str(self.clean),
        }


_stuck: dict[Path, Path] = {}
"""Repositories that git did not get through, and the file that it waited for."""


def _is_odd(path: str | os.PathLike[str]) -> bool:
    """Whether something is neither a file nor a folder: a pipe, a socket, a device."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - there are thousands
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _odd_files(work_tree: Path, clean: Path) -> Iterator[Path]:
    """What git may read and is neither a file nor a folder."""
    for place, folders, files in os.walk(work_tree):
        if ".git" in folders:
            folders.remove(".git")
        yield from (Path(place, name) for name in _READ_ANYWHERE.intersection(files) if _is_odd(Path(place, name)))
    seen: set[str] = set()
    places = (clean, *_alternates(clean / "objects"))
    for place, folders, files in itertools.chain.from_iterable(os.walk(one, followlinks=True) for one in places):
        folders[:] = [name for name in folders if os.path.realpath(f"{place}/{name}") not in seen]
        seen |= {os.path.realpath(f"{place}/{name}") for name in folders}
        yield from (Path(place, name).resolve() for name in files if _is_odd(os.path.join(place, name)))  # noqa: PTH118


def _alternates(objects: Path) -> list[Path]:
    """The folders of objects that this one borrows from, and those that these borrow from."""
    found, waiting = [objects], [objects]
    while waiting and len(found) < _MOST_ALTERNATES:
        here = waiting.pop()
        for line in _short(here / "info" / "alternates").split(b"\n"):
            place = Path(os.path.realpath(here), os.fsdecode(line))
            if line and not line.startswith(b"#") and place not in found:
                found.append(place)
                waiting.append(place)
    return found[1:]


_MOST_ALTERNATES = 64
_READ_ANYWHERE = frozenset({".gitignore", ".gitattributes"})


def _environment(clean: Path) -> dict[str, str]:
    """Ours without what steers git."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_UNCOPIED)}
    return kept | {
        "PATH": absolute_path(os.environ.get("PATH", os.defpath)),
        "GIT_CEILING_DIRECTORIES": str(clean.parent),
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOC_LIMIT": "1g",
    }


def work_tree_root(folder: Path) -> Path | None:
    """The top of the git work tree around a folder."""
    return next((place for place in _upwards(folder) if _git_folder(place) is not None), None)


def in_work_tree(folder: Path) -> bool:
    """Whether a folder lies in a git work tree."""
    return work_tree_root(folder) is not None


def _upwards(folder: Path) -> tuple[Path, ...]:
    real = Path(os.path.realpath(folder))
    return (real, *real.parents)


def _git_folder(place: Path) -> Path | None:
    """The folder that holds the index and HEAD of a work tree, be it `.git` or named by a file `.git`."""
    found = place / ".git"
    if os.path.isfile(found):  # noqa: PTH113 - False for any odd name
        text = _short(found)
        if not text.startswith(b"gitdir: "):
            return None
        found = place / os.fsdecode(text[len(b"gitdir: ") :].rstrip(b"\r\n"))
    has_head = os.path.isfile(found / "HEAD")  # noqa: PTH113
    return found if has_head and os.path.isdir(_common_folder(found) / "objects") else None  # noqa: PTH112


def _common_folder(git_folder: Path) -> Path:
    """Where the objects and references are; of a linked work tree that is elsewhere."""
    text = _short(git_folder / "commondir")
    return git_folder / os.fsdecode(text.rstrip(b"\r\n")) if text else git_folder


def _short(path: Path) -> bytes:
    """The content of a small regular file; empty when there is none."""
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST_REFERENCE:
            return b""
        return path.read_bytes()
    except (OSError, ValueError):
        return b""


@contextlib.contextmanager
def repository(folder: Path) -> Iterator[Repository]:
    """The repository of a folder in a work tree; Unusable when there is none."""
    root = work_tree_root(folder)
    found = _git_folder(root) if root is not None else None
    if root is None or found is None:
        raise Unusable(f"{folder}: not in a git work tree")
    if root in _stuck and _is_odd(_stuck[root]):
        raise Unusable(f"{_stuck[root]}: no regular file, and git would read it")
    with tempfile.TemporaryDirectory(prefix="porter-git-") as made:
        clean = Path(made)
        try:
            _fill(clean, found, _common_folder(found))
        except OSError as error:
            raise Unusable(f"{root}: git cannot be asked: {error.filename}: {error.strerror}") from None
        yield Repository(root, clean, _is_sparse(found, _common_folder(found)))


def _is_sparse(found: Path, common: Path) -> bool:
    texts = (_short(common / "config"), _short(found / "config.worktree"), _short(common / "config.worktree"))
    return any(b"sparse" in text.lower() for text in texts)


def _fill(clean: Path, found: Path, common: Path) -> None:
    """Objects and references as links, the index as a copy, a configuration of our own."""
    for name in _VERBATIM:
        if text := _short(found / name):
            (clean / name).write_bytes(text)
    (clean / "objects").symlink_to(os.path.realpath(common / "objects"))
    for path in (common / "packed-refs", common / "shallow", common / "objects" / "info" / "alternates"):
        _refuse_large(path)
    for name in _LINKED:
        if (common / name).exists():
            (clean / name).symlink_to(os.path.realpath(common / name))
    if not (clean / "refs").exists():
        (clean / "refs").mkdir()
    _link_logs(clean, found, common)
    (clean / "info").mkdir()
    (clean / "info" / "exclude").write_bytes(_short(common / "info" / "exclude"))
    for index in (found / "index", *found.glob("sharedindex.*")):
        if index.is_file():
            _refuse_large(index)
            shutil.copy2(index, clean / index.name)  # with its time, which tells git what may have changed since
    _write_config(clean, common)


def _refuse_large(path: Path) -> None:
    """What git would read whole."""
    if path.is_file() and path.stat().st_size > _LARGEST_READ:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))


def _link_logs(clean: Path, found: Path, common: Path) -> None:
    (clean / "logs").mkdir()
    for name, place in (("HEAD", found), ("refs", common)):
        if (place / "logs" / name).exists():
            (clean / "logs" / name).symlink_to(os.path.realpath(place / "logs" / name))


def _write_config(clean: Path, common: Path) -> None:
    """The harmless keys of the user's configuration, and over them those of the repository's."""
    own = _environment(clean)
    users = {**own, **{name: os.environ[name] for name in ("HOME", "XDG_CONFIG_HOME") if name in os.environ}}
    listing = ("config", "-z", "--includes")
    told = _listed_of_user(clean, users, (*listing, "--global", "--list"))
    theirs = b""
    if (common / "config").is_file():
        told_by = ("config", "-z", "--no-includes", "-f", str(common / "config"), "--list")
        theirs = _listed(clean, own, told_by, (_short(common / "config"),))
    ignores = b""
    if b"core.excludesfile\n" in told:
        wanted = ["git", *listing, "--global", "--type=path", "--get", "core.excludesFile"]
        ignores = run(wanted, clean, environment=users).stdout.rstrip(bytes(1))
    lines = ["[core]\n\trepositoryformatversion = 1\n\tbare = false\n"]
    lines += [f"\texcludesFile = {_quoted(ignores or _usual_ignores())}\n"]
    lines += [_setting(key, value) for key, value in _settings(told) + _settings(theirs)]
    (clean / "config").write_text("".join(lines), "utf-8", "surrogateescape")


_lists: dict[tuple[str | bytes, ...], bytes] = {}
"""What git read in configurations, by their content and that of nothing else."""


def _listed(clean: Path, environment: Mapping[str, str], command: tuple[str, ...], texts: tuple[bytes, ...]) -> bytes:
    """What git lists of a configuration; it is asked again only where there is another text, for a process takes longer
    than most questions. A text that names other files, or is too large to look at, does not tell."""
    key: tuple[str | bytes, ...] = (environment["PATH"], *texts)
    if key in _lists:
        return _lists[key]
    done = run(["git", *command], clean, environment=environment)
    if done.ok and all(texts) and not any(b"include" in text.lower() for text in texts):
        _lists[key] = done.stdout
    return done.stdout


def _listed_of_user(clean: Path, environment: Mapping[str, str], command: tuple[str, ...]) -> bytes:
    """The same of the user's own, which may lie at two places; without any there is nothing to list."""
    home = environment.get("HOME", "")
    found = [Path(home, ".gitconfig"), Path(environment.get("XDG_CONFIG_HOME") or Path(home, ".config"), "git/config")]
    there = [path for path in found if os.path.lexists(path)]
    if home and not there:
        return b""
    return _listed(clean, environment, command, tuple(_short(path) for path in there))


def _usual_ignores() -> bytes:
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111
    return os.fsencode(os.path.join(folder, "git", "ignore"))  # noqa: PTH118


def _settings(listed: bytes) -> list[tuple[bytes, bytes]]:
    pairs = (row.partition(b"\n") for row in listed.split(b"\0") if row)
    return [(key, value if newline else b"true") for key, newline, value in pairs if _SETTINGS.fullmatch(key)]


def _setting(key: bytes, value: bytes) -> str:
    section, _, rest = key.partition(b".")
    middle, dot, name = rest.rpartition(b".")
    below = f" {_quoted(middle)}" if dot else ""
    return f"[{section.decode()}{below}]\n\t{name.decode()} = {_quoted(value)}\n"


def _quoted(value: bytes) -> str:
    text = os.fsdecode(value).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + text.replace("\n", "\\n") + '"'


def ignored(folder: Path) -> frozenset[str] | None:
    """Untracked paths below a folder that git ignores, folders without their content; None: git did not answer."""
    options = ("-z", "--others", "--ignored", "--exclude-standard", "--directory")
    try:
        with repository(folder) as git:
            listed = git.answer("ls-files", *options, folder=folder)
    except Unusable:
        return None
    paths = {os.fsdecode(path).rstrip("/") for path in listed.split(b"\0") if path}
    return frozenset() if paths & {".", ""} else frozenset(paths)


def ignores(folder: Path, place: Path) -> bool:
    """Whether git would ignore a folder below another one, be it there or not."""
    try:
        with repository(folder) as git:
            return git.run("check-ignore", "--quiet", f"{place}/", folder=folder).ok
    except Unusable:
        return False


def why_not_clean(path: Path) -> str | None:
    """Why the files at a path cannot be changed in place; None when git could bring all of them back."""
    return _why_not_clean(path, set())


def _why_not_clean(path: Path, seen: set[str]) -> str | None:
    """`seen` are the submodules that were asked already: a link can make one its own."""
    folder = path if path.is_dir() else path.parent
    if not in_work_tree(folder):
        return "it is not in a git work tree"
    real = os.path.realpath(path)
    options = ("--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=all", "--no-renames")
    try:
        with repository(folder) as git:
            status = git.answer("--literal-pathspecs", "status", *options, "--", real, folder=folder)
            tracked = git.answer("--literal-pathspecs", "ls-files", "-z", "--stage", "--", real, folder=git.work_tree)
            modules = [git.work_tree / os.fsdecode(line.partition(b"\t")[2]) for line in tracked.split(b"\0")
                       if line.startswith(b"160000 ")]  # fmt: skip
    except Unusable as error:
        return f"git does not answer: {error}"
    changed = [os.fsdecode(line[3:]) for line in status.split(b"\0") if line]
    if changed:
        return f"git has uncommitted changes there: {changed[0]}"
    return next(filter(None, (_why_module_not_clean(module, seen) for module in modules)), None)


def _why_module_not_clean(module: Path, seen: set[str]) -> str | None:
    """A submodule is a repository of its own; git itself would look at it with that one's configuration."""
    real = os.path.realpath(module)
    if real in seen or _git_folder(module) is None:
        return None
    seen.add(real)
    return _why_not_clean(module, seen)


def commit_of(folder: Path) -> str:
    """The commit that a folder is at, shortened; empty where git does not know one."""
    if not in_work_tree(folder):
        return ""
    try:
        with repository(folder) as git:
            return git.answer("rev-parse", "--short=12", "HEAD").decode("ascii", "replace").strip()
    except Unusable:
        return ""
