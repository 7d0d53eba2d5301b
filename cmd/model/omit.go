package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"entgo.io/ent/entc/gen"
	"golang.org/x/tools/imports"

	"github.com/postrider/postrider/ent/schema"
)

// builderTemplates maps each builder template to the part of the annotation that requests it.
var builderTemplates = map[string]func(schema.Builders) bool{
	"create": func(b schema.Builders) bool { return b.Create },
	"update": func(b schema.Builders) bool { return b.Update },
	"delete": func(b schema.Builders) bool { return b.Delete },
}

// buildersOf returns the annotation of an entity. Ent has passed it through JSON.
func buildersOf(t *gen.Type) schema.Builders {
	fields, _ := t.Annotations[schema.Builders{}.Name()].(map[string]any)
	is := func(name string) bool { value, _ := fields[name].(bool); return value }
	return schema.Builders{Create: is("Create"), Update: is("Update"), Delete: is("Delete"), Select: is("Select")}
}

// omitEntities is a hook that omits the entities without the annotation, and the edges to them.
func omitEntities(next gen.Generator) gen.Generator {
	return gen.GenerateFunc(func(g *gen.Graph) error {
		tableOnly := func(t *gen.Type) bool { return t.Annotations[schema.Builders{}.Name()] == nil }
		g.Nodes = slices.DeleteFunc(g.Nodes, tableOnly)
		for _, node := range g.Nodes {
			node.Edges = slices.DeleteFunc(node.Edges, func(e *gen.Edge) bool { return tableOnly(e.Type) })
		}
		return next.Generate(g)
	})
}

// omitBuilders is a hook that removes, from the files that Ent writes for every entity, the declarations that
// mention a builder that was not requested.
func omitBuilders(next gen.Generator) gen.Generator {
	return gen.GenerateFunc(func(g *gen.Graph) error {
		if err := next.Generate(g); err != nil {
			return err
		}
		omitted := omission{}
		files := []string{"client.go", "mutation.go"}
		for _, node := range g.Nodes {
			if err := omitted.addBuilders(g.Target, node); err != nil {
				return err
			}
			builders := buildersOf(node)
			written, err := removeBuilders(g.Target, node.PackageDir(), builders)
			if err != nil {
				return err
			}
			files = append(append(files, written...), node.PackageDir()+".go", node.PackageDir()+"_query.go")
		}
		for _, file := range files {
			if err := omitted.apply(filepath.Join(g.Target, file)); err != nil {
				return err
			}
		}
		return nil
	})
}

// removeBuilders removes the files of builders of an entity that were not requested, and returns the remaining
// ones.
func removeBuilders(target, entity string, builders schema.Builders) (files []string, err error) {
	for name, wanted := range builderTemplates {
		path := entity + "_" + name + ".go"
		if wanted(builders) {
			files = append(files, path)
		} else if err := os.Remove(filepath.Join(target, path)); err != nil && !os.IsNotExist(err) {
			return nil, err
		}
	}
	return files, nil
}

// queryMembers are the methods and fields of the embedded query that Ent's selector uses.
var queryMembers = regexp.MustCompile(`\b_s\.(ctx|inters|prepareQuery|driver|modifiers)\b`)

// wrapQuery makes the query a field of the selector of an entity. Ent embeds it, which adds about 50 methods.
func wrapQuery(target string, node *gen.Type) error {
	path := filepath.Join(target, node.PackageDir()+"_query.go")
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	query := node.QueryName()
	embedded := fmt.Sprintf("Select struct {\n\t*%s\n", query)
	if bytes.Count(source, []byte(embedded)) != 1 {
		return fmt.Errorf("%s: no selector with %q", path, embedded)
	}
	source = bytes.Replace(source, []byte(embedded), fmt.Appendf(nil, "Select struct {\n\t%s *%s\n", query, query), 1)
	source = queryMembers.ReplaceAll(source, []byte("_s."+query+".$1"))
	return os.WriteFile(path, source, 0o644) //nolint:gosec // source code
}

// omission is a set of top-level names that are not generated.
type omission map[string]bool

func (o omission) add(names ...string) {
	for _, name := range names {
		o[name] = true
	}
}

// addBuilders adds the builders of an entity that were not requested.
func (o omission) addBuilders(target string, node *gen.Type) error {
	o.add(node.Name + "GroupBy")
	builders := buildersOf(node)
	if !builders.Create {
		o.add(node.CreateName(), node.CreateBulkName())
	}
	if !builders.Update {
		o.add(node.UpdateName(), node.UpdateOneName())
	}
	if !builders.Delete {
		o.add(node.DeleteName(), node.DeleteOneName())
	}
	if !builders.Create && !builders.Update && !builders.Delete {
		o.add(node.MutationName())
	}
	if !builders.Select {
		if err := wrapQuery(target, node); err != nil {
			return err
		}
	}
	return nil
}

// apply cuts every declaration, and every case of a switch, that mentions an omitted name out of a file.
func (o omission) apply(path string) error {
	return cutDeclarations(path, func(decl ast.Decl) []ast.Node {
		if cases := o.casesOf(decl); cases != nil {
			return cases
		}
		if o.mentionedIn(decl) {
			return []ast.Node{decl}
		}
		return nil
	})
}

// cutDeclarations removes nodes from a file: for each declaration, those that choose returns, which are the
// declaration itself with its comment, or nodes in it.
func cutDeclarations(path string, choose func(ast.Decl) []ast.Node) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	var kept bytes.Buffer
	end := 0
	for _, decl := range file.Decls {
		for _, node := range choose(decl) {
			kept.Write(source[end:fset.Position(startOf(node)).Offset])
			end = fset.Position(node.End()).Offset
		}
	}
	if end == 0 {
		return nil
	}
	kept.Write(source[end:])
	formatted, err := imports.Process(path, kept.Bytes(), nil)
	if err != nil {
		return err
	}
	return os.WriteFile(path, formatted, 0o644) //nolint:gosec // source code
}

// casesOf returns the cases that mention an omitted name, if nothing else in the declaration does.
func (o omission) casesOf(decl ast.Decl) []ast.Node {
	var cases []ast.Node
	outside := false
	ast.Inspect(decl, func(n ast.Node) bool {
		if c, ok := n.(*ast.CaseClause); ok && o.mentionedIn(c) {
			cases = append(cases, c)
			return false
		}
		outside = outside || o.isOmitted(n)
		return true
	})
	if outside {
		return nil
	}
	return cases
}

func (o omission) mentionedIn(root ast.Node) bool {
	found := false
	ast.Inspect(root, func(n ast.Node) bool {
		found = found || o.isOmitted(n)
		return !found
	})
	return found
}

// isOmitted reports whether a node is an omitted name, or one that Ent derives from it for its own use:
// newAccountMutation, accountMutation options.
func (o omission) isOmitted(n ast.Node) bool {
	ident, ok := n.(*ast.Ident)
	return ok && (o[ident.Name] || o[strings.TrimPrefix(ident.Name, "new")])
}

func startOf(node ast.Node) token.Pos {
	var doc *ast.CommentGroup
	switch d := node.(type) {
	case *ast.FuncDecl:
		doc = d.Doc
	case *ast.GenDecl:
		doc = d.Doc
	}
	if doc != nil {
		return doc.Pos()
	}
	return node.Pos()
}
