"""Sharing of a branch by a link: the link, its public page, and the copy in which a reader can continue."""
