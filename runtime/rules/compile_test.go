package rules_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var cacheField = regexp.MustCompile(`(?m)^\t\w+ +\*?otter\.Cache\[`)

// A generic type in a field is compiled, with all its methods, in every package that
// can see the field. Of caches that is much.
func TestFieldsNameCachesByTheirInterface(t *testing.T) {
	t.Parallel()
	if !cacheField.MatchString("type s struct {\n\tkeys     *otter.Cache[keyHash, credential]\n}") {
		t.Error("a field that is an otter.Cache is not seen")
	}
	for _, f := range sourceFiles(t, ".") {
		if found := cacheField.FindString(f.code(t)); found != "" {
			t.Errorf("%s has the field %s…: name it cache.Cache (runtime/cache says why)", f.path, strings.TrimSpace(found))
		}
	}
}

// Go compiles what stands between a package with tests inside of it and what its other tests
// import once more, for these tests alone. Between a module and the whole that is nearly
// everything, the generated code of GraphQL too.
func TestTestsOfTheWholeAreNotBesideTestsFromInside(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
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
			if strings.Contains(string(content), `"`+modulePath+`/runtime/runtimetest"`) {
				whole = filepath.Base(file)
			}
		}
		if inside != "" && whole != "" {
			t.Errorf("%s: %s is inside of the package and %s starts the whole: a test of the whole goes to runtime/journeys", pkg.dir, inside, whole)
		}
	}
}
