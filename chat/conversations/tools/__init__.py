"""The tools that a model may call while it replies: each looks something up, for one person."""
