package rules_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/app"
)

const modulePath = "github.com/postrider/postrider"

// importOrder lists the levels from the bottom up. A package may import from its own folder and from every level
// below it, but not from another folder of its own level.
var importOrder = [][]string{
	{"ent", "."}, // the folder of the module contains the manual
	{"runtime/base"},
	{"runtime/storage", "runtime/mail"},
	{"runtime/work", "runtime/web"},
	{"runtime/ops"},
	{"modules"},
	{"rest", "graph"},
	{"runtime/app"},
	{"runtime/test", "cmd"},
}

// closedToEdges are the packages by which a handler would bypass the services.
var closedToEdges = []string{"ent/migrate", "runtime/storage/db", "runtime/storage/postgres", "runtime/storage/blob",
	"runtime/work/bus", "runtime/base/worker", "runtime/ops"}

func TestImportsFollowTheOrder(t *testing.T) {
	t.Parallel()
	for _, pkg := range sourcePackages(t) {
		level, folder := levelOf(pkg.dir)
		if folder == "" {
			t.Errorf("%s: code must be in one of %v", pkg.dir, importOrder)
			continue
		}
		for imported, files := range pkg.imports {
			if problem := problemWith(pkg.dir, level, folder, imported); problem != "" {
				t.Errorf("%s imports %s (%s): %s", pkg.dir, imported, strings.Join(files, ", "), problem)
			}
		}
	}
}

// problemWith returns why a package may not import another, or "".
func problemWith(dir string, level int, folder, imported string) string {
	importedLevel, importedFolder := levelOf(imported)
	switch {
	case folder == "modules" && importedFolder == "modules" && !mayUseModule(dir, imported):
		return "a module imports only the modules that its row in runtime/app/modules.go requires or uses"
	case importedFolder == folder:
		return ""
	case importedLevel >= level && folder != "runtime/test":
		return fmt.Sprintf("%s may import only levels below it", folder)
	case folder == "rest" || folder == "graph":
		for _, closed := range closedToEdges {
			if isWithin(imported, closed) {
				return "an edge decodes, calls one service and encodes; services hold the database, the bus and the workers"
			}
		}
	}
	return ""
}

func levelOf(dir string) (level int, folder string) {
	for level, folders := range importOrder {
		for _, folder := range folders {
			if isWithin(dir, folder) {
				return level, folder
			}
		}
	}
	return 0, ""
}

func isWithin(dir, folder string) bool { return dir == folder || strings.HasPrefix(dir, folder+"/") }

func mayUseModule(dir, imported string) bool {
	name, other := strings.Split(dir, "/")[1], strings.Split(imported, "/")[1]
	for _, m := range app.Modules() {
		if m.Name == name {
			return other == name || slices.Contains(m.Requires, other) || slices.Contains(m.Uses, other)
		}
	}
	return false
}

// TestEdgesNeverHoldTheClient finds the ent client by name: importing ent for its
// types is fine, its client is not.
func TestEdgesNeverHoldTheClient(t *testing.T) {
	t.Parallel()
	for _, file := range sourceFiles(t, "rest", "graph") {
		if strings.HasPrefix(file.path, "graph/generated/") {
			continue
		}
		for _, banned := range []string{"ent.Client", "ent.Tx", "sql.DB"} {
			if strings.Contains(file.readCode(t), banned) {
				t.Errorf("%s uses %s: edges call services, which hold the database", file.path, banned)
			}
		}
	}
}

// sourcePackage is a folder of non-test Go files with its imports of this project.
type sourcePackage struct {
	dir     string
	files   []sourceFile
	imports map[string][]string // project path → files
}

func sourcePackages(t *testing.T) []*sourcePackage {
	t.Helper()
	byDir := map[string]*sourcePackage{}
	var order []*sourcePackage
	for _, f := range sourceFiles(t, ".") {
		dir := path.Dir(f.path)
		pkg := byDir[dir]
		if pkg == nil {
			pkg = &sourcePackage{dir: dir, imports: map[string][]string{}}
			byDir[dir] = pkg
			order = append(order, pkg)
		}
		pkg.files = append(pkg.files, f)
		for _, imported := range f.imports(t) {
			pkg.imports[imported] = append(pkg.imports[imported], path.Base(f.path))
		}
	}
	return order
}

func (f sourceFile) imports(t *testing.T) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), f.abs, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, spec := range parsed.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(fmt.Errorf("%s: %w", f.path, err))
		}
		if own, isOwn := strings.CutPrefix(name, modulePath+"/"); isOwn {
			out = append(out, own)
		}
	}
	return out
}
