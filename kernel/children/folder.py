"""A child's private folder: the conversation's files go in, what changed comes out, nothing foreign ever does."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kernel.ports import TakeBack, Taken

_MOST_ENTRIES = 20_000
_DEEPEST = 64
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Folder:
    """Where a child lives: `home` and `temporary` are its own, `files` is where it works."""

    path: Path

    @property
    def home(self) -> Path:
        """Its HOME."""
        return self.path / "home"

    @property
    def temporary(self) -> Path:
        """Its TMPDIR."""
        return self.path / "tmp"

    @property
    def files(self) -> Path:
        """The given files."""
        return self.path / "files"


def make(inside: Path | None = None) -> Folder:
    """A new empty folder that only we can enter."""
    return Folder(Path(tempfile.mkdtemp(prefix="zclaw-child-", dir=inside)).resolve())


def lay_out(folder: Folder, files: Mapping[str, bytes]) -> frozenset[str]:
    """Write the files; the paths that no disk can hold beside the others (too long, both file and folder)."""
    for each in (folder.home, folder.temporary, folder.files):
        each.mkdir(mode=0o700)
    left_out: set[str] = set()
    for path, content in files.items():
        place = folder.files / path
        try:
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with place.open("xb") as file:
                file.write(content)
            place.chmod(0o700 if content.startswith(b"#!") else 0o600)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            left_out.add(path)
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            left_out.add(path)
    return frozenset(left_out)


@dataclass(slots=True)
class _Basket:
    given: Mapping[str, bytes]
    bounds: TakeBack
    owner: int
    written: dict[str, bytes] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    skipped: set[str] = field(default_factory=set)
    total: int = 0
    entries: int = 0


def take_back(
    folder: Folder, given: Mapping[str, bytes], left_out: frozenset[str], bounds: TakeBack, owner: int
) -> Taken:
    """How the files differ from the given ones, within the bounds; only plain files of the user `owner` count.

    To be called when the child is gone. Links are never followed, not even in the place of a folder; what is skipped
    keeps its given content. A foreign owner means a hard link to a file that the child itself could not read.
    """
    basket = _Basket(given, bounds, owner)
    try:
        top = os.open(folder.files, _FLAGS | os.O_DIRECTORY)
    except OSError:
        # The folder itself was removed or replaced: nothing in it can be trusted, nothing is deleted for it.
        return Taken(skipped=tuple(sorted(given)))
    try:
        _gather(top, "", 0, basket)
    finally:
        os.close(top)
    kept = basket.seen | left_out | {path for path in given if _is_below(path, basket.skipped)}
    is_whole = basket.entries <= _MOST_ENTRIES
    deleted = sorted(path for path in given if path not in kept) if is_whole else []
    return Taken(dict(sorted(basket.written.items())), tuple(deleted), tuple(sorted(basket.skipped | left_out)))


def _is_below(path: str, skipped: set[str]) -> bool:
    parts = path.split("/")
    return any("/".join(parts[:count]) in skipped for count in range(1, len(parts) + 1))


def _gather(folder: int, prefix: str, depth: int, basket: _Basket) -> None:
    for name, path in _names(folder, prefix, basket):
        try:
            entry = os.open(name, _FLAGS | os.O_NONBLOCK, dir_fd=folder)
        except OSError:  # A link, a socket, or locked by its owner.
            basket.skipped.add(path)
            continue
        try:
            status = os.fstat(entry)
            if status.st_uid != basket.owner:
                basket.skipped.add(path)
            elif stat.S_ISDIR(status.st_mode):
                if depth >= _DEEPEST:
                    basket.skipped.add(path)
                else:
                    _gather(entry, path + "/", depth + 1, basket)
            elif stat.S_ISREG(status.st_mode):
                _take(entry, path, status.st_size, basket)
            else:
                basket.skipped.add(path)
        finally:
            os.close(entry)


def _names(folder: int, prefix: str, basket: _Basket) -> Iterator[tuple[str, str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            basket.entries += 1
            if basket.entries > _MOST_ENTRIES:
                return
            yield entry.name, prefix + entry.name


def _take(file: int, path: str, size: int, basket: _Basket) -> None:
    try:
        path.encode()
    except UnicodeEncodeError:
        basket.skipped.add(path.encode(errors="surrogateescape").decode(errors="replace"))
        return
    room = basket.bounds.total_bytes - basket.total
    before = basket.given.get(path)
    # Unchanged files take no room: they are compared piece by piece before anything is kept.
    if before is not None and size == len(before) and _read(file, size) == before:
        basket.seen.add(path)
    elif size > room or len(basket.written) >= basket.bounds.files:
        basket.skipped.add(path)
    else:
        content = _read(file, size)
        basket.total += len(content)
        basket.written[path] = content
        basket.seen.add(path)


def _read(file: int, size: int) -> bytes:
    os.lseek(file, 0, os.SEEK_SET)
    pieces: list[bytes] = []
    while size > 0 and (piece := os.read(file, min(size, 2**20))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def discard(folder: Folder) -> None:
    """Remove the folder when no keeper does."""
    from kernel.children.remove import remove  # noqa: PLC0415

    with contextlib.suppress(OSError):
        remove(str(folder.path))
