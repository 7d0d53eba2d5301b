package rules_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sourceFile is a hand-written or generated Go file that is not a test.
type sourceFile struct {
	path string // from the project's root, with slashes
	abs  string
}

func (f sourceFile) readCode(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(f.abs)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// isGenerated matches files that no person edits.
func (f sourceFile) isGenerated(t *testing.T) bool {
	t.Helper()
	head, _, _ := strings.Cut(f.readCode(t), "\npackage ")
	return strings.Contains(head, "Code generated") && strings.Contains(head, "DO NOT EDIT")
}

// sourceFiles lists the project's non-test Go files below the given folders. A folder with a
// go.mod is another Go module, which nothing here can import: its files are left out.
func sourceFiles(t *testing.T, folders ...string) []sourceFile {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	var out []sourceFile
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name := d.Name()
			if d.IsDir() && p != root && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "testdata" || name == "data" || name == "bin") {
				return filepath.SkipDir
			}
			if d.IsDir() && p != root {
				if _, err := os.Stat(filepath.Join(p, "go.mod")); err == nil {
					return filepath.SkipDir
				}
			}
			if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return nil
			}
			rel, err := filepath.Rel(root, p)
			out = append(out, sourceFile{path: filepath.ToSlash(rel), abs: p})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}
