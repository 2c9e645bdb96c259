//! The filetest runner and its corpus.
