"""Makes mutants of C sources: small edits, each of which a tired engineer could have made.

Functions and tables are edited by their syntax tree (libclang); lists of primitives, which are
arguments of macros and have no tree, by their tokens. An edit adds or removes no line, so that what a
CHECK says of its place stays. A mutant is named by a hash of what it changes and of the lines around
it: the name stays while other lines of the file change.
"""

import collections
import hashlib
import re

import clang.cindex as clang
from clang.cindex import CursorKind as Kind

OPERATORS = {
    "relation": "a relation gets or loses its equality, or is turned into its opposite",
    "arithmetic": "an arithmetical operator becomes another one",
    "logic": "and becomes or, a negation goes away, a test becomes its opposite",
    "constant": "a number is off by one, or 0 for 1",
    "name": "a named constant becomes its neighbour",
    "condition": "a condition is negated",
    "drop": "a statement is dropped, or a row operation",
    "return": "a function returns early, or returns nothing",
    "swap": "two arguments change places",
    "stale": "what was to be written is not, or is written one statement too late",
    "check": "a check of an oracle is dropped: every one that has a sentence, or hands a clause on",
    "weaken": "a check finds less: a part of its condition counts as held, a relation is one-sided or "
              "off by one, what it exempts is more",
}

RELATIONS = {"<": ["<="], "<=": ["<"], ">": [">="], ">=": [">"], "==": ["!="], "!=": ["=="]}
ARITHMETIC = {"+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "%": ["/"], "<<": [">>"], ">>": ["<<"],
              "&": ["|"], "|": ["&"], "^": ["|"], "+=": ["-="], "-=": ["+="], "|=": ["&="],
              "&=": ["|="], "++": ["--"], "--": ["++"]}
LOGIC = {"&&": ["||"], "||": ["&&"]}
FLAGS = ["-std=c17", "-xc", "-D_DEFAULT_SOURCE", "-isystem", "/usr/include/postgresql"]  # libpq's, on Debian
ASSIGNMENTS = ("=", "+=", "-=", "|=", "&=", "*=", "/=", "%=", "^=", "<<=", ">>=")

Mutant = collections.namedtuple("Mutant", "id file operator line function before after start end")


class Source:
    """A file, and the mutants found in it."""

    def __init__(self, root, path):
        self.path = path
        self.bytes = (root / path).read_bytes()
        self.edits = {}
        self.function = None

    def text(self, start, end):
        return self.bytes[start:end].decode()

    def edit(self, operator, start, end, after):
        before = self.text(start, end)
        if before != after:
            after += "\n" * (before.count("\n") - after.count("\n"))
            self.edits.setdefault((start, end, after), (operator, self.function))

    def mutants(self):
        """In the order of the file."""
        seen = collections.Counter()
        lines = self.bytes.decode().split("\n")
        for (start, end, after), (operator, function) in sorted(self.edits.items(), key=lambda edit: edit[0]):
            line = self.bytes.count(b"\n", 0, start)
            before = self.text(start, end)
            what = (self.path, operator, before, after, *lines[max(line - 1, 0):line + 2])
            seen[what] += 1
            name = hashlib.sha256(repr((what, seen[what])).encode()).hexdigest()[:10]
            yield Mutant(name, self.path, operator, line + 1, function, before, after, start, end)


# ---- by syntax tree ------------------------------------------------------------------------------

def extent(cursor):
    return cursor.extent.start.offset, cursor.extent.end.offset


def operator_of(source, cursor):
    """The operator between two operands, and where it stands."""
    left, right = list(cursor.get_children())
    start, end = extent(left)[1], extent(right)[0]
    between = source.text(start, end)
    sign = between.strip()
    start += len(between) - len(between.lstrip())
    return sign, start, start + len(sign)


def number_edits(text):
    """A literal, or a macro that is one; with INT64_C and its like left alone."""
    if text == "NULL":
        return []
    if not re.fullmatch(r"\d+", text):
        return ["(%s + 1)" % text, "(%s - 1)" % text] if re.fullmatch(r"[A-Z_0-9]+", text) else []
    number = int(text)
    return {0: ["1"], 1: ["0", "2"]}.get(number, [str(number - 1), str(number + 1)])


def binary(source, cursor):
    if len(list(cursor.get_children())) != 2:
        return
    sign, start, end = operator_of(source, cursor)
    for operator, table in (("relation", RELATIONS), ("arithmetic", ARITHMETIC), ("logic", LOGIC)):
        for after in table.get(sign, []):
            source.edit(operator, start, end, after)


def unary(source, cursor):
    start, end = extent(cursor)
    text = source.text(start, end)
    if text.startswith("!"):
        source.edit("logic", start, start + 1, "")
    elif text.startswith("-"):
        source.edit("arithmetic", start, start + 1, "")
    for sign in ("++", "--"):
        if text.startswith(sign):
            source.edit("arithmetic", start, start + 2, ARITHMETIC[sign][0])
        elif text.endswith(sign):
            source.edit("arithmetic", end - 2, end, ARITHMETIC[sign][0])


def named(source, cursor):
    """A constant of an enum: its neighbours there."""
    constant = cursor.referenced
    if constant is None or constant.kind != Kind.ENUM_CONSTANT_DECL:
        return
    names = [c.spelling for c in constant.semantic_parent.get_children()]
    at = names.index(constant.spelling)
    start, end = extent(cursor)
    if source.text(start, end) == constant.spelling:
        for other in names[max(at - 1, 0):at] + names[at + 1:at + 2]:
            source.edit("name", start, end, other)


def negate(source, cursor):
    start, end = extent(cursor)
    source.edit("condition", start, end, "!(%s)" % source.text(start, end))


def swap(source, operator, first, second):
    (a, b), (c, d) = extent(first), extent(second)
    if b <= c:
        source.edit(operator, a, d, source.text(c, d) + source.text(b, c) + source.text(a, b))


def call(source, cursor):
    arguments = list(cursor.get_arguments())
    bundle = cursor.spelling in ("BUNDLE_CALL", "BUNDLE_CALL_OF")  # its parameters, which are all numbers
    for first, second in zip(arguments, arguments[1:]):
        kinds = [a.type.get_canonical().spelling.replace("const ", "") for a in (first, second)]
        if (bundle and first in arguments[4:]) or (not bundle and kinds[0] == kinds[1]):
            swap(source, "swap", first, second)


def statement_of(cursor):
    """What a label stands before."""
    while cursor.kind in (Kind.CASE_STMT, Kind.DEFAULT_STMT):
        cursor = list(cursor.get_children())[-1]
    return cursor


def is_plain(source, cursor):
    """A call or an assignment that is a statement."""
    if cursor.kind in (Kind.CALL_EXPR, Kind.COMPOUND_ASSIGNMENT_OPERATOR):
        return cursor.spelling != "CHECK"
    if cursor.kind == Kind.UNARY_OPERATOR:
        return "++" in source.text(*extent(cursor)) or "--" in source.text(*extent(cursor))
    return cursor.kind == Kind.BINARY_OPERATOR and operator_of(source, cursor)[0] in ASSIGNMENTS


def is_assignment(source, cursor):
    return cursor.kind in (Kind.BINARY_OPERATOR, Kind.COMPOUND_ASSIGNMENT_OPERATOR) and \
        operator_of(source, cursor)[0] in ASSIGNMENTS


def changes_nothing(call):
    """A function that is given no pointer through which it could write, as far as its type says."""
    return all("*" not in kind.spelling or "const" in kind.spelling
               for kind in (a.type.get_canonical() for a in call.get_arguments()))


def are_independent(source, first, second):
    """Two assignments that come to the same in either order: neither names what the other writes, and
    what they call writes nothing."""
    if not all(is_assignment(source, s) for s in (first, second)):
        return False
    texts = [source.text(*extent(s)) for s in (first, second)]
    written = [source.text(*extent(next(s.get_children()))) for s in (first, second)]
    return written[0] not in texts[1] and written[1] not in texts[0] and \
        all(changes_nothing(c) for s in (first, second) for c in below(s, Kind.CALL_EXPR))


def writes_state(cursor):
    """An assignment to what outlives the function, as far as one sees."""
    operands = list(cursor.get_children())
    return cursor.kind != Kind.CALL_EXPR and operands[0].kind != Kind.DECL_REF_EXPR


def returns_pointer(function):
    """No engine's function returns NULL: a program that does dies at once, which shows nothing."""
    return function.result_type.get_canonical().kind == clang.TypeKind.POINTER


def early(function):
    kind = function.result_type.get_canonical().kind
    if kind == clang.TypeKind.VOID:
        return "return;"
    value = "{0}" if kind == clang.TypeKind.RECORD else "0"
    return "return (%s)%s;" % (function.result_type.spelling, value)


def block(source, cursor, function):
    statements = [statement_of(s) for s in cursor.get_children()]
    for at, statement in enumerate(statements):
        start, end = extent(statement)
        if statement.kind == Kind.BREAK_STMT:
            source.edit("drop", start, end, "")
        elif statement.kind == Kind.IF_STMT and len(list(statement.get_children())) == 2:
            source.edit("drop", start, end, ";")
        elif is_plain(source, statement):
            source.edit("stale" if writes_state(statement) else "drop", start, end, "(void)0")
            following = statements[at + 1] if at + 1 < len(statements) else None
            if following is not None and is_plain(source, following) and \
                    not are_independent(source, statement, following):
                swap(source, "stale", statement, following)
        if statement.kind not in (Kind.RETURN_STMT, Kind.BREAK_STMT, Kind.DECL_STMT) and \
                not returns_pointer(function):
            source.edit("return", start, start, early(function) + " ")


def returned(source, cursor, function):
    values = list(cursor.get_children())
    if not values:
        return
    kind = function.result_type.get_canonical().kind
    if kind == clang.TypeKind.BOOL:
        negate(source, values[0])
    elif kind != clang.TypeKind.RECORD and not returns_pointer(function):
        source.edit("return", *extent(values[0]), "0")


def walk(source, cursor, function):
    kind, children = cursor.kind, list(cursor.get_children())
    if kind == Kind.FUNCTION_DECL:
        function = cursor
    if kind == Kind.CALL_EXPR and cursor.spelling == "CHECK" or kind == Kind.ENUM_DECL or \
            cursor.spelling == "_Static_assert" or kind == Kind.STRUCT_DECL:
        return
    if kind in (Kind.BINARY_OPERATOR, Kind.COMPOUND_ASSIGNMENT_OPERATOR):
        binary(source, cursor)
    elif kind == Kind.UNARY_OPERATOR:
        unary(source, cursor)
    elif kind == Kind.INTEGER_LITERAL:
        for after in number_edits(source.text(*extent(cursor))):
            source.edit("constant", *extent(cursor), after)
    elif kind == Kind.DECL_REF_EXPR:
        named(source, cursor)
    elif kind in (Kind.IF_STMT, Kind.WHILE_STMT, Kind.CONDITIONAL_OPERATOR):
        negate(source, children[0])
    elif kind == Kind.CALL_EXPR:
        call(source, cursor)
    elif kind == Kind.COMPOUND_STMT and function is not None:
        block(source, cursor, function)
    elif kind == Kind.RETURN_STMT:
        returned(source, cursor, function)
    for child in children[1:] if kind == Kind.CASE_STMT else children:
        walk(source, child, function)


# ---- checks of oracles ---------------------------------------------------------------------------

WRAPPERS = (Kind.UNEXPOSED_EXPR, Kind.PAREN_EXPR)
ONE_SIDED = {True: {"!=": ["<", ">"], "<=": ["<"], ">=": [">"]},
             False: {"==": ["<=", ">="], "<": ["<="], ">": [">="]}}
OFF_BY_ONE = {True: {"<": "- 1", ">": "+ 1"}, False: {"<=": "+ 1", ">=": "- 1"}}
COUNTS_ONLY = ("judge_held", "held", "CHECK", "memory_get", "cut_of")  # given a clause, they check nothing


def bare(cursor):
    while cursor.kind in WRAPPERS and len(list(cursor.get_children())) == 1:
        cursor = next(cursor.get_children())
    return cursor


def below(cursor, kind):
    return [c for c in cursor.walk_preorder() if c.kind == kind]


def names_clause(cursor):
    return any(c.spelling.startswith("CLAUSE_") for c in below(cursor, Kind.DECL_REF_EXPR))


def is_sentence(cursor):
    return cursor.kind == Kind.STRING_LITERAL and " " in cursor.spelling


def tells(cursor):
    return any(map(is_sentence, cursor.walk_preorder()))


def is_plain_number(source, cursor):
    """Something that is more or less than another: no pointer, no name of a list, no 0, which a mask
    or a count is compared with to see whether it is any, and not what stands for no row."""
    inner = bare(cursor)
    listed = inner.kind == Kind.DECL_REF_EXPR and inner.referenced is not None and \
        inner.referenced.kind == Kind.ENUM_CONSTANT_DECL
    text = source.text(*extent(cursor))  # as it is written: the tokens of a macro are another place's
    return cursor.type.get_canonical().kind not in (clang.TypeKind.POINTER, clang.TypeKind.BOOL) and \
        not listed and text not in ("0", "ROW_NONE", "NULL")


def weaken_relation(source, cursor, sign, operands, broken):
    if not all(is_plain_number(source, operand) for operand in operands):
        return
    _, start, end = operator_of(source, cursor)
    for after in ONE_SIDED[broken].get(sign, []):
        source.edit("weaken", start, end, after)
    if sign in OFF_BY_ONE[broken]:
        a, b = extent(operands[1])
        source.edit("weaken", a, b, "(%s) %s" % (source.text(a, b), OFF_BY_ONE[broken][sign]))


def in_file(source, cursor):
    return cursor is not None and cursor.location.file is not None and \
        cursor.location.file.name.endswith("/" + source.path)


def weaken(source, cursor, broken, met):
    """Edits that make a condition hold less often, if it says what is broken, or else more often. A
    name stands for what it was made of, a call of this file for what it returns."""
    cursor = bare(cursor)
    children = list(cursor.get_children())
    if not in_file(source, cursor) or (cursor.hash, broken) in met:
        return
    met.add((cursor.hash, broken))
    if cursor.kind == Kind.UNARY_OPERATOR and source.text(*extent(cursor)).startswith("!"):
        weaken(source, children[0], not broken, met)
    elif cursor.kind == Kind.BINARY_OPERATOR:
        sign = operator_of(source, cursor)[0]
        joint = "||" if broken else "&&"
        for operand in children if sign == joint else []:
            inner = bare(operand)  # of a longer chain each part by itself
            if inner.kind != Kind.BINARY_OPERATOR or operator_of(source, inner)[0] != joint:
                source.edit("weaken", *extent(operand), "false" if broken else "true")
        for operand in children if sign in LOGIC else []:
            weaken(source, operand, broken, met)
        weaken_relation(source, cursor, sign, children, broken)
    elif cursor.kind == Kind.CONDITIONAL_OPERATOR:
        for branch in children[1:]:
            weaken(source, branch, broken, met)
    elif cursor.kind == Kind.DECL_REF_EXPR and cursor.referenced.kind == Kind.VAR_DECL:
        for value in [c for c in cursor.referenced.get_children() if c.kind.is_expression()]:
            weaken(source, value, broken, met)
    elif cursor.kind == Kind.CALL_EXPR and cursor.type.get_canonical().kind == clang.TypeKind.BOOL:
        called = cursor.referenced and cursor.referenced.get_definition()
        for returns in below(called, Kind.RETURN_STMT) if in_file(source, called) else []:
            for value in returns.get_children():
                weaken(source, value, broken, met)


def weaken_arguments(source, call, met):
    """What a check is told: whether it holds, or whether it is broken, as the callee names it."""
    if call.spelling in MACROS_OF_CHECKS:
        weaken(source, list(call.get_arguments())[0], False, met)
        return
    wanted = list(call.referenced.get_arguments()) if call.referenced else []
    for parameter, argument in zip(wanted, call.get_arguments()):
        if parameter.type.get_canonical().kind == clang.TypeKind.BOOL:
            weaken(source, argument, parameter.spelling == "broken", met)


MACROS_OF_CHECKS = ("PHASE", "TRAIL")


def check_in_list(source, path, met):
    """{broken, clause, why} of a list of promises."""
    entry = list(path[-1].get_children())
    source.edit("check", *extent(entry[0]), "false")
    weaken(source, entry[0], True, met)


def check_by_call(source, path, met):
    call, parent = path[-1], path[-2]
    if parent.kind in (Kind.COMPOUND_STMT, Kind.IF_STMT, Kind.CASE_STMT, Kind.FOR_STMT):
        source.edit("check", *extent(call), "(void)0")
    elif call.type.get_canonical().spelling == "struct oracle_verdict":
        source.edit("check", *extent(call), "oracle_fine()")
    weaken_arguments(source, call, met)
    for above, inner in zip(path, path[1:]):
        if above.kind == Kind.IF_STMT:
            parts = list(above.get_children())
            if inner.hash == parts[1].hash:
                weaken(source, parts[0], True, met)
            elif inner.hash == parts[-1].hash and not tells(parts[1]):
                weaken(source, parts[0], False, met)


def exempts(source, function, met):
    """if (...) { return; } of a function that checks something."""
    for test in below(function, Kind.IF_STMT):
        parts = list(test.get_children())
        then = list(parts[1].get_children()) if parts[1].kind == Kind.COMPOUND_STMT else [parts[1]]
        if len(parts) == 2 and len(then) == 1 and then[0].kind in (Kind.RETURN_STMT, Kind.CONTINUE_STMT):
            weaken(source, parts[0], False, met)


def checks(source, cursor, path, met):
    """True: there is one below."""
    path = path + [cursor]
    found = False
    if cursor.kind == Kind.CALL_EXPR and cursor.spelling not in COUNTS_ONLY and \
            not cursor.spelling.startswith("document_") and \
            (tells(cursor) or names_clause(cursor)):
        check_by_call(source, path, met)
        found = True
    elif cursor.kind == Kind.INIT_LIST_EXPR and cursor.type.get_canonical().spelling.endswith(
            "struct oracle_verdict") and names_clause(cursor):
        check_in_list(source, path, met)
        found = True
    elif cursor.kind == Kind.CALL_EXPR and path[-2].kind == Kind.INIT_LIST_EXPR and \
            cursor.type.get_canonical().spelling == "struct oracle_verdict":
        source.edit("check", *extent(cursor), "oracle_fine()")
        found = True
    for child in cursor.get_children():
        found = checks(source, child, path, met) or found
    return found


def as_functions(text):
    """Macros that are called like functions, as functions of any arguments: their arguments then have
    places in the file. Nothing moves."""
    def declare(match):
        name = "void %s();" % match.group(1)
        kept = re.sub(r"[^\n]", " ", match.group(0))
        return name + kept[len(name):]
    return re.sub(r"#define (CHECK|BUNDLE_CALL|BUNDLE_CALL_OF|PHASE|TRAIL)\((?:.*\\\n)*.*", declare, text)


def by_tree(root, source):
    unsaved = [(str(root / path), as_functions((root / path).read_text()))
               for path in ("model/check.h", "model/bundle.h", "model/oracle/pipeline_commit.h")
               if (root / path).exists()]
    unit = clang.Index.create().parse(str(root / source.path), [*FLAGS, "-I%s" % root],
                                      unsaved_files=unsaved)
    errors = [d for d in unit.diagnostics if d.severity >= clang.Diagnostic.Error]
    if errors:
        raise SystemExit("%s: %s" % (source.path, errors[0]))
    for cursor in unit.cursor.get_children():
        if cursor.location.file and cursor.location.file.name == str(root / source.path):
            source.function = cursor.spelling if cursor.kind == Kind.FUNCTION_DECL else None
            met = set()
            if cursor.kind == Kind.FUNCTION_DECL and "/oracle/" in source.path and \
                    checks(source, cursor, [], met):
                exempts(source, cursor, met)
            walk(source, cursor, None)


# ---- lists of primitives -------------------------------------------------------------------------

# A token, what it becomes, and the operator that this is.
TOKENS = [
    (r"TEST_MARKED", ["TEST_UNMARKED"], "logic"), (r"TEST_UNMARKED", ["TEST_MARKED"], "logic"),
    (r"TEST_RESUMABLE", ["TEST_STUCK"], "logic"), (r"TEST_STUCK", ["TEST_RESUMABLE"], "logic"),
    (r"when(?= = TO)", ["unless"], "logic"), (r"unless(?= = TO)", ["when"], "logic"),
    (r"TEST_(?!NONE)[A-Z_]+", ["TEST_NONE"], "condition"),
    (r"MISS_(?:REFUSES|BY_CALL)", ["MISS_GOES_ON"], "return"),
    (r"OP_ADD", ["OP_SET"], "arithmetic"), (r"OP_SET", ["OP_ADD"], "stale"),
    (r"ZERO", ["ONE"], "constant"), (r"ONE", ["ZERO"], "constant"), (r"MINUS_ONE", ["ONE"], "constant"),
    (r"LOCK_(?:SHARE|UPDATE)", ["LOCK_NONE"], "drop"), (r"true", ["false"], "stale"),
    (r"ONE_STATEMENT", ["PRIMITIVE"], "stale"),
]


def closing(text, start):
    """Where the bracket that opens at `start` closes."""
    depth = 0
    for at in range(start, len(text)):
        depth += text[at] in "({[" and 1 or text[at] in ")}]" and -1 or 0
        if depth == 0:
            return at + 1
    raise ValueError("a bracket stays open")


def split(text, start, end):
    """The parts between commas that no bracket encloses, each as a place."""
    parts, depth, begin = [], 0, start
    for at in range(start, end):
        depth += text[at] in "({[" and 1 or text[at] in ")}]" and -1 or 0
        if text[at] == "," and depth == 0:
            parts.append((begin, at))
            begin = at + 1
    parts.append((begin, end))
    return [(a + len(text[a:b]) - len(text[a:b].lstrip()), b) for a, b in parts]


def swap_parts(source, operator, text, parts):
    for (a, b), (c, d) in zip(parts, parts[1:]):
        source.edit(operator, a, d, text[c:d] + text[b:c] + text[a:b])


def primitive(source, text, start, end, head):
    parts = split(text, start, end)
    parameters, operations = int(text[slice(*parts[2])]), parts[3:]
    for (a, b), comma in zip(operations, [0] + [1] * len(operations)):
        if len(operations) > 1:  # with the comma before it, or behind the first
            source.edit("drop", a if comma == 0 else text.rindex(",", 0, a),
                        b if comma else b + 1, "")
    swap_parts(source, "stale", text, operations)
    for match in re.finditer(r"(?:COLUMNS|INSERT)\(", text[start:end]):
        opens = start + match.end() - 1
        swap_parts(source, "swap", text, split(text, opens + 1, closing(text, opens) - 1)[1:])
    for match in re.finditer(r"\b(P|V|TO)\((\d+)\)", text[start:end]):
        number, most = int(match.group(2)), parameters if match.group(1) == "P" else 6
        for other in (number - 1, number + 1):
            if 0 <= other < most:
                source.edit("constant", start + match.start(), start + match.end(),
                            "%s(%d)" % (match.group(1), other))
    for pattern, afters, operator in TOKENS:
        for match in re.finditer(r"\b(?:%s)\b" % pattern, text[head:end]):
            for after in afters:
                source.edit(operator, head + match.start(), head + match.end(), after)


def by_tokens(root, source):
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group(0)), source.bytes.decode(),
                  flags=re.S)
    for match in re.finditer(r"^(PRIMITIVE|ONE_STATEMENT)\(", text, flags=re.M):
        opens = match.end() - 1
        primitive(source, text, opens + 1, closing(text, opens) - 1, match.start())


def mutants_of(root, path):
    source = Source(root, path)
    (by_tokens if path.endswith(".def") else by_tree)(root, source)
    return list(source.mutants())


def apply(text, mutant):
    """The text of the file with the mutant in it."""
    data = text.encode()
    return (data[:mutant.start] + mutant.after.encode() + data[mutant.end:]).decode()
