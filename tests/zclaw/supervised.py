"""A supervisor for tests, over fake roles: `python -m tests.zclaw.supervised JOURNAL BEHAVIOURS [--until-last-terminal]
[--ready-fd=N]`, with BEHAVIOURS like `bots=steady,worker=dies`."""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from pathlib import Path

from kernel import config
from kernel.errors import OperatorError
from zclaw.roles import READY, TAKEN
from zclaw.store import AlreadyRunning, start_store
from zclaw.up import Role, Supervisor

_KINDS = {
    "bots": config.BotSettings,
    "worker": config.WorkerSettings,
    "scheduler": config.SchedulerSettings,
}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("journal")
    parser.add_argument("behaviours")
    parser.add_argument("--until-last-terminal", action="store_true")
    parser.add_argument("--ready-fd", type=int)
    arguments = parser.parse_args()

    config.conceal([sys.executable, *sys.orig_argv[1:]])
    given = config.read()
    with start_store(given.settings(config.CommonSettings).data_dir) as store:
        handed = given.with_redis_url(store.url)
        roles = []
        for pair in arguments.behaviours.split(","):
            name, behaviour = pair.split("=")
            words = (name, arguments.journal, behaviour, str(store.folder.root))
            command = (sys.executable, "-m", "tests.zclaw.fake_role", *words)
            roles.append(Role(name, command, handed.part(_KINDS[name]).line(leash=True), patience_s=3.0))
        supervisor = Supervisor(
            store.folder,
            store,
            roles,
            until_last_terminal=arguments.until_last_terminal,
            dice=random.Random(1),
        )
        return supervisor.run(lambda: tell_ready(arguments))


def tell_ready(arguments: argparse.Namespace) -> None:
    with Path(arguments.journal).open("a") as file:
        file.write(json.dumps({"event": "ready", "pid": os.getpid()}) + "\n")
    if arguments.ready_fd is not None:
        os.write(arguments.ready_fd, READY.encode() + b"\n")
        os.close(arguments.ready_fd)


try:
    sys.exit(main())
except AlreadyRunning:
    for word in sys.argv:
        if word.startswith("--ready-fd="):
            os.write(int(word.partition("=")[2]), TAKEN.encode() + b"\n")
    sys.exit(2)
except OperatorError as error:
    sys.stderr.write(f"{error}\n")
    sys.exit(2)
