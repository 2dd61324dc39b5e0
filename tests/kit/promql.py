"""Reads PromQL: the metrics that an expression names, with their matchers and grouping labels."""

import re
from dataclasses import dataclass, field

# Every metric that we expose, or that a client library or Prometheus adds to it.
_METRIC = re.compile(r"\b((?:tradewind|process)_\w+|up)\b(?:\{([^}]*)\})?")
_MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"')
_GROUPING = re.compile(r"\bby\s*\(([^)]*)\)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_KNOWN_WORDS = {
    *("absent", "by", "sum", "max", "min", "rate", "increase", "time", "topk", "and", "or", "Inf"),
    "histogram_quantile",
}


@dataclass(frozen=True)
class Selector:
    """A metric, and the conditions on its labels: label, operator and value."""

    metric: str
    matchers: list[tuple[str, str, str]]

    def accepts(self, labels: dict[str, str]) -> bool:
        return all(
            (re.fullmatch(value, labels.get(label, "")) is not None) == (operator in {"=~", "="})
            if "~" in operator
            else (labels.get(label, "") == value) == (operator == "=")
            for label, operator, value in self.matchers
        )


@dataclass(frozen=True)
class Expression:
    """The parts of an expression that must match what is exposed."""

    selectors: list[Selector]
    grouping: set[str] = field(default_factory=set)


def read(text: str) -> Expression:
    """Read an expression; a word that is no metric, label or known function is an error."""
    selectors = [
        Selector(metric, _MATCHER.findall(matchers)) for metric, matchers in _METRIC.findall(text)
    ]
    grouping = {label.strip() for labels in _GROUPING.findall(text) for label in labels.split(",")}
    rest = re.sub(r"\[[^\]]*\]", "", _METRIC.sub("", text))
    unknown = set(_WORD.findall(rest)) - _KNOWN_WORDS - grouping
    assert not unknown, f"{unknown} in {text}"
    return Expression(selectors, grouping)
