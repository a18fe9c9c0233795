"""`porter explain` and `porter rules`: what each code means, with its examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from porter.buildfiles.registry import build_rule_by_name, build_rules
from porter.cpp.lex import lex
from porter.engine.dialect import Dialect, read_dialects
from porter.engine.notices import NOTICES, Notice, notice_by_name
from porter.engine.registry import all_rules, rule_by_name
from porter.engine.rule import Example, Explained
from porter.errors import Unusable
from porter.explain_name import alike, name_text, search_text
from porter.project.dialects import dialect_of
from porter.report.text import table
from porter.settings import load_choices
from porter.source import SourceFile
from porter.system.git import work_tree_root

SCHEMA = "porter-rules-1"


_DIALECTS = {
    Dialect.CUDA: "CUDA's: warps of 32 lanes; the port keeps that meaning on 64",
    Dialect.HIP: "HIP's: the lanes are those of the hardware; the port leaves the line as it is",
    Dialect.NVIDIA: "CUDA's, in a header that is only included where no port compiles it: the port leaves it as it is",
    Dialect.BOTH: "undecided: nothing tells whose it is, so it is ported as CUDA's; `dialect` in porter.toml decides",
}


def place_of(text: str) -> tuple[Path, int] | None:
    """`src/a.cu:12` as a file that is there and a line."""
    name, _, number = text.rpartition(":")
    return (Path(name), int(number)) if number.isdecimal() and Path(name).is_file() else None


def line_text(path: Path, line: int) -> str:
    """Whose meaning a line of a file has, and what says so."""
    choices = load_choices(path)
    root = Path(choices.origin).parent if choices.origin else work_tree_root(path.parent) or path.parent
    source = SourceFile(path.name, path.read_bytes())
    if source.problem is not None or not 1 <= line <= source.line_count:
        raise Unusable(f"{path}:{line}: {source.problem or f'the file has {source.line_count} lines'}")
    told = dialect_of(root, path, choices)
    meaning = read_dialects(path.name, lex(source.text), told, choices.defines).at(source.line_start(line))
    lanes = " or ".join(map(str, sorted(meaning.lanes, reverse=True)))
    parts = [f"{path}:{line}: {source.line_text(line).strip()}", f"  {_DIALECTS[meaning.dialect]}"]
    parts += [f"  lanes per wavefront here: {lanes}"] if meaning.dialect is Dialect.HIP and lanes else []
    parts.append(f"  decided by: {meaning.condition or f'the file as a whole ({told.value})'}")
    parts += [] if meaning.compiled else ["  the port never compiles it"]
    return "\n".join(parts) + "\n"


def explanation(name: str) -> str:
    """All about a code, a rule's name or a name of CUDA's, or what has the words; Unusable when nothing has."""
    rule: Explained | None = rule_by_name(name) or build_rule_by_name(name)
    if rule is not None:
        return _rule_text(rule)
    notice = notice_by_name(name)
    if notice is not None:
        return f"{notice.code} {notice.name} ({notice.effort.value})\n\n{notice.title}\n\n{notice.explanation}\n"
    found = name_text(name) or search_text(name)
    if found is not None:
        return found
    close = alike(name)
    hint = f"; did you mean {', '.join(close)}?" if close else ""
    raise Unusable(f"no rule and no name of CUDA's is or has {name!r}{hint}; `porter rules` lists the rules")


def _rule_text(rule: Explained) -> str:
    parts = [f"{rule.code} {rule.name} (group {rule.group})", rule.explanation]
    parts += [_example_text(example) for example in rule.examples]
    if rule.hazards:
        parts.append("Hazards covered: " + ", ".join(rule.hazards))
    parts.append(
        f"Suppress one finding with a comment `// porter: allow[{rule.code}] reason` on its line or the line before,\n"
        f'or the rule with `disable = ["{rule.code}"]` in porter.toml.'
    )
    return "\n\n".join(parts) + "\n"


def _example_text(example: Example) -> str:
    if example.todo is not None:
        return f"Not found yet ({example.todo}):\n{_indented(example.before)}"
    if example.effort is None:
        return f"Nothing to report:\n{_indented(example.before)}"
    if example.after == example.before:
        return f"Reported ({example.effort.value}):\n{_indented(example.before)}"
    return (
        f"Rewritten ({example.effort.value}):\n{_indented(example.before)}\nbecomes\n{_indented(example.after or '')}"
    )


def _indented(text: str) -> str:
    return "\n".join("    " + line if line else "" for line in text.splitlines())


def rules_text() -> str:
    """One line per rule and per finding that no rule makes."""
    rows = [(rule.code, rule.name, rule.group, rule.title) for rule in (*all_rules(), *build_rules())]
    rows += [(notice.code, notice.name, "-", notice.title) for notice in NOTICES]
    return "\n".join(table(("code", "name", "group", "what"), sorted(rows))) + "\n"


def rules_json() -> str:
    """All rules as JSON."""
    rules = [_rule_json(rule) for rule in (*all_rules(), *build_rules())] + [_notice_json(notice) for notice in NOTICES]
    document = {"schema": SCHEMA, "rules": sorted(rules, key=lambda rule: str(rule["code"]))}
    return json.dumps(document, indent=1) + "\n"


def _rule_json(rule: Explained) -> dict[str, Any]:
    return {
        "code": rule.code,
        "name": rule.name,
        "group": rule.group,
        "title": rule.title,
        "explanation": rule.explanation,
        "hazards": list(rule.hazards),
    }


def _notice_json(notice: Notice) -> dict[str, Any]:
    return {
        "code": notice.code,
        "name": notice.name,
        "group": None,
        "title": notice.title,
        "explanation": notice.explanation,
        "hazards": [],
    }
