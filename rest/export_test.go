package rest

import (
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Hurry makes a test's wait for bodies short.
func (a *API) Hurry(budget, small time.Duration) {
	a.bodies.patience.smallBudget, a.bodies.patience.largeBudget, a.bodies.patience.small = budget, budget, small
}

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
