"""With which settings an installation runs: its zone and language for terminals that join, of all else digests only.

Those are enough to tell that another terminal was given others.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import replace
from zoneinfo import ZoneInfo

from kernel.config import Given
from kernel.settings import CommonSettings, Language
from zclaw.folder import DataFolder
from zclaw.locks import unusable


def keep(folder: DataFolder, given: Given) -> None:
    """Write down the settings that a supervisor of `folder` runs with. Raises FolderUnusable."""
    salt = secrets.token_hex(16)
    settings = given.settings(CommonSettings)
    record = {
        "salt": salt,
        "digests": {key: _digest(salt, value) for key, value in given.values.items()},
        "timezone": settings.timezone.key,
        "lang": settings.lang.value,
    }
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


def as_running(folder: DataFolder, settings: CommonSettings) -> CommonSettings:
    """`settings` with the zone and, unless it is `auto`, the language of the running supervisor: those apply there.

    As they are where no record can be read.
    """
    try:
        record = json.loads(folder.settings_record.read_text())
        zone, language = ZoneInfo(record["timezone"]), Language(record["lang"])
    except (OSError, ValueError, TypeError, KeyError):
        return settings
    return replace(settings, timezone=zone, lang=settings.lang if language is Language.AUTO else language)


def _digest(salt: str, value: object) -> str:
    return hashlib.sha256(f"{salt}:{json.dumps(value, sort_keys=True)}".encode()).hexdigest()
