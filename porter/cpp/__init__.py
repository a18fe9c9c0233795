"""The one reader of C++: tokens, brackets, heads, statements and expressions, constants, conditionals, includes."""
