"""Which sources a build gives to AMD's compiler alone, as its lists and the conditions around them say."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from porter.buildfiles.listed_cmake import cmake_mentions
from porter.buildfiles.listed_python import python_mentions
from porter.buildfiles.vendor import Answer

_MENTIONS_AMD = re.compile(rb"hip|rocm|amdgpu", re.IGNORECASE)
_CUDA_SUFFIXES = (".cu", ".cuh")


class Mention(NamedTuple):
    """A source, or a pattern of them, in a list of a build file."""

    text: str
    where: Answer


def listed_for_amd(files: Iterable[tuple[str, bytes]], known: Collection[str]) -> frozenset[str]:
    """The sources that are listed for AMD, and nowhere for anyone else; a pattern is no list of CUDA's files."""
    files = tuple(files)
    if not any(mentions_amd(data) for _, data in files):
        return frozenset()
    ours: set[str] = set()
    others: set[str] = set()
    for path, data in files:
        for mention in _mentions(path, data):
            target = ours if mention.where.is_amds else others
            target.update(_meant(path.rpartition("/")[0], mention, known))
    return frozenset(ours - others)


def mentions_amd(data: bytes) -> bool:
    """Whether a build file can say anything of AMD."""
    return _MENTIONS_AMD.search(data) is not None


def _mentions(path: str, data: bytes) -> Iterator[Mention]:
    found = python_mentions(data) if path.endswith(".py") else cmake_mentions(data)
    return (Mention(text, where) for text, where in found)


def _meant(folder: str, mention: Mention, known: Collection[str]) -> Iterator[str]:
    """The files of the project that a text names, seen from the build file or from the root."""
    text = mention.text.removeprefix("./").lstrip("/")
    wanted = (f"{folder}/{text}".lstrip("/"), text)
    if "*" not in text:
        yield from (one for one in wanted if one in known)
    elif "." in text.rpartition("/")[2]:
        sure = mention.where.is_amds
        fits = re.compile("|".join(f"(?:{fnmatch.translate(one)})" for one in wanted)).match
        for path in known:
            if fits(path) and not (sure and path.endswith(_CUDA_SUFFIXES)):
                yield path
