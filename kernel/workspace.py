"""A conversation's files: a manifest of blobs that goes with its record, so that any worker sees the same files."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from kernel.errors import ModelError
from kernel.ports import Blobs

MAX_FILES = 200
MAX_PATH_CHARS = 200
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Controls, marks of direction, half characters, line ends: a name must be what it looks like. A joined emoji is."""


class Workspace:
    """The files of one conversation as one running tool sees them; `changes` is what a commit must store.

    Paths are names, not places on a disk: `/` only groups them, and nothing outside the manifest can be reached.
    """

    def __init__(self, files: Mapping[str, str], blobs: Blobs) -> None:
        self._files = dict(files)
        self._blobs = blobs
        self.changes: dict[str, str | None] = {}

    def paths(self) -> tuple[str, ...]:
        """All paths, sorted."""
        return tuple(sorted(self._files))

    async def read(self, path: str) -> bytes:
        """The file's bytes. Raises `ModelError` when there is none."""
        blob = self._files.get(_clean(path))
        content = await self._blobs.get(blob) if blob else None
        if content is None:
            raise ModelError(f"There is no file {path!r}.")
        return content

    async def write(self, path: str, content: bytes) -> None:
        """Create or replace the file. Raises `ModelError` for a path that is none, or one file too many."""
        name = _clean(path)
        if name not in self._files and len(self._files) >= MAX_FILES:
            raise ModelError(f"There are {MAX_FILES} files already; delete some first.")
        blob = await self._blobs.put(content)
        self._files[name] = self.changes[name] = blob

    def delete(self, path: str) -> None:
        """Remove the file. Raises `ModelError` when there is none."""
        name = _clean(path)
        if self._files.pop(name, None) is None:
            raise ModelError(f"There is no file {path!r}.")
        self.changes[name] = None


def _clean(path: str) -> str:
    """The one spelling of `path`: relative, without `.` and empty segments. Raises `ModelError` for anything else."""
    segments = [segment for segment in path.split("/") if segment not in ("", ".")]
    is_bad = (
        not segments
        or path.startswith("/")
        or ".." in segments
        or "\\" in path
        or any(unicodedata.category(sign) in _UNSEEN and sign != "\u200d" for sign in path)
        or len(path) > MAX_PATH_CHARS
    )
    if is_bad:
        raise ModelError(f"{path!r} is not a path inside this conversation's files.")
    return "/".join(segments)
