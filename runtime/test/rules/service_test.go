package rules_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
)

// mostFields is the maximum number of fields of a service: one with more has two subjects.
const mostFields = 10

// A service is a struct of a module that a constructor of its package returns, or that is named Service. A
// struct with exported fields is data.
func TestServiceFieldCount(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, pkg := range sourcePackages(t) {
		if !strings.HasPrefix(pkg.dir, "modules/") || strings.HasSuffix(pkg.dir, "test") {
			continue
		}
		structs, made := map[string]*ast.StructType{}, map[string]bool{"Service": true}
		for _, f := range pkg.files {
			f.collectStructs(t, structs, made)
		}
		for name, s := range structs {
			if !made[name] || isData(s) {
				continue
			}
			seen++
			if n := s.Fields.NumFields(); n > mostFields {
				t.Errorf("%s.%s has %d fields; the limit is %d: move the functions that use only some of them to another type", pkg.dir, name, n, mostFields)
			}
		}
	}
	if seen < 20 {
		t.Errorf("found %d services, want one in most modules", seen)
	}
}

// collectStructs collects the structs of a file by name, and which of them have a constructor New….
func (f sourceFile) collectStructs(t *testing.T, structs map[string]*ast.StructType, made map[string]bool) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), f.abs, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(path.Base(f.path), err)
	}
	for _, declared := range parsed.Decls {
		switch d := declared.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && strings.HasPrefix(d.Name.Name, "New") && d.Type.Results != nil {
				if pointer, ok := d.Type.Results.List[0].Type.(*ast.StarExpr); ok {
					if name, ok := pointer.X.(*ast.Ident); ok {
						made[name.Name] = true
					}
				}
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok {
					if fields, ok := s.Type.(*ast.StructType); ok {
						structs[s.Name.Name] = fields
					}
				}
			}
		}
	}
}

func isData(s *ast.StructType) bool {
	for _, field := range s.Fields.List {
		for _, name := range field.Names {
			if name.IsExported() {
				return true
			}
		}
	}
	return false
}
