"""The programs' entry points. Everything is wired together here, and nothing is imported from here."""
