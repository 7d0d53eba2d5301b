package app_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/app"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/test/harness"
)

func TestRegistryIsOrderedAndNamesExist(t *testing.T) {
	t.Parallel()
	var before []string
	for _, m := range app.Modules() {
		for _, needed := range m.Requires {
			if !slices.Contains(before, needed) {
				t.Errorf("%s requires %s, which must come before it", m.Name, needed)
			}
		}
		before = append(before, m.Name)
	}
	for _, m := range app.Modules() {
		for _, used := range m.Uses {
			if !slices.Contains(before, used) {
				t.Errorf("%s uses %s, which does not exist", m.Name, used)
			}
		}
	}
}

// Webhooks without any module that has events start nevertheless.
func TestWebhooksStartWithoutEvents(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, func(s setting.RawValues) { s["POSTRIDER_MODULES"] = "accounts,webhooks" })
	if got := app.Do(t, http.MethodGet, "/api/webhooks", nil); got.Status != http.StatusOK {
		t.Errorf("GET /api/webhooks returned %d %s", got.Status, got.Body)
	}
}

// A disabled module is absent everywhere: from REST, the OpenAPI document and introspection; the enabled
// modules still work.
func TestDisabledModuleIsAbsent(t *testing.T) {
	t.Parallel()
	app := harness.Start(t,
		func(s setting.RawValues) { s["POSTRIDER_MODULES"] = "-sending,-bounces,-relay,-automations" })
	if got := app.Do(t, http.MethodGet, "/api/emails", nil); got.Status != http.StatusNotFound {
		t.Errorf("GET /api/emails returned %d %s", got.Status, got.Body)
	}
	if got := app.Do(t, http.MethodGet, "/api/domains", nil); got.Status != http.StatusOK {
		t.Errorf("GET /api/domains returned %d %s", got.Status, got.Body)
	}
	var document struct{ Paths, Webhooks map[string]json.RawMessage }
	app.Do(t, http.MethodGet, "/api/openapi.json", nil).JSON(t, &document)
	for path := range document.Paths {
		if strings.HasPrefix(path, "/emails") || strings.HasSuffix(path, "/reply") ||
			strings.HasSuffix(path, "/forward") {
			t.Errorf("the OpenAPI document contains %s", path)
		}
	}
	for name := range document.Webhooks {
		if name == "email.sent" || name == "email.bounced" || strings.HasPrefix(name, "automation.") {
			t.Errorf("the OpenAPI document contains the webhook %s", name)
		}
	}
	if len(document.Paths) == 0 || document.Webhooks["domain.verified"] == nil {
		t.Error("the OpenAPI document lacks the operations and events of the modules that are on")
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

func TestIllegalModuleSetIsRejectedAtStart(t *testing.T) {
	t.Parallel()
	cfg, err := config.Load(setting.Dev, "",
		setting.RawValues{"POSTRIDER_HTTP_ADDR": "127.0.0.1:0", "POSTRIDER_MODULES": "-domains",
			"POSTRIDER_DATA_DIR": t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	err = app.Run(context.WithoutCancel(t.Context()), cfg, app.Options{Out: io.Discard, Log: io.Discard})
	if err == nil || !strings.Contains(err.Error(), "sending requires domains") {
		t.Errorf("got %v", err)
	}
}
