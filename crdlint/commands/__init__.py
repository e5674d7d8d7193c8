"""The commands, one a module; `crdlint.cli` loads a module when its command is run."""
