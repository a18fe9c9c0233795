"""Text that came from the code under check, made harmless for each place that it is shown in."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from urllib.parse import quote

from porter.check.result import Checked

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_STEERING = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LONGEST = 1000


def plain(text: str) -> str:
    """One line without characters that turn text around or hide it, cut where it is endless."""
    shown = _STEERING.sub(lambda match: f"\\u{ord(match[0]):04x}", text.replace("\n", " ").replace("\t", " "))
    shown = shown.encode("utf-8", "backslashreplace").decode()
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}... ({len(shown) - _LONGEST:,} more characters)"


def xml_text(text: str) -> str:
    """Only what XML 1.0 can hold."""
    return _NOT_XML.sub("\ufffd", text)


def uri(path: str) -> str:
    """A relative path as a URI reference, whatever bytes it has."""
    return quote(os.fsencode(path))


def fingerprints(findings: Iterable[Checked]) -> Iterator[tuple[Checked, str]]:
    """Each finding with a fingerprint that no other has and that does not depend on its line."""
    seen: Counter[tuple[str | None, ...]] = Counter()
    for finding in findings:
        key = (finding.path, finding.kernel, finding.code, finding.name, finding.context)
        seen[key] += 1
        text = "\0".join([*(part or "" for part in key), str(seen[key])])
        yield finding, hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:40]
