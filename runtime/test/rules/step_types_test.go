package rules_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mostStepTypeFiles bounds how many hand-written files name a step type of automations, apart from
// stepTypeExamples: its files in packages definition and machine and in the dashboard, and for a
// type that acts outside the run the one in package steps.
const mostStepTypeFiles = 4

// moreStepTypeFiles are the types with another file: rest/automations/played describes their
// previews, and two more files let an author choose the email that a wait is about.
var moreStepTypeFiles = map[string]int{"send_sms": 1, "send_email": 3}

// stepTypeExamples name step types in examples, which a new type does not change. A tool of rest/mcp shares the name
// of one.
var stepTypeExamples = []string{
	"graph/schema/automations.graphqls",
	"rest/automations/automations.go",
	"rest/automations/insight/simulation.go",
	"rest/automations/insight/timeline.go",
	"rest/automations/runs.go",
	"rest/automations/schema.go",
	"rest/mcp/handler.go",
	"rest/mcp/send.go",
	"rest/pages/dashboard/src/screens/automations/model/made.ts",
	"runtime/work/event/catalog.go",
}

var stepTypeConst = regexp.MustCompile(`(?m)^const (\w+) = "(\w+_\w+)"\n\nvar _ = register`)

// TestStepTypesStayInTheirFiles checks the types whose name means nothing else in the program.
func TestStepTypesStayInTheirFiles(t *testing.T) {
	t.Parallel()
	const root = "../../.."
	paths, err := filepath.Glob(root + "/modules/automations/definition/*.go")
	if err != nil {
		t.Fatal(err)
	}
	patterns := map[string]*regexp.Regexp{}
	for _, path := range paths {
		if m := stepTypeConst.FindStringSubmatch(readText(t, path)); m != nil {
			patterns[m[2]] = regexp.MustCompile(`\b(` + m[2] + `|definition\.` + m[1] + `|register\(` + m[1] + `)\b`)
		}
	}
	if len(patterns) < len(moreStepTypeFiles) {
		t.Fatalf("found %d step types in package definition, want at least the %d of this test", len(patterns),
			len(moreStepTypeFiles))
	}
	named := map[string][]string{}
	for _, folder := range []string{"modules", "rest", "graph", "runtime", "cmd/postrider"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				if d.Name() == "node_modules" || d.Name() == "dist" || path == root+"/runtime/test" {
					return filepath.SkipDir
				}
				return nil
			}
			if !isHandWritten(d.Name()) || slices.Contains(stepTypeExamples, strings.TrimPrefix(path, root+"/")) {
				return nil
			}
			text := readText(t, path)
			for name, pattern := range patterns {
				if pattern.MatchString(text) {
					named[name] = append(named[name], path)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range patterns {
		most := mostStepTypeFiles + moreStepTypeFiles[name]
		if n := len(named[name]); n < 3 || n > most {
			t.Errorf("%d files name the step type %s, want 3 to %d; derive the rest from its own files:\n%s", n,
				name, most, strings.Join(named[name], "\n"))
		}
	}
}

func isHandWritten(name string) bool {
	switch filepath.Ext(name) {
	case ".go", ".ts", ".tsx", ".graphqls":
		return !strings.HasSuffix(name, "_test.go") && !strings.Contains(name, ".test.") &&
			!strings.Contains(name, ".gen.") && !strings.Contains(name, "generated") &&
			!strings.HasSuffix(name, "_gen.go")
	}
	return false
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
