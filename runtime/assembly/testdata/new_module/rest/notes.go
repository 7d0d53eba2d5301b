package rest

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/notes"
)

// NotesService is what these operations need of notes.
type NotesService interface {
	List(ctx context.Context, accountID string) ([]string, error)
}

var _ NotesService = (*notes.Service)(nil)

type notesAnswer struct {
	Notes []string `json:"notes" nullable:"false"`
}

// Notes makes the routes of notes.
func Notes(service NotesService) Routes {
	return Routes{name: "notes", add: func(a *API) {
		a.describeTag("Notes", "What is not to be forgotten.")
		register(a, operation{
			method: http.MethodGet, path: "/notes", id: "listNotes", tag: "Notes", needs: accounts.Read,
			summary: "List notes", description: "All of them.", example: map[string]any{"notes": []any{"remember the milk"}},
		}, func(ctx context.Context, c *call, _ *none) (*notesAnswer, error) {
			found, err := service.List(ctx, c.AccountID)
			return &notesAnswer{Notes: found}, err
		})
	}}
}
