"""The results of a run as they come: a file with a line of JSON for each, from which a later run goes on."""

import fcntl
import json
import os

from . import InputError


class Store:
    """Rows by key. What a run that was cut off left half written at the end is dropped."""

    def __init__(self, path, keep=True):
        self.path, self.rows = path, {}
        self.file = open(path, "a", encoding="utf-8")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"another evaluation is writing into {path.parent}: wait for it, or name another folder with --output") from None
        except OSError:  # a file system without locks
            pass
        if not keep and path.is_file():
            self.file.truncate(0)
        if path.is_file():
            self.read()

    def read(self):
        whole, strange = 0, 0
        with open(self.path, "rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                whole += len(line)
                try:
                    row = json.loads(line)
                except ValueError:
                    row = None
                if isinstance(row, dict) and "key" in row:
                    self.rows[row["key"]] = row
                else:
                    strange += 1
        if strange > len(self.rows):
            raise InputError(f"{self.path} is no file of results: name another folder with --output")
        os.truncate(self.path, whole)

    def add(self, row):
        self.file.write(json.dumps(row, ensure_ascii=False) + "\n")
        self.file.flush()
        self.rows[row["key"]] = row

    def close(self):
        self.file.close()
