"""What keeps the house in order: figures about the code, and a net under changes to it."""
