"""What has to be installed or built before a box can start: Debian packages, pinned Go programs, wheels."""
