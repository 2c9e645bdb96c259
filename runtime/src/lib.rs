//! Loads zebins and launches their kernels: on the embedded simulator or through Level Zero.
