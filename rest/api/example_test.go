package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/runtime/storage/page"
)

// note is an object of the service, and noteRecord is its representation in the API.
type note struct{ id, title string }

type noteRecord struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

func newNoteRecord(n note) noteRecord { return noteRecord{ID: n.id, Title: n.title} }

// newNote is the content of a request.
type newNote struct{ title string }

// newNoteBody declares the body once, for decoding, aliases and the schema.
func newNoteBody(in *newNote) body.Object {
	return body.Object{Name: "AddNote", Fields: []body.Field{
		{Name: "title", Aliases: []string{"name"}, Type: body.Text(&in.title).Length(1, 80), Need: body.Required, About: "A human-readable name."},
	}}
}

type notes struct{}

func (notes) list(context.Context, string, page.Request) (page.Page[note], error) {
	return page.Page[note]{Items: []note{{"note_1", "Milk"}}}, nil
}

func (notes) add(_ context.Context, _ *api.Call, _ *api.None, in newNote) (noteRecord, error) {
	return noteRecord{ID: "note_2", Title: in.title}, nil
}

// A resource is a function that adds its operations.
func noteRoutes(service notes) api.Routes {
	return api.NewRoutes("notes", func(a *api.API) {
		g := a.Tag("Notes", "What you want to remember.")
		example := map[string]any{"id": "note_1", "title": "Milk"}
		api.List(g, api.Operation{Path: "/notes", ID: "listNotes", Needs: rights.Read, Summary: "List notes",
			Example: example},
			api.Plural{Member: "notes", Schema: "NoteList"}, service.list, newNoteRecord)
		api.HandleBody(g, api.Operation{Method: "POST", Path: "/notes", ID: "addNote", Needs: rights.Write,
			Summary: "Add a note", Example: example,
			Body: &api.Body{About: "The note.", Examples: map[string]any{"milk": map[string]any{"title": "Milk"}}}},
			newNoteBody, service.add)
	})
}

// Example declares a resource with a list and a body, and shows how the document describes them.
func Example() {
	document, err := api.DocumentOf("1.0.0", "https://mail.example.org", noteRoutes(notes{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	var read struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(document.JSON, &read); err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"AddNote", "NoteList", "NoteRecord"} {
		fmt.Println(name, slices.Sorted(maps.Keys(read.Components.Schemas[name].Properties)))
	}
	// Output:
	// AddNote [title]
	// NoteList [has_more next_cursor notes]
	// NoteRecord [id title]
}
