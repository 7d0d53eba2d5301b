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

	"github.com/postrider/postrider/runtime/assembly"
)

const modulePath = "github.com/postrider/postrider"

// An import rule: packages below `of` may import, of this project, only what
// `allowed` says. The first rule whose prefix matches decides.
type importRule struct {
	of      string
	allowed func(pkg, imported string) bool
	reason  string
}

var importRules = []importRule{
	{"cmd/postrider/", func(pkg, imported string) bool {
		return strings.HasPrefix(imported, "modules/") || imported == "ent" ||
			oneOf("runtime/assembly", "runtime/assembly/checks", "runtime/backup", "runtime/bus", "runtime/config", "runtime/db/months", "runtime/doctor", "runtime/fault", "runtime/hold", "runtime/id", "runtime/machine", "runtime/mail/dnsx", "runtime/node", "runtime/page", "runtime/secret", "runtime/setting", "runtime/store", "runtime/telemetry", "runtime/webhooksig")(pkg, imported)
	}, "the command line is an edge: a command opens the services that it needs, makes one call and prints; the service itself is the assembly's"},
	{"cmd/", func(string, string) bool { return true }, ""},
	{"rest/body/", oneOf("runtime/fault"), "bodies are read and described without knowing a resource"},
	{"rest/wire/", func(string, string) bool { return false }, "how answers show values depends on nobody"},
	{"rest/problem/", oneOf("rest/body", "rest/wire", "runtime/fault", "runtime/telemetry"), "an error becomes an answer without knowing a resource"},
	{"rest/look/", func(string, string) bool { return false }, "how pages look depends on nobody"},
	{"rest/openapi/", oneOf("rest/look", "rest/problem", "runtime/fault", "runtime/idempotency", "runtime/telemetry"), "the document knows no resource: operations say what is said of them"},
	{"rest/", edgeMay, edgeReason},
	{"graph/", edgeMay, edgeReason},
	{"modules/", moduleMay,
		"a module imports ent, runtime packages and the modules that its row in runtime/assembly/modules.go requires or uses; edges and the assembly stand above it"},
	{"runtime/mail/authn/", func(pkg, imported string) bool {
		return imported == "ent/schema/shape" || mailMay(pkg, imported)
	}, "authn is a mail library; its result is the plain struct that is stored"},
	{"runtime/mail/", mailMay,
		"mail packages are libraries: no database, no Fx, no configuration, no module; runtime/intake, which bounds what they hold, runtime/cache and runtime/loglimit are libraries as well"},
	{"runtime/intake/", func(string, string) bool { return false },
		"intake is a library below everything that takes something in"},
	{"runtime/cache/", func(string, string) bool { return false }, "cache is a library below everything that keeps something"},
	{"runtime/loglimit/", func(string, string) bool { return false }, "loglimit is a library below everything that writes log lines"},
	{"runtime/assembly/", func(string, string) bool { return true }, ""},
	{"runtime/runtimetest/", func(string, string) bool { return true }, ""},
	{"runtime/", func(_, imported string) bool {
		return strings.HasPrefix(imported, "runtime/") && !strings.HasPrefix(imported, "runtime/assembly") || isEnt(imported)
	}, "runtime packages stand below modules and edges; only the assembly (runtime/assembly) knows everybody"},
	{"ent/", isEntOrSelf, "the data model stands on the ground and imports nothing of the project"},
}

const edgeReason = "an edge decodes, calls one service and encodes: it sees services, ent types and runtime/{fault,event,id,idempotency,intake,loglimit,loopback,node,page,secret,sse,telemetry,timeseries,turnstile,visitor}, never the ent client, the bus, a worker or the other edge"

func TestImportsFollowTheArchitecture(t *testing.T) {
	t.Parallel()
	for _, pkg := range sourcePackages(t) {
		rule, found := ruleFor(pkg.dir)
		if !found {
			t.Errorf("%s: code lives only in ent, graph, rest, modules, runtime and cmd", pkg.dir)
			continue
		}
		for imported, files := range pkg.imports {
			if imported == pkg.dir || strings.HasPrefix(imported, pkg.dir+"/") {
				continue
			}
			if !rule.allowed(pkg.dir, imported) {
				t.Errorf("%s imports %s (%s): %s", pkg.dir, imported, strings.Join(files, ", "), rule.reason)
			}
		}
	}
}

func ruleFor(dir string) (importRule, bool) {
	for _, r := range importRules {
		if strings.HasPrefix(dir+"/", r.of) {
			return r, true
		}
	}
	return importRule{}, false
}

func mailMay(pkg, imported string) bool {
	return oneOf("runtime/intake", "runtime/cache", "runtime/loglimit")(pkg, imported) || below("runtime/mail/")(pkg, imported)
}

func edgeMay(pkg, imported string) bool {
	edge, _, _ := strings.Cut(pkg, "/")
	switch {
	case strings.HasPrefix(imported, edge+"/"), imported == edge:
		return true
	case strings.HasPrefix(imported, "modules/"):
		return true
	case isEnt(imported):
		return imported != "ent/migrate" && !strings.HasPrefix(imported, "ent/schema/mixin")
	default:
		return oneOf("runtime/fault", "runtime/event", "runtime/id", "runtime/idempotency", "runtime/intake", "runtime/loglimit", "runtime/loopback", "runtime/node", "runtime/page", "runtime/secret", "runtime/sse", "runtime/telemetry", "runtime/timeseries", "runtime/turnstile", "runtime/visitor", "runtime/mail/message")(pkg, imported)
	}
}

func moduleMay(pkg, imported string) bool {
	if isEnt(imported) || strings.HasPrefix(imported, "runtime/") {
		return !strings.HasPrefix(imported, "runtime/assembly")
	}
	name := strings.Split(pkg, "/")[1]
	other, isModule := strings.CutPrefix(imported, "modules/")
	if !isModule {
		return false
	}
	other, _, _ = strings.Cut(other, "/")
	for _, m := range assembly.Modules() {
		if m.Name == name {
			return other == name || slices.Contains(m.Requires, other) || slices.Contains(m.Uses, other)
		}
	}
	return false
}

func isEnt(imported string) bool          { return imported == "ent" || strings.HasPrefix(imported, "ent/") }
func isEntOrSelf(_, imported string) bool { return isEnt(imported) }

func oneOf(names ...string) func(string, string) bool {
	return func(_, imported string) bool { return slices.Contains(names, imported) }
}

func below(prefix string) func(string, string) bool {
	return func(_, imported string) bool { return strings.HasPrefix(imported, prefix) }
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
			if strings.Contains(file.code(t), banned) {
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
