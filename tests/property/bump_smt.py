#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Proves with z3 that nothing in bump.hpp wraps where it must not, and that its functions do what they say.

    bump_smt.py path/to/bump.hpp

The functions are read from the header itself and translated; what they should do is written here, once more and in
other words. Every lemma has controls: with a premise taken away, or a weaker rule, there must be a counterexample. So a
lemma that would hold for any reason at all does not pass.

Products and quotients of two 64-bit unknowns are out of reach of a solver of bit-vectors. They are dealt with thus:
  - in the integers (of any size) it is proved that count <= free / size if and only if count * size <= free;
  - in the 64-bit lemmas a product and a quotient are unknowns of which only this is known;
  - at 6 bits everything is proved once more with products and quotients as the machine makes them.
At 64 bits `place` is proved from what was proved of the functions that it calls (their contracts), and that it may call
them; at 6 bits from their text.
"""
import ast
import re
import sys
import time

try:
    import z3
except ImportError:
    print("not run: python3-z3 missing")
    sys.exit(77)

# ---- the header, translated -------------------------------------------------------------------------------------------


def read_functions(path):
    """{name: ([parameter], [statement])} of every function template in the header."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"//.*|\[\[\w+\]\]", "", file.read())  # no comments, no [[unlikely]]
    functions = {}
    pattern = r"template <class U>\s*constexpr (?:U|bool|Placement<U>) (\w+)\(([^)]*)\) \{\n(.*?)\n\}"
    for name, parameters, body in re.findall(pattern, text, re.S):
        names = [parameter.split()[-1] for parameter in parameters.split(",")]
        statements = [" ".join(statement.split()) for statement in body.split(";")]
        functions[name] = (names, [statement for statement in statements if statement])
    count = len(re.findall(r"^constexpr ", text, re.M))
    if not functions or count != len(functions):
        sys.exit(f"{path}: {count} functions, of which {len(functions)} could be read")
    return functions


def to_python(expression):
    """One C++ expression in Python's syntax. (Where the two languages' precedences differ, compilers warn.)"""
    e = expression.strip()
    if e.startswith("{") and e.endswith("}"):
        e = "placement(" + e[1:-1] + ")"
    e = re.sub(r"static_cast<U>\(", "cast(", e)
    e = re.sub(r"U\{(\d+)\}", r"cast(\1)", e)
    e = e.replace("&&", " and ").replace("||", " or ")
    e = re.sub(r"!(?!=)", " not ", e)
    e = re.sub(r"\btrue\b", "True", e)
    e = re.sub(r"\bfalse\b", "False", e)
    ternary = re.fullmatch(r"([^?]*)\?([^:]*):(.*)", e)
    if ternary:
        e = "({1}) if ({0}) else ({2})".format(*(part.strip() for part in ternary.groups()))
    return ast.parse(e.strip(), mode="eval").body


def closing(text, start):
    """The index of the bracket that closes the one at start."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i
    raise ValueError(text)


class Arithmetic:
    """Evaluates the header's functions over bit-vectors, and keeps what must hold so that no operation wraps."""

    def __init__(self, functions, bits, exact):
        self.functions = functions
        self.bits = bits
        self.exact = exact  # products and quotients as the machine makes them; else as unknowns
        self.obligations = []  # (what, condition)
        self.products = []  # (a, b, product, overflows)
        self.quotients = []  # (a, b, quotient)
        self.contracts = {}  # name: what to take a call for, instead of the function's text
        self.facts = []  # what the contracts promise

    def value(self, number):
        return z3.BitVecVal(number, self.bits)

    def var(self, name):
        return z3.BitVec(name, self.bits)

    def max(self):
        return self.value((1 << self.bits) - 1)

    def call(self, name, *arguments, path=True):
        if name in self.contracts:
            return self.contracts[name](self, path, *arguments)
        parameters, statements = self.functions[name]
        names = dict(zip(parameters, arguments))
        results = []
        for statement in statements:
            constant = re.fullmatch(r"const U (\w+) = (.*)", statement)
            if constant:
                names[constant[1]] = self.evaluate(to_python(constant[2]), names, path)
                continue
            if statement.startswith("if ("):
                end = closing(statement, 3)
                condition = self.evaluate(to_python(statement[4:end]), names, path)
                rest = statement[end + 1 :].strip()
                if not rest.startswith("return "):
                    sys.exit(f"cannot read: {statement}")
                value = self.evaluate(to_python(rest[7:]), names, z3.And(path, condition))
                results.append((condition, value))
                path = z3.And(path, z3.Not(condition))
                continue
            if not statement.startswith("return "):
                sys.exit(f"cannot read: {statement}")
            value = self.evaluate(to_python(statement[7:]), names, path)
            for condition, earlier in reversed(results):
                value = self.choose(condition, earlier, value)
            return value
        sys.exit(f"{name} does not return")

    def choose(self, condition, a, b):
        if isinstance(a, tuple):
            return tuple(self.choose(condition, x, y) for x, y in zip(a, b))
        if isinstance(a, bool) or isinstance(b, bool) or z3.is_bool(a):
            return z3.If(condition, z3.BoolVal(a) if isinstance(a, bool) else a, z3.BoolVal(b) if isinstance(b, bool) else b)
        return z3.If(condition, self.number(a), self.number(b))

    def number(self, x):
        return self.value(x) if isinstance(x, int) else x

    def must(self, what, path, condition):
        self.obligations.append((what, z3.Implies(path, condition)))

    def evaluate(self, node, names, path):
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return names[node.id]
        if isinstance(node, ast.Call):
            arguments = [self.evaluate(argument, names, path) for argument in node.args]
            if node.func.id == "cast":
                return self.number(arguments[0])
            if node.func.id == "placement":
                return (arguments[0], self.number(arguments[1]), self.number(arguments[2]))
            return self.call(node.func.id, *map(self.number, arguments), path=path)
        if isinstance(node, ast.IfExp):
            condition = self.evaluate(node.test, names, path)
            return self.choose(
                condition,
                self.evaluate(node.body, names, z3.And(path, condition)),
                self.evaluate(node.orelse, names, z3.And(path, z3.Not(condition))),
            )
        if isinstance(node, ast.BoolOp):
            values = []
            for operand in node.values:
                value = self.evaluate(operand, names, path)
                values.append(value)
                path = z3.And(path, value if isinstance(node.op, ast.And) else z3.Not(value))
            return z3.And(*values) if isinstance(node.op, ast.And) else z3.Or(*values)
        if isinstance(node, ast.UnaryOp):
            operand = self.evaluate(node.operand, names, path)
            return z3.Not(operand) if isinstance(node.op, ast.Not) else ~self.number(operand)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            a = self.number(self.evaluate(node.left, names, path))
            b = self.number(self.evaluate(node.comparators[0], names, path))
            compare = {
                ast.Eq: lambda: a == b,
                ast.NotEq: lambda: a != b,
                ast.Lt: lambda: z3.ULT(a, b),
                ast.LtE: lambda: z3.ULE(a, b),
                ast.Gt: lambda: z3.UGT(a, b),
                ast.GtE: lambda: z3.UGE(a, b),
            }
            return compare[type(node.ops[0])]()
        if isinstance(node, ast.BinOp):
            a = self.number(self.evaluate(node.left, names, path))
            b = self.number(self.evaluate(node.right, names, path))
            return self.operate(node, a, b, path)
        sys.exit(f"cannot read: {ast.dump(node)}")

    def operate(self, node, a, b, path):
        what = ast.unparse(node)
        if isinstance(node.op, ast.BitAnd):
            return a & b
        if isinstance(node.op, ast.Add):
            self.must(what, path, z3.BVAddNoOverflow(a, b, False))
            return a + b
        if isinstance(node.op, ast.Sub):
            # 0 - x is a negation, of which only the low bits are used: it is meant to wrap.
            if not (z3.is_bv_value(a) and a.as_long() == 0):
                self.must(what, path, z3.ULE(b, a))
            return a - b
        if isinstance(node.op, ast.Mult):
            product, overflows = self.multiply(a, b)
            self.must(what, path, z3.Not(overflows))
            return product
        if isinstance(node.op, ast.Div):
            self.must(what + ": no division by zero", path, b != 0)
            return self.divide(a, b)
        sys.exit(f"cannot read: {what}")

    def multiply(self, a, b):
        if self.exact:
            wide = z3.ZeroExt(self.bits, a) * z3.ZeroExt(self.bits, b)
            return a * b, z3.Extract(2 * self.bits - 1, self.bits, wide) != 0
        for x, y, product, overflows in self.products:
            if x.eq(a) and y.eq(b):
                return product, overflows
        product, overflows = self.var(f"product{len(self.products)}"), z3.Bool(f"overflows{len(self.products)}")
        self.products.append((a, b, product, overflows))
        return product, overflows

    def divide(self, a, b):
        if self.exact:
            return z3.UDiv(a, b)
        quotient = self.var(f"quotient{len(self.quotients)}")
        self.quotients.append((a, b, quotient))
        return quotient

    def known(self):
        """What the lemma about products says of the unknowns, and what contracts promise."""
        facts = list(self.facts)
        for free, size, quotient in self.quotients:
            for count, other, product, overflows in self.products:
                if other.eq(size):
                    fits = z3.And(z3.Not(overflows), z3.ULE(product, free))
                    facts.append(z3.Implies(size != 0, z3.ULE(count, quotient) == fits))
        return facts

    def promise(self, what, path, precondition, result):
        """A call by contract: the precondition is to be proved, the result may then be relied on."""
        self.must("may call " + what, path, precondition)
        self.facts.append(z3.Implies(z3.And(path, precondition), result))

    def nothing_wraps(self):
        return z3.And(*[condition for _, condition in self.obligations])


# ---- the words of the claims ------------------------------------------------------------------------------------------


def is_power(x):
    """One of 1, 2, 4, ...: by enumeration."""
    return z3.Or(*[x == z3.BitVecVal(1 << k, x.size()) for k in range(x.size())])


def is_multiple(x, power):
    """Of a power of two: its low bits are zero (the first lemma)."""
    return x & (power - 1) == 0


def step_stays_below(x, step, limit):
    """If step <= limit - x, then x + step <= limit, and it does not wrap."""
    below = z3.And(z3.ULE(x, limit), z3.ULE(step, limit - x))
    return z3.Implies(below, z3.And(z3.BVAddNoOverflow(x, step, False), z3.ULE(x + step, limit)))


def later_leaves_less(x, later, limit):
    return z3.Implies(z3.And(z3.ULE(x, later), z3.ULE(later, limit)), z3.ULE(limit - later, limit - x))


# ---- lemmas -----------------------------------------------------------------------------------------------------------


class Proof:
    def __init__(self):
        self.failures = 0
        self.lemmas = 0
        self.controls = 0
        self.bit_vectors = False

    def check(self, assumptions, claim):
        solver = z3.Then("simplify", "solve-eqs", "bit-blast", "sat").solver() if self.bit_vectors else z3.Solver()
        solver.set("timeout", 300000)
        solver.add(*assumptions)
        solver.add(z3.Not(claim))
        return solver.check(), solver

    def show(self, solver):
        model = solver.model()
        values = sorted((d.name(), model[d]) for d in model.decls())
        return ", ".join(f"{name} = {value}" for name, value in values)

    def prove(self, theory, text, premises, claim, needs=(), facts=(), weaker=()):
        """`needs`: premises without each of which there must be a counterexample. `weaker`: (what, claim) that must not hold."""
        began = time.monotonic()
        self.lemmas += 1
        verdict, solver = self.check([*premises.values(), *facts], claim)
        took = f"{time.monotonic() - began:.2f} s"
        if verdict == z3.unsat:
            print(f"proved    {theory}: {text} ({took})")
        else:
            self.failures += 1
            print(f"NOT PROVED {theory}: {text} ({took})")
            print(f"          {'counterexample: ' + self.show(solver) if verdict == z3.sat else 'no answer in time'}")
            return
        for premise in needs:
            rest = [condition for name, condition in premises.items() if name != premise]
            self.control(f"without '{premise}'", [*rest, *facts], claim)
        for what, other in weaker:
            self.control(what, [*premises.values(), *facts], other)
        # Premises that contradict each other would prove anything.
        self.control("the premises can be met", [*premises.values(), *facts], z3.BoolVal(False), quiet=True)

    def control(self, text, assumptions, claim, quiet=False):
        self.controls += 1
        verdict, solver = self.check(assumptions, claim)
        if verdict != z3.sat:
            self.failures += 1
            print(f"          CONTROL FAILED, {text}: there should be a counterexample, z3 says {verdict}")
        elif not quiet:
            print(f"          control, {text}: counterexample {self.show(solver)}")


def integers(proof):
    """In the integers: whatever the width."""
    free, count, size, quotient, rest = z3.Ints("free count size quotient rest")
    theory = "integers of any size"
    proof.prove(
        theory,
        "count <= free / size exactly if count * size <= free",
        {
            "free = quotient * size + rest": free == quotient * size + rest,
            "0 <= rest": rest >= 0,
            "rest < size": rest < size,
            "nothing is negative": z3.And(free >= 0, count >= 0, quotient >= 0, size > 0),
        },
        (count <= quotient) == (count * size <= free),
        needs=("0 <= rest", "rest < size"),
        weaker=(("one element more", (count <= quotient + 1) == (count * size <= free)),),
    )
    a, b, range_, wraps, product = z3.Ints("a b range wraps product")
    premises = {
        "the product is kept modulo the range": z3.And(product == a * b - wraps * range_, 0 <= product, product < range_),
        "product = quotient * a + rest": product == quotient * a + rest,
        "0 <= rest < a": z3.And(0 <= rest, rest < a),
        "in range": z3.And(0 < a, a < range_, 0 <= b, b < range_, 0 <= wraps, 0 <= quotient),
    }
    proof.prove(
        theory,
        "a product that wrapped is never a times b again: product / a == b only without a wrap",
        premises,
        z3.Implies(quotient == b, wraps == 0),
        needs=("the product is kept modulo the range",),
    )
    proof.prove(
        theory,
        "a product that did not wrap, divided by a, is b",
        {**premises, "no wrap": wraps == 0},
        quotient == b,
        needs=("no wrap", "0 <= rest < a"),
    )


def numbers(proof, functions, bits):
    theory = f"{bits} bits, bit-vectors"
    z = Arithmetic(functions, bits, exact=False)
    n, q = z.var("n"), z.var("quantum")

    cases = [(n & z.value((1 << k) - 1) == 0) == (z3.URem(n, z.value(1 << k)) == 0) for k in range(bits)]
    wrong = (n & z.value(7) == 0) == (z3.URem(n, z.value(4)) == 0)
    proof.prove(
        theory, f"divisible by a power of two means that the low bits are zero ({bits} powers)", {}, z3.And(*cases),
        weaker=(("one bit more", wrong),),
    )
    proof.prove(
        theory, "is_power_of_two: true for 1, 2, 4, ... and nothing else", {}, z.call("is_power_of_two", n) == is_power(n),
        weaker=(("without 0", z3.Implies(n & (n - 1) == 0, is_power(n))),),
    )

    x, step, limit = z.var("x"), z.var("step"), z.var("limit")
    proof.prove(
        theory, "a step that is at most limit - x leads from x to limit at most, and does not wrap", {}, step_stays_below(x, step, limit),
        weaker=(("never to the limit", z3.Implies(z3.ULE(step, limit - x), z3.ULT(x + step, limit))),),
    )
    proof.prove(
        theory, "from a later place there is no more left to the limit", {}, later_leaves_less(x, step, limit),
        weaker=(("but less", z3.Implies(z3.And(z3.ULE(x, step), z3.ULE(step, limit)), z3.ULT(limit - step, limit - x))),),
    )

    z = Arithmetic(functions, bits, exact=False)
    down = z.call("round_down", n, q)
    proof.prove(
        theory, "round_down: the largest multiple not above n, nothing wraps", {"quantum is a power of two": is_power(q)},
        z3.And(z3.ULE(down, n), is_multiple(down, q), z3.ULT(n - down, q), z.nothing_wraps()),
        needs=("quantum is a power of two",),
    )

    z = Arithmetic(functions, bits, exact=False)
    up = z.call("round_up", n, q)
    exists = {"quantum is a power of two": is_power(q), "a multiple at or above n exists": z3.ULE(n, z.max() - (q - 1))}
    proof.prove(
        theory, "round_up: the smallest multiple not below n, nothing wraps", exists,
        z3.And(z3.UGE(up, n), is_multiple(up, q), z3.ULT(up - n, q), z.nothing_wraps()), needs=exists.keys(),
    )

    z = Arithmetic(functions, bits, exact=False)
    saturated = z.call("saturating_round_up", n, q)
    proof.prove(
        theory, "saturating_round_up: the same, or the largest number where there is no multiple",
        {"quantum is a power of two": is_power(q)},
        z3.If(
            exists["a multiple at or above n exists"],
            z3.And(z3.UGE(saturated, n), is_multiple(saturated, q), z3.ULT(saturated - n, q)),
            saturated == z.max(),
        ),
        needs=("quantum is a power of two",),
    )

    a, b = z.var("a"), z.var("b")
    total = z.call("saturating_sum", a, b)
    fits = z3.BVAddNoOverflow(a, b, False)
    proof.prove(
        theory, "saturating_sum: the sum, or the largest number where it does not fit", {},
        z3.If(fits, total == a + b, total == z.max()), weaker=(("never saturated", total == a + b),),
    )

    z = Arithmetic(functions, bits, exact=False)
    address, alignment = z.var("address"), z.var("alignment")
    pad = z.call("padding", address, alignment)
    proof.prove(
        theory, "padding: below the alignment, and leads to a multiple of it; only the negation wraps",
        {"alignment is a power of two": is_power(alignment)},
        z3.And(z3.ULT(pad, alignment), is_multiple(address + pad, alignment), z.nothing_wraps()),
        needs=("alignment is a power of two",),
    )

    premises = {
        "quantum is a power of two": is_power(q),
        "address is a multiple of quantum": is_multiple(address, q),
    }
    proof.prove(
        theory, "padding: a multiple of whatever power of two divides the address", premises,
        is_multiple(pad, q), needs=("quantum is a power of two", "address is a multiple of quantum"),
    )

    z = Arithmetic(functions, bits, exact=False)
    peak = z.var("peak")
    required = z.call("required_bytes", peak, alignment, q)
    half = z.value(1 << (bits - 1))
    premises = {
        "quantum is a power of two": is_power(q),
        "alignment is a power of two": is_power(alignment),
        "alignment >= quantum": z3.UGE(alignment, q),
        "peak is a multiple of quantum": is_multiple(peak, q),
        "peak is at most half of the range": z3.ULE(peak, half),
    }
    proof.prove(
        theory, "required_bytes: peak + (alignment - quantum), a multiple of quantum, at least the peak; nothing wraps", premises,
        z3.And(z.nothing_wraps(), is_multiple(required, q), z3.UGE(required, peak), required - peak == alignment - q),
        needs=("alignment >= quantum", "peak is a multiple of quantum", "peak is at most half of the range"),
    )


def steps_of_the_theorem(proof, functions, bits):
    """The two properties of an aligning step on which the proof of the sizing theorem rests. (The induction over the steps
    of a program is not here: it is in the comment at required_bytes.)"""
    theory = f"{bits} bits, bit-vectors"
    z = Arithmetic(functions, bits, exact=False)
    x, y, a, coarsest = z.var("x"), z.var("y"), z.var("alignment"), z.var("coarsest")
    aligned = lambda at: at + z.call("padding", at, a)
    far = z3.ULE(y, z.value(1 << (bits - 2)))
    premises = {
        "alignment is a power of two": is_power(a),
        "alignment is at most a quarter of the range": z3.ULE(a, z.value(1 << (bits - 2))),
        "addresses are at most a quarter of the range": far,
    }
    proof.prove(
        theory, "aligning is monotone: x <= y, then aligned(x) <= aligned(y)", {**premises, "x <= y": z3.ULE(x, y)},
        z3.ULE(aligned(x), aligned(y)), needs=("x <= y", "alignment is a power of two"),
    )
    proof.prove(
        theory, "aligning commutes with a shift by any coarser alignment: aligned(y + A) = aligned(y) + A",
        {
            **premises,
            "A is a power of two": is_power(coarsest),
            "A is at least the alignment": z3.UGE(coarsest, a),
            "A is at most a quarter of the range": z3.ULE(coarsest, z.value(1 << (bits - 2))),
        },
        aligned(y + coarsest) == aligned(y) + coarsest, needs=("A is at least the alignment", "A is a power of two"),
    )


def blocks(proof, functions, bits, exact):
    theory = f"{bits} bits, bit-vectors, " + ("products and quotients exact" if exact else "products and quotients by the lemma")

    def arithmetic():
        return Arithmetic(functions, bits, exact)

    z = arithmetic()
    base, cursor, limit, count, size, alignment, q = map(z.var, "base cursor limit count size alignment quantum".split())
    pool = {
        "quantum is a power of two": is_power(q),
        "cursor is a multiple of quantum": is_multiple(cursor, q),
        "limit is a multiple of quantum": is_multiple(limit, q),
        "cursor <= limit": z3.ULE(cursor, limit),
        "size > 0": size != 0,
    }

    fits = z.call("fits", cursor, limit, count, size)
    product, overflows = z.multiply(count, size)
    proof.prove(
        theory, "fits: exactly if the bytes are at most limit - cursor; nothing wraps", pool,
        z3.And(z.nothing_wraps(), fits == z3.And(z3.Not(overflows), z3.ULE(product, limit - cursor))),
        needs=("cursor <= limit", "size > 0"), facts=z.known(),
    )

    z = arithmetic()
    fits = z.call("fits", cursor, limit, count, size)
    reserved = z.call("reserved_bytes", count, size, q)
    product, _ = z.multiply(count, size)
    proof.prove(
        theory, "reserved_bytes, of what fits: the bytes rounded up, still at most limit - cursor; nothing wraps",
        {**pool, "it fits": fits},
        z3.And(
            z.nothing_wraps(), is_multiple(reserved, q), z3.UGE(reserved, product), z3.ULT(reserved - product, q),
            z3.ULE(reserved, limit - cursor),
        ),
        # This is the invariant: that what fits before rounding also fits after.
        needs=("limit is a multiple of quantum", "cursor is a multiple of quantum", "it fits"), facts=z.known(),
    )

    z = arithmetic()
    s = z.var("other_start")
    room = {}

    # The lemmas above, as contracts.
    def padding(z, path, address, to):
        pad = room["pad"] = z.var("pad")
        z.promise("padding", path, is_power(to), z3.And(z3.ULT(pad, to), is_multiple(address + pad, to)))
        z.promise("padding", path, z3.And(is_power(q), is_multiple(address, q)), is_multiple(pad, q))
        return pad

    def fits(z, path, at, end, n, of):
        answer = z3.Bool("fits")
        product, overflows = z.multiply(n, of)
        room["at"], room["bytes"] = at, end - at
        it_does = z3.And(z3.Not(overflows), z3.ULE(product, end - at))
        z.promise("fits", path, z3.And(z3.ULE(at, end), of != 0), answer == it_does)
        return answer

    def reserved_bytes(z, path, n, of, quantum):
        reserved = room["reserved"] = z.var("reserved")
        product, overflows = z.multiply(n, of)
        free = room["bytes"]
        fit = z3.And(is_power(quantum), is_multiple(free, quantum), z3.Not(overflows), z3.ULE(product, free))
        rounded = z3.And(is_multiple(reserved, quantum), z3.UGE(reserved, product), z3.ULT(reserved - product, quantum))
        z.promise("reserved_bytes", path, fit, z3.And(rounded, z3.ULE(reserved, free)))
        return reserved

    if not exact:
        theory += ", calls by contract"
        z.contracts = {"padding": padding, "fits": fits, "reserved_bytes": reserved_bytes}
    placed, start, end = z.call("place", base, cursor, limit, count, size, alignment, q)
    facts = z.known()
    if not exact:
        if len(room) != 4:
            sys.exit("place calls other functions than padding, fits and reserved_bytes: the contracts here do not do for it")
        # Instances of the two lemmas about sums.
        facts += [
            step_stays_below(cursor, room["pad"], limit),
            step_stays_below(cursor, room["pad"], s),
            step_stays_below(room["at"], room["reserved"], limit),
            later_leaves_less(room["at"], s, limit),
        ]
    product, overflows = z.multiply(count, size)
    place = {
        **pool,
        "base is a multiple of quantum": is_multiple(base, q),
        "alignment is a power of two": is_power(alignment),
        "the region does not wrap": z3.BVAddNoOverflow(base, limit, False),
    }
    proof.prove(
        theory, "place: nothing wraps, whether it fits or not" + ("" if exact else "; what it calls may be called"), place,
        z.nothing_wraps(),
        needs=("the region does not wrap", "cursor <= limit", "limit is a multiple of quantum", "size > 0"), facts=facts,
    )
    right = {
        "start is at or after the cursor": z3.UGE(start, cursor),
        "end is at or after start": z3.ULE(start, end),
        "end <= limit": z3.ULE(end, limit),
        "start is a multiple of quantum": is_multiple(start, q),
        "end is a multiple of quantum": is_multiple(end, q),
        "base + start is aligned": is_multiple(base + start, alignment),
        "there is room for the bytes": z3.And(z3.Not(overflows), z3.UGE(end - start, product)),
        "and for less than a quantum more": z3.ULT(end - start - product, q),
    }
    needed = {
        "end <= limit": ("limit is a multiple of quantum", "cursor <= limit"),
        "start is a multiple of quantum": ("base is a multiple of quantum",),
        "end is a multiple of quantum": ("base is a multiple of quantum",),
        "base + start is aligned": ("alignment is a power of two",),
    }
    for what, claim in right.items():
        proof.prove(
            theory, "place, where it fits: " + what, place, z3.Implies(placed, claim), needs=needed.get(what, ()), facts=facts,
            weaker=(("where it does not fit too", claim),) if what == "there is room for the bytes" else (),
        )
    candidate = z3.And(z3.UGE(s, cursor), z3.ULE(s, limit), is_multiple(base + s, alignment))
    proof.prove(
        theory, "place, where it fits: no aligned address before start", place,
        z3.Implies(z3.And(placed, candidate), z3.UGE(s, start)), needs=("alignment is a power of two",), facts=facts,
        weaker=(("an earlier one", z3.Implies(z3.And(placed, candidate), z3.UGT(s, start))),),
    )
    proof.prove(
        theory, "place, where it does not fit: there is no aligned address with room for the bytes", place,
        z3.Implies(z3.And(z3.Not(placed), candidate), z3.Or(overflows, z3.UGT(product, limit - s))),
        needs=("alignment is a power of two",), facts=facts,
        weaker=(("never refused", placed),),
    )


def products(proof, functions, bits):
    z = Arithmetic(functions, bits, exact=True)
    a, b = z.var("a"), z.var("b")
    saturated = z.call("saturating_product", a, b)
    product, overflows = z.multiply(a, b)
    proof.prove(
        f"{bits} bits, bit-vectors, products and quotients exact",
        "saturating_product: the product, or the largest number where it does not fit", {},
        z3.If(overflows, saturated == z.max(), saturated == product), weaker=(("never saturated", saturated == product),),
    )


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    began = time.monotonic()
    functions = read_functions(sys.argv[1])
    proof = Proof()
    integers(proof)
    proof.bit_vectors = True
    numbers(proof, functions, 64)
    steps_of_the_theorem(proof, functions, 64)
    blocks(proof, functions, 64, exact=False)
    numbers(proof, functions, 6)
    blocks(proof, functions, 6, exact=True)
    products(proof, functions, 8)
    seconds = time.monotonic() - began
    print(f"{proof.lemmas} lemmas, {proof.controls} controls, {proof.failures} failures, {seconds:.1f} s, z3 {z3.get_version_string()}")
    return 1 if proof.failures else 0


sys.exit(main())
