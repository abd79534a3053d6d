//! Runs the fuzz targets for a moment on every change, without any tool but the compiler.

mod targets;
mod views;
