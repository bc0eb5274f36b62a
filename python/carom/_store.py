"""Storage of a dataset: a folder, in which complete files appear by rename, or an object store, whose
objects appear only when they are complete. Keys are paths below it."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import pathlib
import socket
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

from ._optional import needed


def write_whole(path: pathlib.Path, write: Callable[[pathlib.Path], Any]) -> None:
    """write(a file next to it) -> on disk -> renamed -> the rename on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for last in (False, False, True):
        # host and process do not name one writer: containers may share both, threads do
        writer = f"{socket.gethostname()}.{os.getpid()}.{os.urandom(4).hex()}"
        temporary = path.with_name(f".{path.name}.{writer}.tmp")
        try:
            write(temporary)
            with open(temporary, "rb+") as file:
                os.fsync(file.fileno())
            os.replace(temporary, path)
            break
        except BaseException as error:
            temporary.unlink(missing_ok=True)
            # another process that finishes the dataset may have taken it for an orphan
            if last or not isinstance(error, FileNotFoundError):
                raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _below(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


class _Patient(io.RawIOBase):
    """A file whose first failure waits until HDF5, which ends badly on a full disk, is done with it."""

    def __init__(self, file: io.FileIO) -> None:
        self._file, self._at = file, 0
        self.failure: OSError | None = None

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, place: int, whence: int = 0) -> int:
        end = self._file.seek(0, 2) if whence == 2 else 0
        self._at = place + (self._at if whence == 1 else end)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, into: Any) -> int:
        self._file.seek(self._at)
        count = self._file.readinto(into) or 0
        self._at += count
        return count

    def write(self, content: Any) -> int:
        left = memoryview(content).cast("B")
        count = len(left)
        try:
            self._file.seek(self._at)
            while self.failure is None and len(left):
                left = left[self._file.write(left) or 0 :]
        except OSError as error:
            self.failure = error
        self._at += count
        return count

    def truncate(self, size: int | None = None) -> int:
        return self._file.truncate(self._at if size is None else size)


class Store:
    """What datasets ask of the place where they lie."""

    name: str

    def put(self, key: str, content: bytes) -> None:
        """Under its key whole or not at all. Errors: OSError."""
        raise NotImplementedError

    def put_by(self, key: str, write: Callable[[BinaryIO], Any]) -> tuple[int, str]:
        """The same of what write(file) writes; its size and SHA-256."""
        raise NotImplementedError

    def read(self, key: str) -> bytes:
        raise NotImplementedError

    def size(self, key: str) -> int | None:
        """None where there is nothing of that name."""
        raise NotImplementedError

    def sizes(self, folder: str) -> dict[str, int]:
        """Of all keys right below the folder, by one listing."""
        raise NotImplementedError

    def folders(self, folder: str) -> list[str]:
        """The names of those right below it."""
        raise NotImplementedError

    def local(self, key: str) -> contextlib.AbstractContextManager[pathlib.Path]:
        """A file with its bytes."""
        raise NotImplementedError

    def handle(self, key: str) -> Any:
        """What h5py opens to read some of its rows."""
        raise NotImplementedError

    def remove(self, key: str) -> None:
        raise NotImplementedError

    def orphans(self) -> list[str]:
        """What killed writers left."""
        return []

    def put_text(self, key: str, text: str) -> None:
        self.put(key, text.encode())

    def put_json(self, key: str, document: Any, indent: int | None = 1) -> None:
        self.put_text(key, json.dumps(document, indent=indent) + "\n")

    def read_json(self, key: str) -> Any:
        return json.loads(self.read(key))

    def __str__(self) -> str:
        return self.name


class Folder(Store):
    def __init__(self, path: pathlib.Path) -> None:
        self.path, self.name = path, str(path)

    def put(self, key: str, content: bytes) -> None:
        write_whole(self.path / key, lambda path: path.write_bytes(content))

    def put_by(self, key: str, write: Callable[[BinaryIO], Any]) -> tuple[int, str]:
        found: list[tuple[int, str]] = []

        def whole(path: pathlib.Path) -> None:
            total = hashlib.sha256()
            with open(path, "w+b", buffering=0) as file:
                patient = _Patient(file)
                write(cast(BinaryIO, patient))
                if patient.failure is not None:
                    raise patient.failure
                file.seek(0)
                while block := file.read(1 << 20):
                    total.update(block)
                found.append((file.tell(), total.hexdigest()))

        write_whole(self.path / key, whole)
        return found[0]

    def read(self, key: str) -> bytes:
        return (self.path / key).read_bytes()

    def size(self, key: str) -> int | None:
        try:
            return (self.path / key).stat().st_size
        except FileNotFoundError:
            return None

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self.path / folder) as entries:
                return [entry for entry in entries if not entry.name.startswith(".")]
        except FileNotFoundError:
            return []

    def sizes(self, folder: str) -> dict[str, int]:
        found = (entry for entry in self._entries(folder) if entry.is_file())
        return {_below(folder, entry.name): entry.stat().st_size for entry in found}

    def folders(self, folder: str) -> list[str]:
        return sorted(entry.name for entry in self._entries(folder) if entry.is_dir())

    @contextlib.contextmanager
    def local(self, key: str) -> Iterator[pathlib.Path]:
        yield self.path / key

    def handle(self, key: str) -> Any:
        return self.path / key

    def remove(self, key: str) -> None:
        (self.path / key).unlink(missing_ok=True)

    def orphans(self) -> list[str]:
        return sorted(str(path.relative_to(self.path)) for path in self.path.rglob(".*.tmp"))


class Objects(Store):
    """By fsspec: s3://bucket/name, gs://, memory://, ... A part is a key that every writer writes
    with the same bytes; its record commits it. Nothing is renamed, appended to or locked."""

    def __init__(self, url: str) -> None:
        self.name = url.rstrip("/")
        self._at("")

    def _at(self, key: str) -> tuple[Any, str]:
        fsspec = needed("fsspec", "an object store", "objects")  # a file system a process, also after a fork
        more = {"auto_mkdir": True} if self.name.startswith(("file:", "local:")) else {}
        system, root = fsspec.core.url_to_fs(self.name, **more)
        return system, f"{root}/{key}" if key else root

    def put(self, key: str, content: bytes) -> None:
        system, path = self._at(key)
        system.pipe_file(path, content)

    def put_by(self, key: str, write: Callable[[BinaryIO], Any]) -> tuple[int, str]:
        file = io.BytesIO()
        write(file)
        content = file.getvalue()
        self.put(key, content)
        return len(content), hashlib.sha256(content).hexdigest()

    def read(self, key: str) -> bytes:
        system, path = self._at(key)
        content: bytes = system.cat_file(path)
        return content

    def size(self, key: str) -> int | None:
        system, path = self._at(key)
        system.invalidate_cache()
        try:
            return int(system.info(path)["size"])
        except FileNotFoundError:
            return None

    def _entries(self, folder: str) -> list[dict[str, Any]]:
        system, path = self._at(folder)
        system.invalidate_cache()
        try:
            entries: list[dict[str, Any]] = system.ls(path, detail=True)
        except FileNotFoundError:
            return []
        return entries

    def sizes(self, folder: str) -> dict[str, int]:
        found = (entry for entry in self._entries(folder) if entry["type"] == "file")
        return {_below(folder, entry["name"].rsplit("/", 1)[1]): int(entry["size"]) for entry in found}

    def folders(self, folder: str) -> list[str]:
        found = (entry["name"] for entry in self._entries(folder) if entry["type"] == "directory")
        return sorted(name.rstrip("/").rsplit("/", 1)[1] for name in found)

    @contextlib.contextmanager
    def local(self, key: str) -> Iterator[pathlib.Path]:
        system, path = self._at(key)
        with tempfile.TemporaryDirectory(prefix="carom-") as folder:
            file = pathlib.Path(folder) / "object"
            system.get_file(path, str(file))
            yield file

    def handle(self, key: str) -> Any:
        system, path = self._at(key)
        return system.open(path, "rb")

    def remove(self, key: str) -> None:
        system, path = self._at(key)
        if system.exists(path):
            system.rm_file(path)


def store_of(where: Any) -> Store:
    """A folder, or a URL that fsspec knows."""
    if isinstance(where, Store):
        return where
    return Objects(where) if isinstance(where, str) and "://" in where else Folder(pathlib.Path(where))
