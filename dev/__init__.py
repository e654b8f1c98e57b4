"""What the Makefile calls: the Python environment, the checks, the demo.

Standard library only: these programs run before anything is installed.
"""
