package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the Makefile: -ldflags '-X main.version=…'.
var version string //nolint:gochecknoglobals // the linker sets variables only

// versionOf says what was built.
func versionOf() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

// platform says what with and what for.
func platform() string {
	return fmt.Sprintf("%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
