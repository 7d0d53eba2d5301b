package rules_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	skipWhenQuick = regexp.MustCompile(`SkipWhenQuick\(t, "make ([a-z-]+)"\)`)
	skippedTest   = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)\(t \*testing\.T\) \{.*\n\texpect\.SkipWhenQuick\(t, "make ([a-z-]+)"\)$`)
)

// A test that make test skips must be run by a target of .ci/run. The Makefile finds these tests by their
// first line, in the packages that the targets run.
func TestSkippedTestsRunInCI(t *testing.T) {
	t.Parallel()
	ci, err := os.ReadFile("../../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	runBy := map[string][]string{ // by package
		"cmd/postrider":         {"ui-test"},
		"runtime/test/journeys": {"ui-test", "drill-short"},
		"runtime/test/faults":   {"drill-short"},
	}
	seen := map[string]bool{}
	for _, path := range testFiles(t) {
		code, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		folder := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../../../")
		found := skippedTest.FindAllSubmatch(code, -1)
		if calls := len(skipWhenQuick.FindAll(code, -1)); calls != len(found) {
			t.Errorf("%s: %d of %d calls of SkipWhenQuick are the first line of a test", path, len(found), calls)
		}
		for _, match := range found {
			name, target := string(match[1]), string(match[2])
			seen[target] = true
			if !slices.Contains(runBy[folder], target) {
				t.Errorf("%s: %s is deferred to make %s, which does not run %s", path, name, target, folder)
			}
		}
	}
	for _, target := range []string{"ui-test", "drill-short"} {
		if !seen[target] || !regexp.MustCompile(`(?m)^make .*\b`+target+`\b`).Match(ci) {
			t.Errorf("make %s is not named in .ci/run or in the tests", target)
		}
	}
}
