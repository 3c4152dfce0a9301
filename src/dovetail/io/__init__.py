"""Files, as we write and read them: whole or not at all, value by value, and never run."""
