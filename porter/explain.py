"""`porter explain` and `porter rules`: what each code means, with its examples."""

from __future__ import annotations

import json
from typing import Any

from porter.buildfiles.registry import build_rule_by_name, build_rules
from porter.errors import Unusable
from porter.notices import NOTICES, Notice, notice_by_name
from porter.registry import all_rules, rule_by_name
from porter.report.text import table
from porter.rule import Example, Explained

SCHEMA = "porter-rules-1"


def explanation(name: str) -> str:
    """Everything known about a code or a rule's name; Unusable when nobody knows it."""
    rule: Explained | None = rule_by_name(name) or build_rule_by_name(name)
    if rule is not None:
        return _rule_text(rule)
    notice = notice_by_name(name)
    if notice is not None:
        return f"{notice.code} {notice.name} ({notice.effort.value})\n\n{notice.title}\n\n{notice.explanation}\n"
    raise Unusable(f"no rule has the code or name {name!r}; `porter rules` lists them")


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
