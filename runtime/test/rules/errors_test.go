package rules_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

var (
	// listedErrors matches the errors that a doc comment lists.
	listedErrors = regexp.MustCompile(`\bErrors?: ([^.]*)`)
	errorName    = regexp.MustCompile(`\b[A-Z][A-Za-z]+\b`)
)

// The errors that a doc comment lists are kinds of package fault, or names of this project. After a rename,
// no comment keeps the old name.
func TestListedErrorsExist(t *testing.T) {
	t.Parallel()
	declared := map[string]bool{"DNS": true, "SMTP": true, "HTTP": true, "PostgreSQL": true}
	listed := map[[2]string]bool{} // name and file
	files := token.NewFileSet()
	for _, f := range sourceFiles(t, "modules", "rest", "graph", "runtime", "cmd") {
		file, err := parser.ParseFile(files, f.abs, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if name, ok := n.(*ast.Ident); ok {
				declared[name.Name] = true
			}
			return true
		})
		for _, group := range file.Comments {
			text := strings.Join(strings.Fields(group.Text()), " ")
			for _, list := range listedErrors.FindAllStringSubmatch(text, -1) {
				for _, name := range errorName.FindAllString(list[1], -1) {
					listed[[2]string{name, f.path}] = true
				}
			}
		}
	}
	if len(listed) < 10 {
		t.Fatalf("found %d errors in doc comments, want more: has their form changed?", len(listed))
	}
	for at := range listed {
		if !declared[at[0]] {
			t.Errorf("%s: a doc comment lists the error %s, which does not exist", at[1], at[0])
		}
	}
}
