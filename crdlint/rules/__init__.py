"""The checks, by topic; importing this package registers them all."""
