package expect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Cases runs judge over inputs from the field, so that a user's report becomes a file and a line. The folder
// has the inputs and verdicts.txt, whose lines are the name of a file and what judge must return for it. Empty
// lines and lines that begin with # are comments. Every file of the folder needs a line.
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
