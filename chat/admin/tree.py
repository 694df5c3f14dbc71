"""The tree of a conversation's messages, without their texts."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

# A message's id and times, as texts of the database or in the form of Python; all of one tree in the same.
NodeKey = Any
Moment = Any
NodeRow = tuple[NodeKey, NodeKey | None, Moment, Moment | None]


class Tree:
    """All messages of a conversation, from rows (id, parent, created, selected_at), oldest first."""

    def __init__(self, rows: Iterable[NodeRow]) -> None:
        self._parent: dict[NodeKey, NodeKey | None] = {}
        self._chosen: dict[NodeKey, Moment] = {}
        self._versions: dict[NodeKey | None, list[NodeKey]] = defaultdict(list)
        for key, parent, created, picked in rows:
            self._parent[key] = parent
            self._chosen[key] = max(created, picked or created)
            self._versions[parent].append(key)

    def __contains__(self, key: NodeKey) -> bool:
        return key in self._parent

    def __len__(self) -> int:
        return len(self._parent)

    @property
    def ends(self) -> int:
        """The number of branches."""
        return sum(key not in self._versions for key in self._parent)

    def versions(self, key: NodeKey) -> list[NodeKey]:
        """Return the message and its siblings, oldest first."""
        return self._versions[self._parent[key]]

    def branch(self, leaf: NodeKey) -> list[NodeKey]:
        """Return the messages from the root to `leaf`. It ends at a cycle, which nothing here writes."""
        path: dict[NodeKey, None] = {}
        key: NodeKey | None = leaf
        while key in self._parent and key not in path:
            path[key] = None
            key = self._parent[key]
        return list(reversed(path))

    def through(self, key: NodeKey | None) -> list[NodeKey]:
        """Return the branch through message `key`, or from the root if None, down to a leaf.

        Below `key`, each step takes the child that was created or selected last, as the author's page does.
        """
        path = dict.fromkeys(self.branch(key) if key else [])
        while (following := self._versions.get(key)) and not path.keys() & following:
            key = max(following, key=self._chosen.__getitem__)
            path[key] = None
        return list(path)
