//! Runs the fuzz targets for a moment on every change, without any tool but the compiler.

mod bodies;
mod views;
