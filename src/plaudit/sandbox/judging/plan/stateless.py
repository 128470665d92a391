"""Whether tests are stateless: they leave nothing behind in the process that runs them.

Such tests call the program, do arithmetic, and compare; they have no way to a function that changes anything outside of
their own variables, and no method of any value is called. All else (attributes, other imports, classes, `with`, `try`)
is taken to leave something behind. The list says what is allowed, so what is forgotten costs time and nothing else.
"""

import ast
import builtins

NODES = (
    ast.Module, ast.arguments, ast.Return, ast.Pass, ast.Expr, ast.Assert, ast.Assign,
    ast.AnnAssign, ast.AugAssign, ast.For, ast.If, ast.Break, ast.Continue, ast.Constant, ast.List, ast.Tuple,
    ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.Starred,
    ast.Slice, ast.IfExp, ast.Compare, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Call, ast.keyword,
    ast.JoinedStr, ast.FormattedValue, ast.alias, ast.expr_context, ast.boolop,
    ast.operator, ast.unaryop, ast.cmpop,
)  # fmt: skip
BUILTINS = {
    "abs", "all", "any", "ascii", "bin", "bool", "bytes", "chr", "complex", "dict", "divmod", "enumerate", "filter",
    "float", "frozenset", "hash", "hex", "int", "isinstance", "len", "list", "map", "max", "min", "oct", "ord", "pow",
    "range", "repr", "reversed", "round", "set", "slice", "sorted", "str", "sum", "tuple", "zip", "AssertionError",
    "Exception", "IndexError", "KeyError", "TypeError", "ValueError", "ZeroDivisionError",
}  # fmt: skip
REFUSED = set(dir(builtins)) - BUILTINS
# Modules of functions that change nothing but, of `random`, where its numbers continue; every verdict begins them anew.
MODULES = {"math", "cmath", "typing", "itertools", "string", "random"}
# Of some modules only these, since others evaluate annotations, or make generators of one's own.
MEMBERS = {
    "random": {"choice", "choices", "randint", "random", "randrange", "sample", "shuffle", "uniform"},
    "typing": {"Any", "Callable", "Dict", "FrozenSet", "Iterable", "Iterator", "List", "Optional", "Sequence", "Set",
               "Tuple", "Union"},
}  # fmt: skip


def is_stateless(tree: ast.AST) -> bool:
    """Whether tests, without their imports of the program, are stateless."""
    nodes = list(ast.walk(tree))
    modules = frozenset(alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names)
    return all(_is_allowed(node, modules) for node in nodes)


def _is_allowed(node: ast.AST, modules: frozenset[str]) -> bool:
    """Whether a part of the tests may be there; `modules` are imported."""
    match node:
        case ast.Import():
            return all(alias.name in MODULES and alias.asname is None for alias in node.names)
        case ast.ImportFrom():
            return not node.level and all(_is_member(node.module, alias.name) for alias in node.names)
        case ast.FunctionDef():
            return not node.decorator_list and node.name not in modules
        case ast.arg():
            return node.arg not in modules
        case ast.Name():
            is_open = not node.id.startswith("__") and node.id not in REFUSED
            return is_open and (isinstance(node.ctx, ast.Load) or node.id not in modules)
        case ast.Attribute(ast.Name(module), name, ast.Load()):
            return module in modules and _is_member(module, name)
        case ast.Subscript():
            return isinstance(node.ctx, ast.Load)
    return isinstance(node, NODES)


def _is_member(module: str | None, name: str) -> bool:
    """Whether a name of a module is a function or a number that tests which only compare may use."""
    if module not in MODULES or name.startswith("_") or name == "*":
        return False
    return module not in MEMBERS or name in MEMBERS[module]
