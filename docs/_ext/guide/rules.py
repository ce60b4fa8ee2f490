"""The rules of a style sheet, with its imports, and which of them can apply to elements with certain classes."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import tinycss2
from sphinx.errors import ExtensionError

Node = Any  # tinycss2 has no types
GROUPS = ("media", "supports")  # at-rules with rules in them, each of which may apply or not


def read_rules(path: Path, folder: Path) -> Iterator[Node]:
    """The rules of a sheet and of those that it imports, for a sheet in `folder`: addresses in them are relative.

    Raises ExtensionError for an import that cannot be replaced by the rules of a file.
    """
    text = path.read_text(encoding="utf-8")
    for rule in tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True):
        name = rule.at_keyword if rule.type == "at-rule" else ""
        if rule.type == "error":
            raise ExtensionError(f"{path}:{rule.source_line}: {rule.message}")
        if name == "import":
            yield from read_rules(path.parent / imported(rule, path), folder)
        elif name != "charset":
            move_addresses(rule.content or [], path.parent, folder)
            yield rule


def imported(rule: Node, path: Path) -> str:
    """The file that an `@import` names."""
    tokens = [token for token in rule.prelude if token.type != "whitespace"]
    if len(tokens) != 1 or tokens[0].type not in ("string", "url") or ":" in tokens[0].value:
        text = tinycss2.serialize(rule.prelude).strip()
        raise ExtensionError(f"{path}:{rule.source_line}: cannot bundle `@import {text}`: write the name of a file")
    return str(tokens[0].value)


def move_addresses(tokens: Iterable[Node], old: Path, new: Path) -> None:
    """Change addresses of files relative to the folder `old` into those relative to `new`."""
    for token in tokens:
        quoted = token.type == "function" and token.lower_name == "url"
        for address in token.arguments if quoted else [token] if token.type == "url" else []:
            if ":" not in address.value and not address.value.startswith(("#", "/")):
                address.value = os.path.relpath(old / address.value, new)
                address.representation = f'"{address.value}"' if quoted else f"url({address.value})"
        if not quoted:
            inner = getattr(token, "content", None) or getattr(token, "arguments", None) or []
            move_addresses(inner, old, new)


def used_rules(rules: Iterable[Node], known: Callable[[str], bool]) -> str:
    """The text of the rules that can apply to elements whose classes are all `known`."""
    return "\n".join(filter(None, (used_rule(rule, known) for rule in rules)))


def used_rule(rule: Node, known: Callable[[str], bool]) -> str:
    """A rule with those of its selectors that can apply, or nothing."""
    if rule.type == "at-rule" and rule.lower_at_keyword in GROUPS:
        inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
        text = used_rules(inner, known)
        return f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{text}}}" if text else ""
    if rule.type != "qualified-rule":
        return str(rule.serialize())
    commas = itertools.groupby(rule.prelude, lambda token: token == ",")
    selectors = [list(tokens) for comma, tokens in commas if not comma]
    used = [tinycss2.serialize(each).strip() for each in selectors if can_apply(each, known)]
    return f"{','.join(used)}{{{tinycss2.serialize(rule.content).strip()}}}" if used else ""


def can_apply(selector: list[Node], known: Callable[[str], bool]) -> bool:
    """Whether all classes of a selector are known; those inside `:not(…)`, `:is(…)` and the like are not asked for."""
    pairs = itertools.pairwise(selector)
    return all(known(name.value) for dot, name in pairs if dot == "." and name.type == "ident")
