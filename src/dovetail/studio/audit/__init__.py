"""The audit view: cut a network into clusters beside the server, and watch the null fill up."""
