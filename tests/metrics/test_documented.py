"""The page, the dashboard and the rules for alerts name metrics and labels that are exported."""

import json
import re
from collections.abc import Iterator

import pytest
import yaml
from prometheus_client import Counter, Histogram
from prometheus_client.metrics import MetricWrapperBase

from chat.telemetry.metrics import definitions
from tests.support.databases import ROOT

DEPLOY = ROOT / "deploy"
PAGE = (DEPLOY / "metrics.md").read_text("utf-8")
RULES = yaml.safe_load((DEPLOY / "alerts.yml").read_text("utf-8"))["groups"][0]["rules"]
DASHBOARD = json.loads((DEPLOY / "grafana-dashboard.json").read_text("utf-8"))
OF_PROMETHEUS = {"instance", "job"}  # labels that Prometheus adds to each series
ROW = re.compile(r"^\| `(chat_\w+)` \| (\w+) \| (.*?) ?\| ", re.MULTILINE)


def metrics() -> dict[str, MetricWrapperBase]:
    """Each metric by its name in queries; of a histogram, without the end of its series."""
    found = [each for each in vars(definitions).values() if isinstance(each, MetricWrapperBase)]
    return {each._name + ("_total" if isinstance(each, Counter) else ""): each for each in found}


def series() -> dict[str, set[str]]:
    """The labels of each exported series."""
    found: dict[str, set[str]] = {}
    for name, metric in metrics().items():
        labels = set(metric._labelnames)
        if isinstance(metric, Histogram):
            found |= {f"{name}_bucket": labels | {"le"}, f"{name}_sum": labels, f"{name}_count": labels}
        else:
            found[name] = labels
    return found


def queries() -> Iterator[tuple[str, str]]:
    """Each query, and the text that shows its result."""
    for rule in RULES:
        yield rule["expr"], json.dumps(rule["annotations"]).replace("$labels.", "")
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield target["expr"], target["legendFormat"]
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["query"], ""


def problems(query: str, shown: str = "") -> list[str]:
    """Return the metrics that a query and its text name but that are not exported."""
    exported, found = series(), []
    names = set(re.findall(r"\bchat_\w+", query))
    known = OF_PROMETHEUS.union(*(exported.get(name, set()) for name in names))
    found += [name for name in names if name not in exported]
    for name, inner in re.findall(r"\b(chat_\w+)\{([^}]*)\}", query):
        labels = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", inner))
        found += labels - exported.get(name, set()) - OF_PROMETHEUS
    for listed in re.findall(r"\b(?:by|without|on) ?\(([^)]*)\)", query):
        found += set(re.findall(r"\w+", listed)) - known
    return found + [label for label in re.findall(r"\{\{ ?(\w+) ?\}\}", shown) if label not in known]


@pytest.mark.parametrize(("query", "shown"), list(queries()))
def test_each_query_names_what_is_exported(query: str, shown: str) -> None:
    assert problems(query, shown) == []
    assert query.count("(") == query.count(")")
    assert re.search(r"\bchat_|\bup\b", query)


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("chat_runs", ""),
        ("rate(chat_first_token_seconds[5m])", ""),
        ('chat_runs_total{state="x"}', ""),
        ("sum by (pool) (chat_runs_total)", ""),
        ("chat_viewers", "{{model}}"),
    ],
)
def test_a_wrong_query_is_found(query: str, shown: str) -> None:
    assert problems(query, shown)


def test_the_page_describes_each_metric_with_its_type_and_labels() -> None:
    described = {
        name: (kind, set(re.findall(r"`(\w+)`", labels))) for name, kind, labels in ROW.findall(PAGE)
    }
    exported = {name: (each._type, set(each._labelnames)) for name, each in metrics().items()}
    assert described == exported


def test_each_metric_is_on_the_dashboard() -> None:
    shown = " ".join(query for query, _ in queries())
    assert [name for name in metrics() if name not in shown] == []


@pytest.mark.parametrize("name", sorted(metrics()))
def test_names_and_units_follow_the_conventions(name: str) -> None:
    metric = metrics()[name]
    assert re.fullmatch(r"chat(_[a-z]+)+", name)
    assert not re.search(r"(milli|micro|minutes|hours|percent|kilo|mega)", name)
    assert name.endswith("_total") == isinstance(metric, Counter)
    assert name.endswith("_seconds") == isinstance(metric, Histogram)
    assert metric._documentation.endswith(".")


def test_each_alert_says_what_it_means() -> None:
    names = [rule["alert"] for rule in RULES]
    assert len(names) == len(set(names)) > 5
    for rule in RULES:
        assert set(rule["annotations"]) == {"summary", "description"}
        assert rule["labels"]["severity"] in ("warning", "critical")
