"""What the units and modules of a sculpture compute: as formulas where they are Boolean, else said to be numbers."""
