"""The runs view: what recipes did, are doing, and what came of it beside the published values."""
