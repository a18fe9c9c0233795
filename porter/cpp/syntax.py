"""C++ as rules read it: tokens, brackets, conditionals, expressions and statements, constants. All in one import."""

from __future__ import annotations

from porter.cpp.brackets import closing, closing_angle, split_commas, template_end, template_start, words
from porter.cpp.conditionals import OPENS, Group, Groups, find_groups, group_at, knows_hip
from porter.cpp.constants import WARP, Constants, Macro, looks_like_warp_size, number
from porter.cpp.headers import headers_of
from porter.cpp.heads import Head, find_heads
from porter.cpp.kept_tokens import tokens_of
from porter.cpp.lex import IDENTIFIER, NUMBER, STRING, Directive, Include, Tokens, lex
from porter.cpp.nodes import EMPTY, Node, calls, unwrapped
from porter.cpp.postfix import chain_start
from porter.cpp.printing import is_printed
from porter.cpp.statements import parse_expression

__all__ = [
    "EMPTY",
    "IDENTIFIER",
    "NUMBER",
    "OPENS",
    "STRING",
    "WARP",
    "Constants",
    "Directive",
    "Group",
    "Groups",
    "Head",
    "Include",
    "Macro",
    "Node",
    "Tokens",
    "calls",
    "chain_start",
    "closing",
    "closing_angle",
    "find_groups",
    "find_heads",
    "group_at",
    "headers_of",
    "is_printed",
    "knows_hip",
    "lex",
    "looks_like_warp_size",
    "number",
    "parse_expression",
    "split_commas",
    "template_end",
    "template_start",
    "tokens_of",
    "unwrapped",
    "words",
]
