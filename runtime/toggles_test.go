package runtime_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime"
	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/runtimetest"
)

// Every set of modules: the legal ones are joined by Fx without a missing or
// doubled part and start; the illegal ones are refused in a sentence that names them.
func TestEveryLegalSetOfModulesStarts(t *testing.T) {
	t.Parallel()
	names := runtime.ModuleNames(true)
	legal, illegal := 0, 0
	for set := range 1 << len(names) {
		var on []string
		for i, name := range names {
			if set&(1<<i) != 0 {
				on = append(on, name)
			}
		}
		chosen, err := runtime.Select(on, true)
		missing := missingRequirement(on)
		switch {
		case missing == "" && err != nil:
			t.Errorf("%v is legal and was refused: %v", on, err)
		case missing != "" && err == nil:
			t.Errorf("%v lacks %s and was not refused", on, missing)
		case missing != "":
			illegal++
			if !strings.Contains(err.Error(), missing) {
				t.Errorf("%v: the error does not name %s: %v", on, missing, err)
			}
		default:
			legal++
			if err := runtime.Validate(chosen); err != nil {
				t.Errorf("%v cannot be assembled: %v", on, err)
				continue
			}
			t.Run("starts "+strings.Join(on, ","), func(t *testing.T) {
				t.Parallel()
				app := runtimetest.Start(t, func(s *config.Settings) { s.Modules = strings.Join(on, ",") })
				if got := app.Do(t, http.MethodGet, "/readyz", nil); got.Status != http.StatusOK {
					t.Errorf("readiness is %d %s", got.Status, got.Body)
				}
			})
		}
	}
	if legal == 0 || illegal == 0 {
		t.Errorf("%d legal and %d illegal sets: the test has lost its subject", legal, illegal)
	}
}

// missingRequirement works from the table alone.
func missingRequirement(on []string) string {
	for _, m := range runtime.Modules() {
		if m.Always && !slices.Contains(on, m.Name) {
			return m.Name
		}
		if !slices.Contains(on, m.Name) {
			continue
		}
		for _, needed := range m.Requires {
			if !slices.Contains(on, needed) {
				return needed
			}
		}
	}
	return ""
}

func TestRegistryIsOrderedAndNamesExist(t *testing.T) {
	t.Parallel()
	var before []string
	for _, m := range runtime.Modules() {
		for _, needed := range m.Requires {
			if !slices.Contains(before, needed) {
				t.Errorf("%s requires %s, which must stand before it", m.Name, needed)
			}
		}
		before = append(before, m.Name)
	}
	for _, m := range runtime.Modules() {
		for _, used := range m.Uses {
			if !slices.Contains(before, used) {
				t.Errorf("%s uses %s, which does not exist", m.Name, used)
			}
		}
	}
}

// A module that is off is nowhere: not in REST, not in the OpenAPI document, not
// in introspection; and what stays on works.
func TestModuleThatIsOffIsNowhere(t *testing.T) {
	t.Parallel()
	app := runtimetest.Start(t, func(s *config.Settings) { s.Modules = "-sending,-bounces" })
	if got := app.Do(t, http.MethodGet, "/api/emails", nil); got.Status != http.StatusNotFound {
		t.Errorf("GET /api/emails answered %d %s", got.Status, got.Body)
	}
	if got := app.Do(t, http.MethodGet, "/api/domains", nil); got.Status != http.StatusOK {
		t.Errorf("GET /api/domains answered %d %s", got.Status, got.Body)
	}
	var document struct{ Paths map[string]json.RawMessage }
	app.Do(t, http.MethodGet, "/api/openapi.json", nil).JSON(t, &document)
	for path := range document.Paths {
		if strings.Contains(path, "emails") {
			t.Errorf("the OpenAPI document has %s", path)
		}
	}
	if len(document.Paths) == 0 {
		t.Error("the OpenAPI document is empty")
	}
	var schema struct {
		Schema struct {
			Types []struct {
				Name   string
				Fields []struct{ Name string }
			}
		} `json:"__schema"`
	}
	app.Query(t, `{ __schema { types { name fields { name } } } }`, &schema)
	for _, typ := range schema.Schema.Types {
		if strings.Contains(typ.Name, "Email") {
			t.Errorf("introspection shows the type %s", typ.Name)
		}
		for _, f := range typ.Fields {
			if strings.HasPrefix(f.Name, "email") && typ.Name == "Query" {
				t.Errorf("introspection shows the field %s", f.Name)
			}
		}
	}
}

func TestIllegalSetIsRefusedAtStart(t *testing.T) {
	t.Parallel()
	cfg, err := config.Load(config.Dev, config.Settings{HTTPAddr: "127.0.0.1:0", ModuleSettings: config.ModuleSettings{Modules: "-domains"},
		StoreSettings: config.StoreSettings{DataDir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	err = runtime.Run(context.WithoutCancel(t.Context()), cfg, runtime.Options{Out: io.Discard, Log: io.Discard})
	if err == nil || !strings.Contains(err.Error(), "sending requires domains") {
		t.Errorf("got %v", err)
	}
}
