#!/bin/sh
# The C compiler for macOS. Zig knows the target by another name, so the options that name it are
# dropped. `ZIG` is the path of zig.
skip=
for argument do
  shift
  if [ -n "$skip" ]; then
    skip=
    continue
  fi
  case $argument in
    --target=* | -mmacosx-version-min=*) ;;
    -arch) skip=yes ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec "$ZIG" cc -target aarch64-macos "$@"
