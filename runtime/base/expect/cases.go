package expect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Cases runs judge over inputs from the field, so that a user's report becomes a file and a line. The folder
// contains the inputs and verdicts.txt, whose lines are the name of a file and the expected result of judge.
// Empty lines and lines that begin with # are comments. Every file of the folder needs a line.
func Cases(t *testing.T, folder string, judge func(t *testing.T, input []byte) string) {
	t.Helper()
	const list = "verdicts.txt"
	text, err := os.ReadFile(filepath.Join(folder, list))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{list: true}
	for line := range strings.Lines(string(text)) {
		name, want, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}
		if listed[name] {
			t.Errorf("%s lists %s twice", list, name)
		}
		listed[name] = true
		t.Run(name, func(t *testing.T) {
			input, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				t.Fatal(err)
			}
			if got := judge(t, input); got != strings.TrimSpace(want) {
				t.Errorf("the verdict is %q, want %q", got, strings.TrimSpace(want))
			}
		})
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !listed[file.Name()] {
			t.Errorf("%s has no line in %s", file.Name(), list)
		}
	}
}

// GoldenCases is Cases for inputs whose result is a text: testdata/cases has an input NAME.ext and the right result in
// NAME.want. To turn a report into a test, add the input, run the test with -update, and read the result.
func GoldenCases(t *testing.T, ext string, judge func(t *testing.T, input []byte) string) {
	t.Helper()
	inputs, err := filepath.Glob("testdata/cases/*." + ext)
	if err != nil || len(inputs) == 0 {
		t.Fatalf("found no inputs testdata/cases/*.%s (%v)", ext, err)
	}
	for _, file := range inputs {
		name := strings.TrimSuffix(filepath.Base(file), "."+ext)
		t.Run(name, func(t *testing.T) {
			input, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			Golden(t, "cases/"+name+".want", strings.ReplaceAll(judge(t, input), "\r\n", "\n"))
		})
	}
	results, err := filepath.Glob("testdata/cases/*.want")
	if err != nil || len(results) != len(inputs) {
		t.Errorf("testdata/cases has %d inputs and %d results (%v)", len(inputs), len(results), err)
	}
}
