package rules_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Budgets of names. Each can only fall: the tests fail if a budget is more than needed.
const (
	maxBareShare = 25 // percent of unexported functions that are one bare word
	maxMeanings  = 25 // type names that three or more packages define
	maxLongLines = 1  // percent of lines over 120 columns
)

// riddles are one-word names that do not say what a function does: participles, adjectives and prepositions.
var riddles = regexp.MustCompile(`^(?:told|near|given|own|held|within|beside|drawn|kept|known|taken|begun|gone|sent|left|made|seen|done|due|dear|` +
	`elsewhere|whole|heavy|after|before|behind|between|without|above|below|over|under|here|there|again|once|alone|away|back|still|` +
	`(?:ask|bound|call|check|count|delay|end|escap|expect|fill|fold|follow|guard|index|join|list|load|lock|mail|mark|match|miss|mix|nam|` +
	`number|open|order|pack|pars|pass|play|post|prepar|quot|rank|record|refus|releas|remov|repeat|resolv|restor|sav|seal|select|serv|` +
	`settl|shar|sign|sort|start|stopp|stor|tri|us|wait|want|word|work|wrapp)ed)$`)

// frameworkTypes are names that a framework or a Go convention expects in every package.
var frameworkTypes = map[string]bool{"Service": true, "Params": true, "Config": true, "Deps": true, "Settings": true,
	"Filter": true, "Options": true, "Result": true, "Handler": true, "Store": true, "Client": true, "Server": true}

// declaration is a function or type in a hand-written product file.
type declaration struct{ where, name string }

// declarations returns the unexported functions and methods, and the exported types by name. Interfaces are left out:
// a package names its view of another one after that package (Accounts, Domains).
func declarations(t *testing.T) (functions []declaration, types map[string][]string) {
	t.Helper()
	types = map[string][]string{}
	files := token.NewFileSet()
	for _, f := range sourceFiles(t, "modules", "rest", "graph", "runtime", "cmd") {
		file, err := parser.ParseFile(files, f.abs, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if ast.IsGenerated(file) {
			continue
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if !d.Name.IsExported() && d.Name.Name != "main" && d.Name.Name != "init" && d.Name.Name != "_" {
					functions = append(functions, declaration{f.path, d.Name.Name})
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					spec, ok := spec.(*ast.TypeSpec)
					if !ok || !spec.Name.IsExported() || frameworkTypes[spec.Name.Name] {
						continue
					}
					if _, ok := spec.Type.(*ast.InterfaceType); !ok && !mirrors(f.path) {
						types[spec.Name.Name] = append(types[spec.Name.Name], f.path)
					}
				}
			}
		}
	}
	return functions, types
}

// mirrors reports whether a package repeats the types of another one on purpose: the output of the CLI, and
// test support.
func mirrors(path string) bool {
	folder := filepath.ToSlash(filepath.Dir(path))
	return strings.HasPrefix(path, "cmd/") || strings.HasPrefix(path, "runtime/test/") ||
		strings.HasSuffix(folder, "test")
}

// TestFunctionsAreNamedForWhatTheyDo bounds the share of one-word names and refuses names that are not verbs.
func TestFunctionsAreNamedForWhatTheyDo(t *testing.T) {
	t.Parallel()
	functions, _ := declarations(t)
	bare := 0
	var found []string
	for _, f := range functions {
		if strings.ToLower(f.name) == f.name {
			bare++
		}
		if riddles.MatchString(f.name) {
			found = append(found, f.where+": "+f.name)
		}
	}
	if share := 100 * bare / len(functions); share > maxBareShare {
		t.Errorf("%d of %d unexported functions have a one-word name (%d %%), want at most %d %%; use verb + object",
			bare, len(functions), share, maxBareShare)
	}
	if len(found) > 0 {
		t.Errorf("%d functions are named with a participle, an adjective or a preposition, want verb + object:\n\t%s",
			len(found), strings.Join(found, "\n\t"))
	}
}

// TestATypeNameMeansOneThing bounds how many exported type names three or more packages define.
func TestATypeNameMeansOneThing(t *testing.T) {
	t.Parallel()
	_, types := declarations(t)
	var shared []string
	for _, name := range slices.Sorted(maps.Keys(types)) {
		packages := map[string]bool{}
		for _, path := range types[name] {
			packages[filepath.Dir(path)] = true
		}
		if len(packages) >= 3 {
			shared = append(shared, name+": "+strings.Join(slices.Sorted(maps.Keys(packages)), ", "))
		}
	}
	if len(shared) > maxMeanings {
		t.Errorf("%d type names are defined in three packages or more, at most %d may be:\n\t%s", len(shared),
			maxMeanings, strings.Join(shared, "\n\t"))
	}
}

// TestLinesFitAScreen bounds the share of Go lines over 120 columns; SQL, tables and struct tags have 160.
func TestLinesFitAScreen(t *testing.T) {
	t.Parallel()
	total, long := 0, map[string]int{}
	root := filepath.Join("..", "..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" ||
			d.Name() == "ent") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || strings.HasSuffix(path, ".resolvers.go") ||
			strings.Contains(string(text[:min(len(text), 2000)]), "DO NOT EDIT") {
			return err
		}
		for line := range strings.Lines(string(text)) {
			total++
			if columns := len([]rune(strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t",
				"    "))); columns > lineLimit(line) {
				long[filepath.ToSlash(path)]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, n := range long {
		sum += n
	}
	if 100*sum > maxLongLines*total {
		t.Errorf("%d of %d lines are too long (%.1f %%), want at most %d %%; break them", sum, total,
			100*float64(sum)/float64(total), maxLongLines)
	}
}

// wide matches lines that may have 160 columns: SQL, rows of tables, and struct tags.
var wide = regexp.MustCompile("\\b(?:SELECT|INSERT|UPDATE|DELETE|WHERE|FROM|VALUES|JOIN)\\b|doc:\"|json:\"|^\\s*\\{.*\\},?\\s*(?://.*)?$|^\\s*\"[^\"]*\":")

func lineLimit(line string) int {
	if wide.MatchString(line) {
		return 160
	}
	return 120
}
