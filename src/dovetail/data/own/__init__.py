"""Data of one's own: arrays, tables, pictures and texts, from memory or files, as splits that a network can train on.

Each file turns one kind of source into `Content`; `labels` and `splitting` are what they share.
"""
