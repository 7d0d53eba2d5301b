package rules_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"strings"
	"testing"
)

// A package beyond these sizes may hold two subjects. The test names it with -v and does not fail, because the boundary
// of a package follows its subject.
const (
	manyFiles = 30
	manyNames = 200 // functions, types, constants and variables; methods belong to their type
)

// laidOut are packages whose layout is set by a tool, with the reason. They do not count.
var laidOut = map[string]func(file string) bool{
	// Ent reads one package, with one file for each table.
	"ent/schema": func(string) bool { return true },
	// gqlgen keeps the resolvers of all SDL files in one package: two files for each, named like it.
	"graph": func(file string) bool {
		subject, _, _ := strings.Cut(path.Base(file), ".")
		_, err := os.Stat("../../../graph/schema/" + subject + ".graphqls")
		return err == nil
	},
}

func TestLargePackagesAreNamed(t *testing.T) {
	t.Parallel()
	for _, pkg := range sourcePackages(t) {
		files, names := 0, 0
		excused := laidOut[pkg.dir]
		for _, f := range pkg.files {
			if !f.isGenerated(t) && (excused == nil || !excused(f.path)) {
				files++
				names += f.countNames(t)
			}
		}
		if files > manyFiles || names > manyNames {
			t.Logf("%s has %d files and %d top-level names: does it have a single subject?", pkg.dir, files, names)
		}
	}
}

// countNames counts the top-level declarations of a file, without methods, init and _.
func (f sourceFile) countNames(t *testing.T) (n int) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), f.abs, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, declared := range parsed.Decls {
		switch d := declared.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name != "init" {
				n++
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					n++
				case *ast.ValueSpec:
					for _, name := range s.Names {
						if name.Name != "_" {
							n++
						}
					}
				}
			}
		}
	}
	return n
}
