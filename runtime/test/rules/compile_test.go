package rules_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var lruImport = regexp.MustCompile(`"github\.com/(hashicorp/golang-lru|maypok86/otter)`)

// A generic cache is compiled, with all its methods, in every package that uses one. runtime/base/cache
// compiles its table only once.
func TestOnlyOnePackageImportsLRU(t *testing.T) {
	t.Parallel()
	seen := false
	for _, f := range sourceFiles(t, ".") {
		if !lruImport.MatchString(f.readCode(t)) {
			continue
		}
		if seen = seen || strings.HasPrefix(f.path, "runtime/base/cache/"); !strings.HasPrefix(f.path,
			"runtime/base/cache/") {
			t.Errorf("%s imports an LRU: use runtime/base/cache", f.path)
		}
	}
	if !seen {
		t.Error("found no LRU import in runtime/base/cache: correct the pattern")
	}
}

// If a package has internal tests, Go recompiles everything between it and the imports of its external
// tests, for these tests alone. Between a module and the whole service that is nearly everything, including
// the generated code of GraphQL.
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
			t.Errorf("%s: %s is an internal test and %s starts the whole service: move the latter to runtime/test/journeys", pkg.dir, inside, whole)
		}
	}
}
