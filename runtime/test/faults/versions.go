package faults

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// OldVariable names the program of the previous version, or the commit or tag to build it from. The default
// is the latest tag.
const OldVariable = "POSTRIDER_DRILL_OLD"

// Versions returns a program of the previous version and the one to test. If there is no previous version,
// and long tests are enabled, the newer program is the current one with an additional expanding migration;
// otherwise the test is skipped.
func Versions(t testing.TB, long bool) (older, newer string) {
	t.Helper()
	before := os.Getenv(OldVariable)
	if before == "" {
		tag, err := exec.Command("git", "describe", "--tags", "--abbrev=0").Output()
		before = strings.TrimSpace(string(tag))
		if (err != nil || before == "") && !long {
			t.Skipf("there is no earlier release; set %s to a commit to use instead", OldVariable)
		}
	}
	if file, err := os.Stat(before); err == nil && file.Mode().IsRegular() {
		return before, binary(t)
	}
	if before != "" {
		return buildOf(t, before, ""), binary(t)
	}
	return binary(t), buildOf(t, "HEAD",
		"-- expand\nALTER TABLE \"emails\" ADD COLUMN \"drill\" integer NOT NULL DEFAULT 0;\n")
}

// buildOf builds the program of a commit, with an additional migration if that is not empty.
func buildOf(t testing.TB, commit, migration string) (file string) {
	t.Helper()
	tree := filepath.Join(t.TempDir(), "tree")
	run := func(dir, name string, arguments ...string) {
		t.Helper()
		command := exec.Command(name, arguments...)
		command.Dir = dir
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("build the program of %s: %s: %v\n%s", commit, name, err, output)
		}
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(tree, 0o755); err != nil {
		t.Fatal(err)
	}
	run(root, "git", "archive", "--output", tree+".tar", commit)
	run(tree, "tar", "-xf", tree+".tar")
	run(root, "cp", "-R", "rest/pages/dashboard/dist", filepath.Join(tree, "rest/pages/dashboard")) // not in Git
	if migration != "" {
		if err := os.WriteFile(filepath.Join(tree, "ent/migrate/migrations/20990101000000_drill.sql"),
			[]byte(migration), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file = filepath.Join(t.TempDir(), "postrider")
	run(tree, "go", "build", "-o", file, "./cmd/postrider")
	return file
}

// Become makes the server run another program from its next launch on.
func (s *Server) Become(program string) { s.program = program }
