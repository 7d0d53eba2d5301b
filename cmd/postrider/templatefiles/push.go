package templatefiles

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/postrider/postrider/cmd/postrider/client"
)

// stored is a template as the API returns it.
type stored struct {
	Template

	ID                    string `json:"id"`
	Status                string `json:"status"`
	Version               *int   `json:"version"`
	HasUnpublishedChanges bool   `json:"has_unpublished_changes"`
	HasNewerComponents    bool   `json:"has_newer_components"`
}

// Push sends the templates of a folder to a server.
type Push struct {
	Server  client.Server
	Folder  string
	Publish bool      // publish templates with unpublished changes, or newer layouts or partials
	DryRun  bool      // only print the changes
	Diff    io.Writer // differences between the server and the files
	Log     io.Writer // problems of templates
	Report  func(PushResult)
}

// PushResult is the result of a push for one template.
type PushResult struct {
	Alias     string  `json:"alias"`
	Change    string  `json:"change"` // created, changed or unchanged; empty: refused
	Published bool    `json:"published"`
	Status    *string `json:"status"` // nil if nothing was sent
	Version   *int    `json:"version"`
	Error     *string `json:"error"`
}

func (p PushResult) String() string {
	did := p.Change
	switch {
	case p.Status == nil:
		return did + " (dry run)"
	case p.Published:
		did += ", published"
	}
	if p.Version != nil {
		return fmt.Sprintf("%s (%s, version %d)", did, *p.Status, *p.Version)
	}
	return fmt.Sprintf("%s (%s)", did, *p.Status)
}

// Run makes the drafts of the account equal to the files. Nothing is sent unless all files can be read. Run returns
// the number of templates that the server refused; the others are still pushed. The error reports a file or any other
// response of the server.
func (p Push) Run(ctx context.Context) (failed int, err error) {
	all, err := read(p.Folder)
	if err != nil {
		return 0, err
	}
	for _, t := range all {
		did, err := p.push(ctx, t)
		_, otherKind := errors.AsType[*kindError](err)
		if client.StatusOf(err) == http.StatusBadRequest || client.StatusOf(err) == http.StatusConflict || otherKind {
			reason := err.Error()
			fmt.Fprintf(p.Log, "%s: error: %s\n", t.Alias, reason)
			p.Report(PushResult{Alias: t.Alias, Error: &reason})
			failed++
			continue
		}
		if err != nil {
			return failed, fmt.Errorf("%s: %w", t.Alias, err)
		}
		p.Report(did)
	}
	return failed, nil
}

// push sends one template.
func (p Push) push(ctx context.Context, t Template) (did PushResult, err error) {
	known, err := find(ctx, p.Server, t.Alias)
	if err != nil {
		return did, err
	}
	before, exists := Template{}, known != nil
	if exists {
		before = known.Template
		if before.Kind != t.Kind {
			return did, &kindError{server: cmp.Or(before.Kind, "template"), files: cmp.Or(t.Kind, "template")}
		}
	}
	changes, err := compare(before, t)
	if err != nil {
		return did, err
	}
	p.Diff.Write(changes) //nolint:errcheck // like any other line of the log
	did = PushResult{Alias: t.Alias, Change: "created"}
	switch {
	case exists && len(changes) == 0:
		did.Change = "unchanged"
	case exists:
		did.Change = "changed"
	}
	if p.DryRun {
		return did, nil
	}
	request := client.Request{Method: http.MethodPost, Path: "/templates", Body: t}
	if exists {
		request.Method, request.Path = http.MethodPatch, "/templates/"+url.PathEscape(known.ID)
		t.Kind = "" // cannot change
		if t.Variables == nil {
			t.Variables = []Variable{} // null would keep them
		}
		request.Body = t
	}
	answer := struct{ Template *stored }{known}
	if did.Change != "unchanged" {
		if err := p.Server.Do(ctx, request, &answer); err != nil {
			return did, err
		}
	}
	draft := answer.Template
	if p.Publish && (draft.Version == nil || draft.HasUnpublishedChanges || draft.HasNewerComponents) {
		var published struct {
			Template *stored
			Warnings []string
		}
		if err := p.Server.Do(ctx, client.Request{Method: http.MethodPost,
			Path: "/templates/" + url.PathEscape(draft.ID) + "/publish"}, &published); err != nil {
			return did, err
		}
		for _, warning := range published.Warnings {
			fmt.Fprintf(p.Log, "%s: warning: %s\n", t.Alias, warning)
		}
		draft, did.Published = published.Template, true
	}
	did.Status, did.Version = &draft.Status, draft.Version
	return did, nil
}

// kindError reports that a template has another kind on the server.
type kindError struct{ server, files string }

func (e *kindError) Error() string {
	return fmt.Sprintf("is a %s on the server, and a %s in the files; the kind cannot change", e.server, e.files)
}

// find returns the template with an alias, or nil.
func find(ctx context.Context, server client.Server, alias string) (*stored, error) {
	id := ""
	err := server.List(ctx, "/templates", "templates", url.Values{"alias": {alias}}, 0, func(item json.RawMessage) error {
		var one struct {
			ID string `json:"id"`
		}
		err := json.Unmarshal(item, &one)
		id = one.ID
		return err
	})
	if err != nil || id == "" {
		return nil, err
	}
	return get(ctx, server, id)
}

// get returns a template with its bodies, which lists omit.
func get(ctx context.Context, server client.Server, id string) (*stored, error) {
	var answer struct{ Template *stored }
	err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: "/templates/" + url.PathEscape(id)}, &answer)
	if answer.Template != nil && answer.Template.Kind == "template" {
		answer.Template.Kind = ""
	}
	return answer.Template, err
}

// compare returns the differences between two templates as a unified diff. It is empty if there are none.
func compare(before, after Template) ([]byte, error) {
	a, err := format(before)
	if err != nil {
		return nil, err
	}
	b, err := format(after)
	if err != nil {
		return nil, err
	}
	return diff.Diff(after.Alias+" (server)", a, after.Alias+" (files)", b), nil
}

// format returns a template as text, with one field or line of a body per line.
func format(t Template) ([]byte, error) {
	if t.Alias == "" {
		return nil, nil
	}
	var out bytes.Buffer
	html, text, translations := t.HTML, t.Text, slices.Clone(t.Translations)
	t.HTML, t.Text, t.Translations = nil, nil, nil
	if len(t.ReplyTo) == 0 {
		t.ReplyTo = nil
	}
	if len(t.Variables) == 0 {
		t.Variables = nil
	}
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(t); err != nil {
		return nil, err
	}
	formatBodies(&out, "", nil, html, text)
	slices.SortFunc(translations, func(a, b Translation) int { return strings.Compare(a.Locale, b.Locale) })
	for _, translated := range translations {
		formatBodies(&out, " ("+translated.Locale+")", translated.Subject, translated.HTML, translated.Text)
	}
	return out.Bytes(), nil
}

func formatBodies(out *bytes.Buffer, locale string, subject, html, text *string) {
	for _, body := range []struct {
		name string
		text *string
	}{{"subject", subject}, {"html", html}, {"text", text}} {
		if body.text != nil {
			fmt.Fprintf(out, "%s%s:\n%s\n", body.name, locale, *body.text)
		}
	}
}

// Pull writes the templates of an account to a folder.
type Pull struct {
	Server client.Server
	Folder string
	Report func(PullResult)
}

// PullResult is the result of a pull for one template.
type PullResult struct {
	ID     string  `json:"id"`
	Name   string  `json:"name"`
	Path   *string `json:"path"`   // nil: skipped, because the template has no alias that can name a file
	Change string  `json:"change"` // written, unchanged or skipped
}

func (p PullResult) String() string {
	if p.Path == nil {
		return fmt.Sprintf("%s  %q has no alias that can name a file: skipped", p.ID, p.Name)
	}
	return *p.Path + "  " + p.Change
}

// Run writes the drafts of all templates that have an alias. It deletes no file. The error reports a file or a response
// of the server.
func (p Pull) Run(ctx context.Context) error {
	if err := os.MkdirAll(p.Folder, 0o750); err != nil {
		return err
	}
	return p.Server.List(ctx, "/templates", "templates", nil, 0, func(item json.RawMessage) error {
		var listed struct {
			ID    string  `json:"id"`
			Name  string  `json:"name"`
			Alias *string `json:"alias"`
		}
		if err := json.Unmarshal(item, &listed); err != nil {
			return err
		}
		if listed.Alias == nil || strings.ContainsAny(*listed.Alias, `/\`) {
			p.Report(PullResult{ID: listed.ID, Name: listed.Name, Change: "skipped"})
			return nil
		}
		t, err := get(ctx, p.Server, listed.ID)
		if err != nil {
			return err
		}
		path, changed, err := write(p.Folder, t.Template)
		if err != nil {
			return err
		}
		did := "unchanged"
		if changed {
			did = "written"
		}
		p.Report(PullResult{ID: listed.ID, Name: listed.Name, Path: &path, Change: did})
		return nil
	})
}
