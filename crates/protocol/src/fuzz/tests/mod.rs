//! Runs the fuzz targets briefly on every change; needs no tools besides the compiler.

mod targets;
mod views;
