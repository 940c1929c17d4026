//! Directories that agents work in: roots, archive extraction, git clones and their finalization, safe removal.
