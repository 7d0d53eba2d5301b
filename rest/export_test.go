package rest

import "github.com/danielgtaylor/huma/v2"

// Against tells what of a value, as JSON decodes it, a schema of the document forbids.
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

// Schemas gives the components of the document.
func (a *API) Schemas() map[string]*huma.Schema { return a.huma.OpenAPI().Components.Schemas.Map() }
