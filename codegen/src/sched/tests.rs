//! Tests of scheduling.
