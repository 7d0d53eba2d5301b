package rules_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest    = regexp.MustCompile("`(Test[A-Za-z0-9]+)`")
	declaredTest = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)\(`)
)

// Each promise in SECURITY.md names at least one test that verifies it, and each named test exists.
func TestPromisesNameTestsThatExist(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	exists := declaredTests(t)
	promises := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| promise") {
			continue
		}
		promises++
		names := namedTest.FindAllStringSubmatch(line, -1)
		if len(names) == 0 {
			t.Errorf("the promise names no test: %s", line)
		}
		for _, name := range names {
			if !exists[name[1]] {
				t.Errorf("%s does not exist: %s", name[1], line)
			}
		}
	}
	if promises == 0 {
		t.Error("SECURITY.md has no promises")
	}
}

func declaredTests(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, path := range testFiles(t) {
		code, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range declaredTest.FindAllStringSubmatch(string(code), -1) {
			found[name[1]] = true
		}
	}
	return found
}

// testFiles lists the project's test files, relative to this folder.
func testFiles(t *testing.T) (paths []string) {
	t.Helper()
	for _, folder := range []string{"cmd", "ent", "graph", "modules", "rest", "runtime"} {
		err := filepath.WalkDir(filepath.Join("..", "..", "..", folder),
			func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() && strings.HasSuffix(path, "_test.go") {
					paths = append(paths, path)
				}
				return err
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	return paths
}
