package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// The linker sets these variables: -ldflags '-X main.version=…'. A build from a clone knows its commit without them.
//
//nolint:gochecknoglobals // the linker sets variables only
var (
	version   string
	commit    string
	buildDate string // date of the commit, so that two builds of it are identical
)

// build describes this binary.
type build struct {
	Version   string        `json:"version"`
	Commit    string        `json:"commit"` // empty if unknown
	BuildDate string        `json:"build_date"`
	Go        string        `json:"go"`
	Platform  string        `json:"platform"`
	Modules   []buildModule `json:"modules"`
}

type buildModule struct {
	Path    string `json:"path"`
	Version string `json:"version"`
}

// describeBuild reads the values that the linker and the compiler stored.
func describeBuild() build {
	b := build{Version: version, Commit: commit, BuildDate: buildDate, Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Modules: []buildModule{}}
	info, found := debug.ReadBuildInfo()
	if !found {
		b.Version = cmp.Or(b.Version, "dev")
		return b
	}
	if main := info.Main.Version; main != "(devel)" {
		b.Version = cmp.Or(b.Version, main)
	}
	b.Version = cmp.Or(b.Version, "dev")
	stamped := map[string]string{}
	for _, s := range info.Settings {
		stamped[s.Key] = s.Value
	}
	if b.Commit == "" && stamped["vcs.revision"] != "" {
		b.Commit = stamped["vcs.revision"]
		if stamped["vcs.modified"] == "true" {
			b.Commit += "-dirty"
		}
	}
	b.BuildDate = cmp.Or(b.BuildDate, stamped["vcs.time"])
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Modules = append(b.Modules, buildModule{m.Path, m.Version})
	}
	return b
}

func (b build) String() string {
	if b.Commit == "" {
		return fmt.Sprintf("postrider %s (%s %s)", b.Version, b.Go, b.Platform)
	}
	return fmt.Sprintf("postrider %s (%s, %s %s)", b.Version, shortCommit(b.Commit), b.Go, b.Platform)
}

// shortCommit keeps the first 12 digits, and whether the tree was modified.
func shortCommit(commit string) string {
	const digits, dirty = 12, "-dirty"
	if len(commit) <= digits+len(dirty) {
		return commit
	}
	if commit[len(commit)-len(dirty):] == dirty {
		return commit[:digits] + dirty
	}
	return commit[:digits]
}

type versionCommand struct {
	JSON bool `help:"Print version, commit, build date, Go version and modules as JSON." name:"json"`
}

func (c *versionCommand) Run(s *session) error {
	if c.JSON {
		return s.print(describeBuild())
	}
	_, err := fmt.Fprintln(s.out, describeBuild())
	return err
}
