package assembly_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	stdruntime "runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/postrider/postrider/runtime/assembly"
	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/runtimetest"
	"github.com/postrider/postrider/runtime/setting"
)

// Every set of modules: the legal ones are joined by Fx without a missing or
// doubled part, the illegal ones are refused in a sentence that names them. Those
// of the legal ones that together hold every two modules on and off beside each
// other, as far as they may be, are started.
func TestEveryLegalSetOfModulesStarts(t *testing.T) {
	t.Parallel()
	names := assembly.ModuleNames(true)
	var legal []uint
	var validating errgroup.Group
	validating.SetLimit(stdruntime.NumCPU())
	illegal := 0
	for set := range uint(1) << len(names) {
		on := namesOf(set, names)
		chosen, err := assembly.Select(on, true)
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
			legal = append(legal, set)
			validating.Go(func() error { // tens of thousands, of ten milliseconds each
				if err := assembly.Validate(chosen); err != nil {
					t.Errorf("%v cannot be assembled: %v", on, err)
				}
				return nil
			})
		}
	}
	if err := validating.Wait(); err != nil {
		t.Fatal(err)
	}
	if len(legal) == 0 || illegal == 0 {
		t.Errorf("%d legal and %d illegal sets: the test has lost its subject", len(legal), illegal)
	}
	for _, set := range coveringSets(legal, len(names)) {
		on := strings.Join(namesOf(set, names), ",")
		t.Run("starts "+on, func(t *testing.T) {
			t.Parallel()
			app := runtimetest.Start(t, func(s setting.Texts) { s["POSTRIDER_MODULES"] = on })
			if got := app.Do(t, http.MethodGet, "/readyz", nil); got.Status != http.StatusOK {
				t.Errorf("readiness is %d %s", got.Status, got.Body)
			}
		})
	}
}

func namesOf(set uint, names []string) []string {
	var on []string
	for i, name := range names {
		if set&(1<<i) != 0 {
			on = append(on, name)
		}
	}
	return on
}

// neighbours is a state of two modules beside each other.
type neighbours struct {
	a, b     int
	onA, onB bool
}

func statesIn(set uint, modules int) []neighbours {
	var states []neighbours
	for a := range modules {
		for b := range a {
			states = append(states, neighbours{a, b, set&(1<<a) != 0, set&(1<<b) != 0})
		}
	}
	return states
}

// coveringSets picks few of the legal sets that still hold every state of two
// modules that any of them holds. It begins with the fullest: starting every one
// doubles the time with each module that is added.
func coveringSets(legal []uint, modules int) []uint {
	open := map[neighbours]bool{}
	for _, set := range legal {
		for _, state := range statesIn(set, modules) {
			open[state] = true
		}
	}
	var chosen []uint
	for next := slices.Max(legal); len(open) > 0; {
		chosen = append(chosen, next)
		for _, state := range statesIn(next, modules) {
			delete(open, state)
		}
		most := 0
		for _, set := range legal {
			holds := 0
			for _, state := range statesIn(set, modules) {
				if open[state] {
					holds++
				}
			}
			if holds > most {
				most, next = holds, set
			}
		}
	}
	return chosen
}

// missingRequirement works from the table alone.
func missingRequirement(on []string) string {
	for _, m := range assembly.Modules() {
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
	for _, m := range assembly.Modules() {
		for _, needed := range m.Requires {
			if !slices.Contains(before, needed) {
				t.Errorf("%s requires %s, which must stand before it", m.Name, needed)
			}
		}
		before = append(before, m.Name)
	}
	for _, m := range assembly.Modules() {
		for _, used := range m.Uses {
			if !slices.Contains(before, used) {
				t.Errorf("%s uses %s, which does not exist", m.Name, used)
			}
		}
	}
}

// Webhooks beside nothing that has events have nothing to tell, and start all the same.
func TestWebhooksStartWithoutEvents(t *testing.T) {
	t.Parallel()
	app := runtimetest.Start(t, func(s setting.Texts) { s["POSTRIDER_MODULES"] = "accounts,webhooks" })
	if got := app.Do(t, http.MethodGet, "/api/webhooks", nil); got.Status != http.StatusOK {
		t.Errorf("GET /api/webhooks answered %d %s", got.Status, got.Body)
	}
}

// A module that is off is nowhere: not in REST, not in the OpenAPI document, not
// in introspection; and what stays on works.
func TestModuleThatIsOffIsNowhere(t *testing.T) {
	t.Parallel()
	app := runtimetest.Start(t, func(s setting.Texts) { s["POSTRIDER_MODULES"] = "-sending,-bounces,-relay,-automations" })
	if got := app.Do(t, http.MethodGet, "/api/emails", nil); got.Status != http.StatusNotFound {
		t.Errorf("GET /api/emails answered %d %s", got.Status, got.Body)
	}
	if got := app.Do(t, http.MethodGet, "/api/domains", nil); got.Status != http.StatusOK {
		t.Errorf("GET /api/domains answered %d %s", got.Status, got.Body)
	}
	var document struct{ Paths map[string]json.RawMessage }
	app.Do(t, http.MethodGet, "/api/openapi.json", nil).JSON(t, &document)
	for path := range document.Paths {
		if strings.HasPrefix(path, "/emails") || strings.HasSuffix(path, "/reply") || strings.HasSuffix(path, "/forward") {
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
		if strings.Contains(typ.Name, "Email") && !strings.Contains(typ.Name, "Received") {
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
	cfg, err := config.Load(setting.Dev, "", setting.Texts{"POSTRIDER_HTTP_ADDR": "127.0.0.1:0", "POSTRIDER_MODULES": "-domains",
		"POSTRIDER_DATA_DIR": t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	err = assembly.Run(context.WithoutCancel(t.Context()), cfg, assembly.Options{Out: io.Discard, Log: io.Discard})
	if err == nil || !strings.Contains(err.Error(), "sending requires domains") {
		t.Errorf("got %v", err)
	}
}
