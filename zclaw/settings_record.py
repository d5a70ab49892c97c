"""With which settings an installation runs, as digests: enough to tell that another terminal was given others."""

from __future__ import annotations

import hashlib
import json
import secrets

from kernel.config import Given
from zclaw.folder import DataFolder
from zclaw.locks import unusable


def keep(folder: DataFolder, given: Given) -> None:
    """Write down the settings that a supervisor of `folder` runs with. Raises FolderUnusable."""
    salt = secrets.token_hex(16)
    record = {"salt": salt, "digests": {key: _digest(salt, value) for key, value in given.values.items()}}
    path = folder.settings_record
    new = path.with_suffix(".new")
    try:
        new.touch(mode=0o600)
        new.write_text(json.dumps(record))
        new.replace(path)
    except OSError as error:
        raise unusable(folder.root, error) from error


def differing(folder: DataFolder, given: Given) -> list[str]:
    """What `given` says otherwise than the running supervisor's settings, as the person wrote it, sorted.

    What `given` does not say is no difference. Nothing where no record can be read.
    """
    try:
        record = json.loads(folder.settings_record.read_text())
        salt, known = record["salt"], record["digests"]
        other = [key for key, value in given.values.items() if known.get(key) != _digest(salt, value)]
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return []
    return sorted(given.written.get(key, key) for key in other)


def _digest(salt: str, value: object) -> str:
    return hashlib.sha256(f"{salt}:{json.dumps(value, sort_keys=True)}".encode()).hexdigest()
