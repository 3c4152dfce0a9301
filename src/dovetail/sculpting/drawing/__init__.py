"""Pictures of networks with their modules: `layout` places units, `draw` draws them with matplotlib."""
