package telemetry

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// docs/logs.md explains every key of keys.go, in its order, and no other.
func TestTheManualExplainsEveryKey(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "keys.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []string
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, is := n.(*ast.BasicLit); is {
			key, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			declared = append(declared, key)
		}
		return true
	})
	page, err := os.ReadFile("../../../docs/logs.md")
	if err != nil {
		t.Fatal(err)
	}
	var explained []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| .+ \\|$").FindAllSubmatch(page, -1) {
		explained = append(explained, string(row[1]))
	}
	if len(declared) == 0 || !slices.Equal(explained, declared) {
		t.Errorf("docs/logs.md explains %q, want the keys of keys.go: %q", explained, declared)
	}
}
