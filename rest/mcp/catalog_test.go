package mcp

import (
	"regexp"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Every tool has a name, a title, a description for the model, and a schema that the protocol accepts.
func TestCatalogIsComplete(t *testing.T) {
	t.Parallel()
	server := sdk.NewServer(&sdk.Implementation{Name: "test"}, nil)
	seen := map[string]bool{}
	for _, entry := range catalog() {
		if seen[entry.name] || !regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`).MatchString(entry.name) {
			t.Errorf("the name %q is used twice or has other characters than lower-case words", entry.name)
		}
		seen[entry.name] = true
		if entry.title == "" || len(entry.about) < 20 {
			t.Errorf("%s needs a title and a description", entry.name)
		}
		if len(entry.operations)+len(entry.fields) == 0 {
			t.Errorf("%s names nothing that it calls, so every caller would see it", entry.name)
		}
		if hints := annotations[entry.effect]; hints.ReadOnlyHint != (entry.effect == reads) || hints.DestructiveHint == nil {
			t.Errorf("%s has the hints %+v", entry.name, hints)
		}
		entry.add(server) // panics on a schema that is invalid
	}
	if len(Documents()) != len(documents) {
		t.Errorf("%d of %d documents are served", len(Documents()), len(documents))
	}
}
