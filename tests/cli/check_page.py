#!/usr/bin/env python3
"""Runs the checks of docs/howto/check_a_proof.md, word for word, on random problems of every kind.

    check_page.py CAROM PAGE [--problems N] [--seed S] [--kinds lp,qp,..] [--keep FOLDER] [--method M]
    check_page.py CAROM PAGE --answers FILE    of a list of {"problem": a file's name, "answer": ..}

The problems have small integers, exact and shifted by rounding, units of powers of two from 2^-20
to 2^20, flat cones, singular matrices and repeated rows. Prints how many answers of each kind and
status passed; exit status 1 where the page rejects an answer, where a status claims something
that the page has no check for, or where `carom verify` says otherwise than the page. Points far
along the rays of unbounded QPs and cone problems are then given as solutions: the page and
`carom verify` must refuse each.
"""
import argparse
import collections
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

CLAIM_NOTHING = {"contradiction", "inaccurate", "iteration_limit", "numerical_error",
                 "ray"}


def blocks_of(page):
    """The page's Python by first lines: {"opening": code, "lp solved": code, ..}."""
    blocks = {}
    for text in re.findall(r"```python\n# (.*?)```", open(page).read(), re.S):
        name, code = text.split("\n", 1)
        blocks[name] = compile(code, name, "exec")
    return blocks


class Checker:
    def __init__(self, page):
        self.blocks = blocks_of(page)

    def block(self, answer):
        kind, status = answer["kind"], answer["status"]
        return f"qp {status}" if status == "nonconvex" else f"{kind} {status}"

    def complaint(self, problem, answer):
        """None where the page accepts the answer."""
        name = self.block(answer)
        if name not in self.blocks:
            return None if answer["status"] in CLAIM_NOTHING else f"the page has no check {name}"
        # the opening reads two files: it is given what they hold
        space = {"open": lambda given: given}
        load, json.load, arguments = json.load, lambda given: given, sys.argv
        sys.argv = ["check.py", problem, [answer]]
        try:
            exec(self.blocks["opening"], space)
            exec(self.blocks[name], space)
        except AssertionError as error:
            line = error.__traceback__.tb_next.tb_lineno
            return f"{name}: line {line} of its check fails"
        except Exception as error:
            return f"{name}: {type(error).__name__}: {error}"
        finally:
            json.load, sys.argv = load, arguments
        return None


class Draw:
    """Random problems; how: integers, units or near."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def number(self):
        r = self.r
        value = r.randint(-4, 4)
        return float(value * 10 ** r.randint(3, 9)) if r.random() < 0.01 else float(value)

    def vector(self, n):
        return [self.number() for _ in range(n)]

    def matrix(self, m, n):
        rows = [[float(self.r.choice((0, 0, 1, -1, 2, -3, 3))) for _ in range(n)] for _ in range(m)]
        if m > 1 and self.r.random() < 0.2:  # a row again, or its negative
            rows[-1] = [self.r.choice((1.0, -1.0)) * v for v in rows[0]]
        return rows

    def bounds(self, m):
        low, high = [], []
        for _ in range(m):
            kind, a = self.r.random(), self.number()
            b = a if self.r.random() < 0.3 else a + self.r.randint(0, 5)
            low.append(a if kind > 0.3 else None)
            high.append(b if kind < 0.3 or kind > 0.6 else None)
        return low, high

    def near(self, v):
        """v, in half of the cases of `near` moved by a rounding or a little more."""
        return v * (1.0 + self.r.choice((-1, 1)) * 2.0 ** -self.r.randint(20, 52))

    def spoil(self, rows):
        for row in rows:
            for j, v in enumerate(row):
                if v is not None and self.r.random() < 0.2:
                    row[j] = self.near(v)

    def units(self, n):
        return [2.0 ** self.r.randint(-20, 20) for _ in range(n)]

    def hessian(self, n, convex=True):
        rank = self.r.randint(0, n)
        g = self.matrix(rank, n) if rank else []
        p = [[sum(a[i] * a[j] for a in g) for j in range(n)] for i in range(n)]
        if not convex:
            i = self.r.randrange(n)
            p[i][i] -= self.r.randint(1, 4)
        return p


def scaled(values, units):
    return [v if v is None else v * u for v, u in zip(values, units)]


def grid(rows, left, right):
    return [[v * a * b for v, b in zip(row, right)] for row, a in zip(rows, left)]


def lp(d, how):
    m, n = d.r.randint(1, 5), d.r.randint(1, 5)
    a, c = d.matrix(m, n), d.vector(n)
    rl, ru = d.bounds(m)
    cl, cu = d.bounds(n)
    if how == "near":
        d.spoil([*a, c, rl, ru, cl, cu])
        ru = [u if l is None or u is None else max(l, u) for l, u in zip(rl, ru)]
        cu = [u if l is None or u is None else max(l, u) for l, u in zip(cl, cu)]
    if how == "units":
        t, s = d.units(m), d.units(n)
        a, c = grid(a, t, s), scaled(c, s)
        rl, ru = scaled(rl, t), scaled(ru, t)
        cl, cu = scaled(cl, [1 / v for v in s]), scaled(cu, [1 / v for v in s])
    return {"kind": "lp", "c": c, "A": a, "row_lower": rl, "row_upper": ru, "col_lower": cl,
            "col_upper": cu, "sense": d.r.choice(("min", "max"))}


def qp(d, how):
    m, n = d.r.randint(0, 5), d.r.randint(1, 5)
    p, q, a = d.hessian(n, d.r.random() < 0.9), d.vector(n), d.matrix(m, n)
    if d.r.random() < 0.3:  # bounds of variables
        a += [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
        m += n
    low, high = d.bounds(m)
    if how == "near":
        d.spoil([*a, q, low, high])
        for i in range(n):
            p[i][i] = d.near(p[i][i])
    if how == "units":
        t, s = d.units(m), d.units(n)
        p, q, a = grid(p, s, s), scaled(q, s), grid(a, t, s)
        low, high = scaled(low, t), scaled(high, t)
    return {"kind": "qp", "P": p, "q": q, "A": a, "l": low, "u": high}


def socp(d, how):
    n = d.r.randint(1, 4)
    cones = [[kind, d.r.randint(1, 4)] for kind in
             d.r.choices(("zero", "nonneg", "second_order"), (1, 2, 4), k=d.r.randint(1, 3))]
    m = sum(size for _, size in cones)
    p = d.hessian(n) if d.r.random() < 0.5 else [[0.0] * n for _ in range(n)]
    q, a, b = d.vector(n), d.matrix(m, n), d.vector(m)
    if how == "near":
        d.spoil([*a, q, b])
    if how == "units":
        t, s, at = [], d.units(n), 0
        for kind, size in cones:
            t += d.units(1) * size if kind == "second_order" else d.units(size)
        p, q, a, b = grid(p, s, s), scaled(q, s), grid(a, t, s), scaled(b, t)
    return {"kind": "socp", "P": p, "q": q, "A": a, "b": b, "cones": cones}


def lcp(d, how):
    n = d.r.randint(1, 5)
    kind = d.r.randrange(3)
    m = d.hessian(n) if kind == 0 else d.matrix(n, n)
    if kind == 1:  # skew beside a Hessian: still monotone
        h = d.hessian(n)
        m = [[h[i][j] + m[i][j] - m[j][i] for j in range(n)] for i in range(n)]
    q = d.vector(n)
    if how == "near":
        d.spoil([*m, q])
    if how == "units":
        t, s = d.units(n), d.units(n)
        m, q = grid(m, t, s), scaled(q, t)
    return {"kind": "lcp", "M": m, "q": q}


def friction(d, how):
    contacts, dim = d.r.randint(1, 3), d.r.choice((2, 3))
    n, k = contacts * dim, d.r.randint(1, 6)
    j = d.matrix(n, k)
    w = [[sum(x * y for x, y in zip(a, b)) for b in j] for a in j]
    q, mu = d.vector(n), [d.r.choice((0.0, 0.3, 0.5, 1.0, 2.0)) for _ in range(contacts)]
    if how == "near":
        d.spoil([q, mu])
    if how == "units":
        t = [u for u in d.units(contacts) for _ in range(dim)]
        w, q = grid(w, t, t), scaled(q, t)
    return {"kind": "coulomb_friction", "dim": dim, "W": w, "q": q, "mu": mu}


KINDS = {"lp": lp, "qp": qp, "socp": socp, "lcp": lcp, "coulomb_friction": friction}


def document_of(command):
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode > 1:
        sys.exit(run.stderr)
    return run.stdout


def judged(carom, problems, answers=None, more=()):
    """The answers (those of `carom solve` without any), and of each why `carom verify` refutes it,
    None where it does not."""
    with tempfile.TemporaryDirectory() as folder:
        name, kept = os.path.join(folder, "problems.json"), os.path.join(folder, "answers.json")
        with open(name, "w") as file:
            json.dump(problems, file)
        text = json.dumps(answers) if answers else document_of(
            [carom, "solve", name, "--json", *more])
        with open(kept, "w") as file:
            file.write(text)
        report = json.loads(document_of([carom, "verify", kept, "--problem", name, "--json"]))
    refuted = {entry["index"]: entry["reason"] for entry in report["reasons"]}
    return [(answer, refuted.get(i)) for i, answer in enumerate(json.loads(text))]


def false_solutions(problem, answer):
    """Of an unbounded problem, its point moved along its ray, as solutions without multipliers."""
    if answer["status"] != "unbounded" or "P" not in problem:
        return
    falls = [a * b for a, b in zip(problem["q"], answer["ray"])]
    if -math.fsum(falls) < 1e-6 * max(map(abs, falls)):
        return  # so slow a fall is within what a solution may leave
    n, multipliers = len(problem["q"]), "cone_dual" if "cones" in problem else "dual"
    for exponent in range(0, 20, 2):
        x = [a + 10.0 ** exponent * b for a, b in zip(answer["point"], answer["ray"])]
        terms = [0.5 * x[i] * problem["P"][i][j] * x[j] for i in range(n) for j in range(n)]
        terms += [a * b for a, b in zip(problem["q"], x)]
        yield {**answer, "status": "solved", "x": x, "point": None, "ray": None, "face": None,
               multipliers: [0.0] * len(problem["A"]), "objective": math.fsum(terms)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("carom")
    parser.add_argument("page")
    parser.add_argument("--problems", type=int, default=1000, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--how", default="integers,units,near")
    parser.add_argument("--keep", help="folder for the first problems that the page rejects")
    parser.add_argument("--method")
    parser.add_argument("--answers")
    given = parser.parse_args()
    checker, hows = Checker(given.page), given.how.split(",")
    rejected = 0
    if given.answers:
        for case in json.load(open(given.answers)):
            complaint = checker.complaint(json.load(open(case["problem"])), case["answer"])
            if complaint is not None:
                rejected += 1
                print(f"{case['problem']}: {complaint}")
        sys.exit(1 if rejected else 0)
    for kind in given.kinds.split(","):
        draw = Draw(f"{given.seed} {kind}")
        problems = [KINDS[kind](draw, hows[i % len(hows)]) for i in range(given.problems)]
        passed, failed, false = collections.Counter(), collections.defaultdict(list), []
        for at in range(0, len(problems), 5000):
            part = problems[at:at + 5000]
            more = ["--method", given.method] if given.method else []
            found = judged(given.carom, part, more=more)
            for i, (problem, (answer, refuted)) in enumerate(zip(part, found)):
                complaint = checker.complaint(problem, answer)
                if (complaint is None) != (refuted is None):
                    complaint = f"{complaint or 'the page takes it'}; carom verify: {refuted}"
                if complaint is None:
                    passed[answer["status"]] += 1
                else:
                    failed[hows[(at + i) % len(hows)], complaint].append((problem, answer))
                false += [(problem, claim) for claim in false_solutions(problem, answer)]
        if false:
            problems, claims = zip(*false)
            for problem, (claim, refuted) in zip(problems, judged(given.carom, problems, claims)):
                complaint = checker.complaint(problem, claim)
                if complaint is not None and refuted is not None:
                    passed["refused"] += 1
                else:
                    complaint = f"false: the page: {complaint}; carom verify: {refuted}"
                    failed["planted", complaint].append((problem, claim))
        print(kind, ", ".join(f"{status} {count}" for status, count in sorted(passed.items())))
        for (how, complaint), cases in sorted(failed.items()):
            rejected += len(cases)
            print(f"  {how}: {complaint}: {len(cases)}")
            # the smallest tells most
            problem, answer = min(cases, key=lambda case: len(json.dumps(case[0])))
            print("   ", json.dumps(problem), json.dumps({k: v for k, v in answer.items() if
                                                         k != "settings" and v is not None}))
            if given.keep:
                os.makedirs(given.keep, exist_ok=True)
                words = re.sub(r"\W+", "_", f"{kind}_{how}_{complaint}")[:60]
                for k, (problem, _) in enumerate(cases[:5]):
                    with open(os.path.join(given.keep, f"{words}_{k}.json"), "w") as file:
                        json.dump(problem, file)
    sys.exit(1 if rejected else 0)


if __name__ == "__main__":
    main()
