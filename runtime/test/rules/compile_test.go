package rules_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var lruImport = regexp.MustCompile(`"github\.com/(hashicorp/golang-lru|maypok86/otter)`)

// A generic cache is compiled, with all its methods, in every package that can see one. That of
// runtime/base/cache compiles its table once.
func TestOnlyOnePackageImportsLRU(t *testing.T) {
	t.Parallel()
	seen := false
	for _, f := range sourceFiles(t, ".") {
		if !lruImport.MatchString(f.code(t)) {
			continue
		}
		if seen = seen || strings.HasPrefix(f.path, "runtime/base/cache/"); !strings.HasPrefix(f.path, "runtime/base/cache/") {
			t.Errorf("%s imports an LRU: use runtime/base/cache", f.path)
		}
	}
	if !seen {
		t.Error("runtime/base/cache is not seen to import an LRU: correct the pattern")
	}
}

// Go compiles what stands between a package with tests inside of it and what its other tests
// import once more, for these tests alone. Between a module and the whole that is nearly
// everything, the generated code of GraphQL too.
func TestWholeServiceTestsHaveSeparatePackages(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range sourcePackages(t) {
		if !strings.HasPrefix(pkg.dir, "modules/") && !strings.HasPrefix(pkg.dir, "rest/") {
			continue
		}
		tests, err := filepath.Glob(filepath.Join(root, pkg.dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var inside, whole string
		for _, file := range tests {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !regexp.MustCompile(`(?m)^package \w+_test$`).Match(content) {
				inside = filepath.Base(file)
			}
			if strings.Contains(string(content), `"`+modulePath+`/runtime/test/harness"`) {
				whole = filepath.Base(file)
			}
		}
		if inside != "" && whole != "" {
			t.Errorf("%s: %s is inside of the package and %s starts the whole: a test of the whole goes to runtime/test/journeys", pkg.dir, inside, whole)
		}
	}
}
