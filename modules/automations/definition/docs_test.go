package definition

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the table of step types in docs/automations.md")

var (
	typeTable = regexp.MustCompile("(?m)(^\\| type \\| description \\|\n\\|---\\|---\\|\n)((?:\\|.*\n)+)")
	typeRow   = regexp.MustCompile("(?m)^\\| `(\\w+)`")
)

// The rows of the table are the descriptions of the types. They keep their order; -update appends new types.
func TestDocumentationListsEveryStepType(t *testing.T) {
	t.Parallel()
	const path = "../../../docs/automations.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	table := typeTable.FindSubmatchIndex(page)
	if table == nil {
		t.Fatalf("%s has no table of step types", path)
	}
	rows := string(page[table[4]:table[5]])
	var names []string
	for _, m := range typeRow.FindAllStringSubmatch(rows, -1) {
		if _, known := stepTypes[m[1]]; known && !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	for _, name := range Types() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var want strings.Builder
	for _, name := range names {
		want.WriteString("| `" + name + "` | " + stepTypes[name].describe() + " |\n")
	}
	if *update {
		page = slices.Concat(page[:table[4]], []byte(want.String()), page[table[5]:])
		if err := os.WriteFile(path, page, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want.String(), rows); diff != "" {
		t.Errorf("the table of step types in docs/automations.md is stale (-want +page): run go test ./modules/automations/definition -run Documentation -update\n%s", diff)
	}
}
