"""What `verify` tells about a self-paced function."""

from dataclasses import dataclass

from mlspl.pacing.base import SelfPacedFunction

__all__ = ["Check", "Report"]


@dataclass(frozen=True)
class Check:
    """One condition: where it comes from, what it says, whether it holds, and the point that shows it."""

    source: str
    statement: str
    passed: bool
    witness: str


@dataclass(frozen=True)
class Report:
    """What `verify` found. Its text is a table; `passed` tells whether every condition holds."""

    function: SelfPacedFunction
    checks: tuple[Check, ...]
    remark: str = ""

    @property
    def passed(self) -> bool:
        """Whether every condition holds."""
        return not self.failed

    @property
    def failed(self) -> tuple[Check, ...]:
        """The conditions that do not hold."""
        return tuple(check for check in self.checks if not check.passed)

    def __str__(self) -> str:
        """The report as a table in plain text."""
        rows = [(c.source, c.statement, "holds" if c.passed else "FAILS", c.witness) for c in self.checks]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = [f"{self.function!r}: {self.verdict}"]
        lines += [
            "  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[3]]).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, self.remark] if self.remark else lines)

    @property
    def verdict(self) -> str:
        """The outcome in a phrase."""
        if self.passed:
            return "a self-paced function; every condition holds."
        count = len(self.failed)
        return f"{count} of {len(self.checks)} conditions {'fails' if count == 1 else 'fail'}."
