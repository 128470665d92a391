"""Other ways to write the same file: a verifier that judges behaviour pays them too."""

import ast
import json
import random
import re
from contextlib import suppress

from plaudit.audit.rows.objects import rewrite_object
from plaudit.harbor.audit.mutants import change_database, order_is_free, split_header
from plaudit.harbor.audit.products import Product, Version


def equivalents_of(product: Product, instruction: str, known: str) -> list[Version]:
    """The same content written in another way; names that `known` has are used by others, or asked for."""
    if product.language == "sqlite":
        change = "PRAGMA page_size = 8192; VACUUM"
        return [Version("written with other pages", change_database(product.content, change))]
    if product.language == "python" and product.tree is not None:
        versions = [Version("formatted anew, without comments", product.write_python(product.tree))]
        return [*versions, *_renamed(product), *_with_other_names(product, known), *_reordered(product)]
    if product.language == "shell" and product.content.startswith(b"#!"):
        first, _, rest = product.content.partition(b"\n")
        return [Version("a comment and blank lines added", first + b"\n# written in another way\n\n" + rest + b"\n")]
    if product.language == "json":
        with suppress(ValueError):
            texts = rewrite_object(json.loads(product.content))
            return [Version(f"written {how}", text.encode() + b"\n") for how, text in texts.items()]
    if product.language == "text" and order_is_free(instruction):
        head, rows = split_header(product.content.decode().splitlines(keepends=True))
        return [Version("rows in reverse order", "".join([*head, *reversed(rows)]).encode())]
    return []


def _renamed(product: Product) -> list[Version]:
    """Local variables of functions under other names."""
    tree = ast.parse(product.content)
    nodes = list(ast.walk(tree))
    named = {node.id for node in nodes if isinstance(node, ast.Name)}
    if named & {"locals", "eval", "exec"} or any(isinstance(node, ast.Global | ast.Nonlocal) for node in nodes):
        return []
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
        parameters = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
        local = {node.id for node in names if isinstance(node.ctx, ast.Store)} - parameters
        for node in names:
            node.id = f"{node.id}_renamed" if node.id in local else node.id
    return [Version("local variables renamed", product.write_python(tree))]


def _with_other_names(product: Product, known: str) -> list[Version]:
    """Functions that nobody else names under other names."""
    tree = ast.parse(product.content)
    nodes = list(ast.walk(tree))
    texts = " ".join(
        [known, *(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))]
    )
    renamed = {
        node.name: f"{node.name}_renamed"
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and not node.decorator_list and not re.search(rf"\b{node.name}\b", texts)
    }
    for node in nodes:
        if isinstance(node, ast.Name):
            node.id = renamed.get(node.id, node.id)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            node.name = renamed.get(node.name, node.name)
    return [Version("helper functions renamed", product.write_python(tree))] if renamed else []


def _reordered(product: Product) -> list[Version]:
    """Functions without decorators and defaults, which follow each other, in another order."""
    tree = ast.parse(product.content)
    places = [
        index
        for index, node in enumerate(tree.body)
        if isinstance(node, ast.FunctionDef) and not node.decorator_list and not node.args.defaults
    ]
    if len(places) < 2 or len(places) <= places[-1] - places[0]:
        return []
    moved = tree.body[places[0] : places[-1] + 1]
    random.Random(0).shuffle(moved)
    tree.body[places[0] : places[-1] + 1] = moved
    return [Version("functions in another order", product.write_python(tree))]
