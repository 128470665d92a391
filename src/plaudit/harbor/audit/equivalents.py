"""Other ways to write the same file: a verifier that judges behaviour pays them too."""

import ast
import json
import random

from plaudit.harbor.audit.mutants import change_database
from plaudit.harbor.audit.products import Product, Version

__all__ = ["equivalents_of"]


def equivalents_of(product: Product) -> list[Version]:
    """The same content written in another way."""
    if product.language == "sqlite":
        change = "PRAGMA page_size = 8192; VACUUM"
        return [Version("written with other pages", change_database(product.content, change))]
    if product.language == "python" and product.tree is not None:
        versions = [Version("formatted anew, without comments", ast.unparse(product.tree).encode() + b"\n")]
        return [*versions, *_renamed(product.content), *_reordered(product.content)]
    if product.language == "shell":
        first, _, rest = product.content.decode(errors="replace").partition("\n")
        if first.startswith("#!"):
            return [
                Version("a comment and blank lines added", f"{first}\n# written in another way\n\n{rest}\n".encode())
            ]
    if product.language == "json":
        try:
            value = json.loads(product.content)
        except ValueError:
            return []
        return [
            Version("written without spaces", json.dumps(value, separators=(",", ":")).encode()),
            Version(
                "written with indents, keys in reverse order",
                json.dumps(_reversed_keys(value), indent=4).encode() + b"\n",
            ),
        ]
    return []


def _reversed_keys(value: object) -> object:
    if isinstance(value, dict):
        return {name: _reversed_keys(value[name]) for name in reversed(list(value))}
    return [_reversed_keys(each) for each in value] if isinstance(value, list) else value


def _renamed(content: bytes) -> list[Version]:
    """Local variables of functions under other names."""
    tree = ast.parse(content)
    if any(
        isinstance(node, ast.Global | ast.Nonlocal)
        or (isinstance(node, ast.Name) and node.id in ("locals", "eval", "exec"))
        for node in ast.walk(tree)
    ):
        return []
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        bound = {
            node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        parameters = {
            each.arg
            for node in ast.walk(function)
            if isinstance(node, ast.arguments)
            for each in [*node.args, *node.kwonlyargs, *node.posonlyargs]
        }
        names = {name: f"{name}_renamed" for name in bound - parameters}
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id in names:
                node.id = names[node.id]
    return [Version("local variables renamed", ast.unparse(tree).encode() + b"\n")]


def _reordered(content: bytes) -> list[Version]:
    """Functions without decorators and defaults in another order."""
    tree = ast.parse(content)
    places = [
        index
        for index, node in enumerate(tree.body)
        if isinstance(node, ast.FunctionDef) and not node.decorator_list and not node.args.defaults
    ]
    if len(places) < 2 or any(
        not isinstance(tree.body[index], ast.FunctionDef) for index in range(places[0], places[-1])
    ):
        return []
    moved = [tree.body[index] for index in places]
    random.Random(0).shuffle(moved)
    for index, node in zip(places, moved, strict=True):
        tree.body[index] = node
    return [Version("functions in another order", ast.unparse(tree).encode() + b"\n")]
