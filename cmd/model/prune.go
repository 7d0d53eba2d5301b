package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"entgo.io/ent"
	"entgo.io/ent/entc/gen"
	"golang.org/x/tools/go/packages"
)

// pruneMethods is a hook that removes the generated functions and methods without callers. Every exported method of
// a reachable type is linked (reflection could call it), so an unused setter costs space in the program. To call a
// method that was removed, write the call and generate again.
func pruneMethods(next gen.Generator) gen.Generator {
	return gen.GenerateFunc(func(g *gen.Graph) error {
		if err := next.Generate(g); err != nil {
			return err
		}
		if err := cutDeclarations(filepath.Join(g.Target, "mutation.go"), hookCases); err != nil {
			return err
		}
		files, err := generatedFiles(g.Target)
		if err != nil {
			return err
		}
		calls, err := loadCalls(filepath.Dir(g.Target), files)
		if err != nil {
			return err
		}
		live := calls.findLive()
		for _, file := range files {
			pkg := g.Package
			if dir := filepath.Dir(file); dir != g.Target {
				pkg += "/" + filepath.Base(dir)
			}
			if err := cutDeclarations(file, func(decl ast.Decl) []ast.Node {
				if f, ok := decl.(*ast.FuncDecl); !ok || f.Name.Name == "init" || live[funcName(pkg, f)] {
					return shortenString(decl)
				}
				return []ast.Node{decl}
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

// hookCases returns the cases of the methods with which a hook reads and changes fields by name. The model has no
// hooks, and these methods would keep all others of a mutation.
func hookCases(decl ast.Decl) (cases []ast.Node) {
	method, ok := decl.(*ast.FuncDecl)
	if !ok || method.Recv == nil {
		return nil
	}
	switch method.Name.Name {
	case "Field", "OldField", "SetField", "AddField", "AddedField", "ClearField", "ResetField":
	default:
		return nil
	}
	ast.Inspect(method, func(n ast.Node) bool {
		if c, ok := n.(*ast.CaseClause); ok {
			cases = append(cases, c)
			return false
		}
		return true
	})
	return cases
}

// shortenString returns the statements of the String method of an entity that write its fields, other than the id.
// Without the method, fmt would print all fields, including the sensitive ones.
func shortenString(decl ast.Decl) (fields []ast.Node) {
	method, ok := decl.(*ast.FuncDecl)
	if !ok || method.Recv == nil || method.Name.Name != "String" {
		return nil
	}
	// The first three statements write the name and the id, and the last two close the parenthesis and return.
	for i := 3; i < len(method.Body.List)-2; i++ {
		fields = append(fields, method.Body.List[i])
	}
	return fields
}

// names is a set of functions and methods.
type names map[string]bool

// callGraph maps each generated function, by its full name, to the functions that it uses.
type callGraph struct {
	uses map[string]names
	// roots are the functions that other code uses.
	roots names
	// interfaces are the names of the methods that are called through interfaces.
	interfaces names
}

// loadCalls reads the program and its tests, of which files are generated. Code that does not compile, such as a use of
// a field that was removed from the schema, is ignored.
func loadCalls(root string, files []string) (*callGraph, error) {
	pkgs, err := packages.Load(&packages.Config{
		Dir: root, Tests: true, Fset: token.NewFileSet(),
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes |
			packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps,
		// The bodies of other modules are not needed, and are most of the work.
		ParseFile: func(fset *token.FileSet, path string, source []byte) (*ast.File, error) {
			file, err := parser.ParseFile(fset, path, source, parser.SkipObjectResolution)
			if file != nil && !strings.HasPrefix(path, root+string(filepath.Separator)) {
				for _, decl := range file.Decls {
					if f, ok := decl.(*ast.FuncDecl); ok {
						f.Body = nil
					}
				}
			}
			return file, err
		},
	}, "./...")
	if err != nil {
		return nil, fmt.Errorf("load the program: %w", err)
	}
	calls := &callGraph{uses: map[string]names{}, roots: names{},
		interfaces: names{"String": true, "Error": true, "Unwrap": true}}
	for method := range reflect.TypeFor[ent.Mutation]().Methods() {
		calls.interfaces[method.Name] = true
	}
	for _, pkg := range pkgs {
		for _, err := range pkg.Errors {
			if err.Kind == packages.ParseError {
				return nil, errors.New(err.Error())
			}
		}
		for _, file := range pkg.Syntax {
			generated := slices.Contains(files, pkg.Fset.Position(file.Pos()).Filename)
			for _, decl := range file.Decls {
				calls.addDeclaration(pkg, decl, generated)
			}
		}
	}
	return calls, nil
}

func (c *callGraph) addDeclaration(pkg *packages.Package, decl ast.Decl, generated bool) {
	used := c.roots
	if f, ok := decl.(*ast.FuncDecl); ok && generated && f.Name.Name != "init" {
		used = names{}
		c.uses[funcName(pkg.PkgPath, f)] = used
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.InterfaceType:
			if t, ok := pkg.TypesInfo.TypeOf(n).(*types.Interface); ok {
				for method := range t.Methods() {
					c.interfaces[method.Name()] = true
				}
			}
		case *ast.Ident:
			if f, ok := pkg.TypesInfo.Uses[n].(*types.Func); ok {
				used[f.Origin().FullName()] = true
				if recv := f.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
					c.interfaces[f.Name()] = true
				}
			}
		}
		return true
	})
}

// findLive returns the generated functions that other code reaches.
func (c *callGraph) findLive() names {
	live := names{}
	pending := slices.Collect(maps.Keys(c.roots))
	for name := range c.uses {
		if c.interfaces[name[strings.LastIndexByte(name, '.')+1:]] {
			pending = append(pending, name)
		}
	}
	for len(pending) > 0 {
		name := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if used, generated := c.uses[name]; generated && !live[name] {
			live[name] = true
			pending = slices.AppendSeq(pending, maps.Keys(used))
		}
	}
	return live
}

// funcName returns the full name of a function, as types.Func does.
func funcName(pkg string, f *ast.FuncDecl) string {
	if f.Recv == nil {
		return pkg + "." + f.Name.Name
	}
	switch recv := f.Recv.List[0].Type.(type) {
	case *ast.StarExpr:
		return fmt.Sprintf("(*%s.%s).%s", pkg, recv.X, f.Name.Name)
	default:
		return fmt.Sprintf("(%s.%s).%s", pkg, recv, f.Name.Name)
	}
}

// generatedFiles lists the files of the client: those of ent and of the package of each entity.
func generatedFiles(target string) (files []string, err error) {
	for _, pattern := range []string{"*.go", "*/*.go"} {
		found, err := filepath.Glob(filepath.Join(target, pattern))
		if err != nil {
			return nil, err
		}
		for _, file := range found {
			head, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			if strings.HasPrefix(string(head), "// Code generated by ent") {
				files = append(files, file)
			}
		}
	}
	return files, nil
}
