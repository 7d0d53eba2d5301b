package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/modules/accounts/rights"
)

// Against lists the parts of a decoded JSON value that a schema of the document forbids.
func (a *API) Against(schema *huma.Schema, v any) []error {
	registry := a.huma.OpenAPI().Components.Schemas
	schema.PrecomputeMessages()
	for _, known := range registry.Map() {
		known.PrecomputeMessages()
	}
	var found huma.ValidateResult
	huma.Validate(registry, schema, huma.NewPathBuffer(nil, 0), huma.ModeReadFromServer, v, &found)
	return found.Errors
}

// Schemas returns the components of the document.
func (a *API) Schemas() map[string]*huma.Schema { return a.huma.OpenAPI().Components.Schemas.Map() }

// StoresOf returns, for each operation that can change an account, what it charges to the byte quota.
func (a *API) StoresOf() map[string]string {
	found := map[string]string{}
	for _, op := range a.operations {
		writes := op.Needs == rights.Write || op.Needs == rights.Send || op.Needs == rights.Settings
		if op.Public || op.Method == http.MethodGet || op.Method == http.MethodDelete || !writes {
			continue
		}
		switch {
		case op.chargesBody():
			found[op.ID] = "body"
		case op.Stores == StoresItself:
			found[op.ID] = "itself"
		default:
			found[op.ID] = "nothing"
		}
	}
	return found
}
