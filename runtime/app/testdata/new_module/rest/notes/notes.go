// Package notes serves the resource notes.
package notes

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/notes"
	"github.com/postrider/postrider/rest/api"
)

// Service is the part of notes that these operations use.
type Service interface {
	List(ctx context.Context, accountID string) ([]string, error)
}

var _ Service = (*notes.Service)(nil)

type notesAnswer struct {
	Notes []string `json:"notes" nullable:"false"`
}

// Routes creates the routes of notes.
func Routes(service Service) api.Routes {
	return api.NewRoutes("notes", func(a *api.API) {
		g := a.Tag("Notes", "What is not to be forgotten.")
		api.Handle(g, api.Operation{
			Method: http.MethodGet, Path: "/notes", ID: "listNotes", Needs: rights.Read,
			Summary: "List notes", Description: "All of them.",
			Example: map[string]any{"notes": []any{"remember the milk"}},
		}, func(ctx context.Context, c *api.Call, _ *api.None) (notesAnswer, error) {
			found, err := service.List(ctx, c.AccountID)
			return notesAnswer{Notes: found}, err
		})
	})
}
