# SPDX-License-Identifier: MIT
"""The counts that are kept: one line per function and compiler. A change that moves one of them must say so."""

import difflib
import pathlib


class CountsFile:
    """Lines `name compiler figures...`, sorted by the order in which a run produces them, comments first."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        lines = self.path.read_text(encoding="ascii").splitlines() if self.path.exists() else []
        self.head = [line for line in lines if line.startswith("#")]
        self.lines = [line for line in lines if line and not line.startswith("#")]

    def of(self, compiler):
        return [line for line in self.lines if line.split()[1] == compiler]

    def update(self, compiler, fresh):
        """Replaces what is kept of `compiler`; other compilers' lines stay."""
        if self.of(compiler) == fresh:
            return
        blocks = {}
        for line in self.lines:
            blocks.setdefault(line.split()[1], []).append(line)
        blocks[compiler] = fresh
        parts = ["\n".join(self.head), *("\n".join(blocks[name]) for name in sorted(blocks))]
        self.path.write_text("\n\n".join(parts) + "\n", encoding="ascii")
        self.__init__(self.path)

    def difference(self, compiler, fresh):
        """A diff from the kept lines to the fresh ones; empty where they agree."""
        kept = self.of(compiler)
        return list(difflib.unified_diff(kept, fresh, f"{self.path.name}", "counted now", lineterm="", n=0))
