"""The services of docker-compose.yml, read as Compose would start them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
STORE_URL = "redis://valkey:6379/0"


def compose() -> dict[str, Any]:
    """The file, its anchors followed."""
    content: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return content


def instructions(word: str) -> list[str]:
    """What the Dockerfile says after that word, continued lines joined, in order."""
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    return re.findall(rf"^{word}\s+(.*)$", text, re.MULTILINE)


def example(name: str) -> dict[str, str]:
    """An env file as it is handed out, for `deploy/<name>.env`."""
    lines = (ROOT / f"{name}.example").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


@dataclass(frozen=True, slots=True)
class Service:
    """One service: its command line, its variables, and how it is asked whether it is well."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    probe: tuple[str, ...]


def service(name: str, filled: Mapping[str, str]) -> Service:
    """The service, with the examples copied and these lines of them `filled` in where they stand."""
    content = compose()["services"][name]
    environment: dict[str, str] = {}
    for each in instructions("ENV"):
        environment |= dict(pair.split("=", 1) for pair in each.split())
    for file in content["env_file"]:
        lines = example(file)
        environment |= lines | {key: value for key, value in filled.items() if key in lines}
    environment |= content["environment"]
    entry = json.loads(instructions("ENTRYPOINT")[0])
    own = content.get("healthcheck", {}).get("test")
    probe = own[1:] if own else json.loads(instructions("HEALTHCHECK")[0].partition("CMD ")[2])
    return Service(name, (*entry, *content["command"]), environment, tuple(probe))
