"""The Networks view: look into a sculpture or any checkpoint, and take modules out of it.

`files` finds the files, `reading` makes a `Network` of one, `grouping` finds its modules, `picture` and `taking_out`
answer questions about them, and `routes` is what the browser talks to.
"""
