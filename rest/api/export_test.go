package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/modules/accounts/rights"
)

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
