"""Inline assembly and what becomes of it: what rules about it import."""

from __future__ import annotations

from porter.warp.ptx.asm_macros import statements
from porter.warp.ptx.chains import continues
from porter.warp.ptx.foreign import advice, is_foreign, slug
from porter.warp.ptx.table import translate
from porter.warp.ptx.template import Unknown, opcodes

__all__ = ["Unknown", "advice", "continues", "is_foreign", "opcodes", "slug", "statements", "translate"]
