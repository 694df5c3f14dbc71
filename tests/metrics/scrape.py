"""A scrape of the metrics, as Prometheus does it."""

import httpx
from prometheus_client.parser import text_string_to_metric_families

TOKEN = "a-token-of-thirty-two-characters"
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def scrape(url: str, token: str = TOKEN) -> Samples:
    """Each value, by name and labels."""
    headers = {"Authorization": f"Bearer {token}"}
    response = httpx.get(f"{url}/metrics", headers=headers, trust_env=False, timeout=60)
    assert response.status_code == 200, response.text
    return samples(response.text)


def samples(text: str) -> Samples:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def total(found: Samples, name: str, **labels: str) -> float:
    """The sum of all series of this name that have these labels."""
    return sum(value for (each, having), value in found.items() if each == name and labels.items() <= having)
