package journeys_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/runtime/app"
	"github.com/postrider/postrider/runtime/test/harness"
)

// An operation of the OpenAPI document. Tests of all operations are derived from the document, so that a new
// one is covered, or fails them, from the start.
type operation struct {
	method, path string // path below /api, with {id}
	parameters   []parameter
	body         any  // its example; nil if it has none
	endless      bool // streams events until one side closes it
	keys         bool // available to API keys
	public       bool // available without authentication
}

type parameter struct{ Name, In string }

func (o operation) String() string { return o.method + " " + o.path }

func (o operation) hasParameter(in, name string) bool {
	return slices.Contains(o.parameters, parameter{name, in})
}

// resource returns the path before its first id, which determines the kind of the id.
func (o operation) resource() string {
	before, _, _ := strings.Cut(o.path, "/{")
	return before
}

// isTestOnly reports whether the operation is available only in test mode. TestModesAreIsolated covers it.
func (o operation) isTestOnly() bool {
	access, _ := rights.TestAccessOf(o.path, rights.Read)
	return access == rights.TestOnly
}

// isShared reports whether both modes share the records of the operation.
func (o operation) isShared() bool {
	access, _ := rights.TestAccessOf(o.resource()+"/{id}", rights.Read)
	return access == rights.SharedDefinition
}

// pathFor returns the path with every parameter filled in.
func (o operation) pathFor(id string) string {
	path := o.path
	for _, p := range o.parameters {
		switch {
		case p.In == "path" && p.Name == "number": // in addition to the id: of a version
			path = strings.ReplaceAll(path, "{number}", "1")
		case p.In == "path" && p.Name == "index": // index of an attachment
			path = strings.ReplaceAll(path, "{index}", "0")
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", id)
		}
	}
	return "/api" + path
}

// What rest declares, tests and documents must match the running service: a module whose routes are missing
// in its golden document or in its row of the registry fails here.
func TestGoldenDocumentHasAllOperations(t *testing.T) {
	t.Parallel()
	golden, err := os.ReadFile("../../../rest/api/testdata/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var routes []api.Routes
	for _, m := range app.Modules() {
		routes = append(routes, m.Operations(app.ModuleNames(true))...)
	}
	registry, err := api.DocumentOf("test", "", routes...)
	if err != nil {
		t.Fatal(err)
	}
	served := harness.Start(t, nil).Do(t, http.MethodGet, "/api/openapi.json", nil).Body
	want := operationNames(t, registry.JSON)
	if diff := cmp.Diff(want, operationNames(t, golden)); diff != "" {
		t.Errorf("the registry (-) and rest/api/testdata/openapi.json (+) have different operations; the routes of every module belong into bundle.routes of rest's tests:\n%s", diff)
	}
	if diff := cmp.Diff(want, operationNames(t, served)); diff != "" {
		t.Errorf("the registry (-) and the served document (+) have different operations:\n%s", diff)
	}
}

func operationNames(t *testing.T, document []byte) []string {
	t.Helper()
	var read struct {
		Paths map[string]map[string]struct{}
	}
	if err := json.Unmarshal(document, &read); err != nil {
		t.Fatal(err)
	}
	var all []string
	for path, methods := range read.Paths {
		for method := range methods {
			all = append(all, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(all)
	return all
}

func operations(t *testing.T, app *harness.App) []operation {
	t.Helper()
	type described struct {
		Parameters  []parameter
		Security    []map[string][]string
		Responses   map[string]struct{ Content map[string]any }
		RequestBody *struct {
			Content map[string]struct {
				Example  any
				Examples map[string]struct{ Value any }
			}
		}
	}
	var document struct {
		Paths map[string]map[string]described
	}
	app.Do(t, http.MethodGet, "/api/openapi.json", nil).JSON(t, &document)
	var all []operation
	for path, methods := range document.Paths {
		for method, d := range methods {
			o := operation{method: strings.ToUpper(method), path: path}
			for _, p := range d.Parameters {
				if p.Name != "" { // otherwise a reference to a common header
					o.parameters = append(o.parameters, p)
				}
			}
			o.public = len(d.Security) == 0
			o.keys = slices.ContainsFunc(d.Security,
				func(s map[string][]string) bool { _, bearer := s["bearer"]; return bearer })
			_, o.endless = d.Responses["200"].Content["text/event-stream"]
			if d.RequestBody != nil {
				content := d.RequestBody.Content["application/json"]
				o.body = content.Example
				for _, name := range slices.Sorted(maps.Keys(content.Examples)) { // the same one each time
					o.body = richerExample(o.body, content.Examples[name].Value)
				}
				if o.body == nil {
					t.Errorf("%s has a body without an example", o)
				}
			}
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b operation) int { return strings.Compare(a.String(), b.String()) })
	if len(all) == 0 {
		t.Fatal("the document has no operations")
	}
	return all
}

// richerExample prefers the example with more fields.
func richerExample(a, b any) any {
	x, _ := a.(map[string]any)
	y, _ := b.(map[string]any)
	if len(y) > len(x) {
		return b
	}
	return a
}
