"""What is published: the wheel and the sdist, their metadata, and what is promised about them."""
