package automate

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
)

// Push says which definitions go to the server.
type Push struct {
	Server

	Paths    []string // files, or folders with files
	Activate bool
	Out      io.Writer // a line for each definition
	Log      io.Writer // what speaks against activating
}

// problem is what `check` says of a draft.
type problem struct {
	Path, Severity, Message string
}

const severityError = "error"

// Run makes the drafts of the account those of the files, each matched by its name, and activates
// those that have changed, if that is wanted. Nothing is sent unless all files can be read. It gives
// how many of them have problems that speak against activating; the others are done. The error is
// that of a file, of the server, or a wrong field.
func (p Push) Run(ctx context.Context) (failed int, err error) {
	if err := p.Validate(); err != nil {
		return 0, err
	}
	files, err := read(p.Paths)
	if err != nil {
		return 0, err
	}
	list, err := p.all(ctx)
	if err != nil {
		return 0, err
	}
	for _, f := range files {
		good, err := p.push(ctx, f, list)
		if err != nil {
			return failed, fmt.Errorf("%s: %w", f.path, err)
		}
		if !good {
			failed++
		}
	}
	return failed, nil
}

// push brings one definition. It is good if nothing speaks against activating it.
func (p Push) push(ctx context.Context, f file, list []Automation) (good bool, err error) {
	draft, did, err := p.draft(ctx, f, list)
	if err != nil {
		return p.refusedDefinition(f, err)
	}
	var checked struct{ Problems []problem }
	if err := p.call(ctx, http.MethodGet, "/automations/"+draft.ID+"/check", nil, &checked); err != nil {
		return false, err
	}
	good = true
	for _, found := range checked.Problems {
		fmt.Fprintf(p.Log, "%s: %s: %s: %s\n", f.path, found.Severity, found.Path, found.Message)
		good = good && found.Severity != severityError
	}
	if p.Activate && good && (draft.Status != "active" || draft.HasUnpublishedChanges) {
		var acted struct{ Automation Automation }
		if err := p.call(ctx, http.MethodPost, "/automations/"+draft.ID, map[string]string{"action": "activate"}, &acted); err != nil {
			return p.refusedDefinition(f, err)
		}
		draft, did = acted.Automation, did+", activated"
	}
	version := ""
	if draft.Version != nil {
		version = fmt.Sprintf(", version %d", *draft.Version)
	}
	fmt.Fprintf(p.Out, "%s  %s  %s (%s%s)\n", draft.ID, f.name, did, draft.Status, version)
	return good, nil
}

// refusedDefinition says what the server finds wrong with a definition. Other errors are given back.
func (p Push) refusedDefinition(f file, err error) (bool, error) {
	if statusOf(err) != http.StatusBadRequest {
		return false, err
	}
	fmt.Fprintf(p.Log, "%s: error: %v\n", f.path, err)
	return false, nil
}

// draft makes the draft of the account what the file says, and tells what it did.
func (p Push) draft(ctx context.Context, f file, list []Automation) (draft Automation, did string, err error) {
	known, err := named(list, f.name)
	if err != nil {
		return draft, "", err
	}
	var answer struct{ Automation Automation }
	if known == nil {
		err = p.call(ctx, http.MethodPost, "/automations", f.definition, &answer)
		return answer.Automation, "made", err
	}
	if same, err := says(*known, f.definition); err != nil || same {
		return *known, "unchanged", err
	}
	err = p.call(ctx, http.MethodPatch, "/automations/"+known.ID, changes(f.definition), &answer)
	return answer.Automation, "changed", err
}

// changes is the whole definition as a change: what the file leaves out is taken away.
func changes(definition map[string]any) map[string]any {
	out := map[string]any{"description": nil, "timezone": nil}
	maps.Copy(out, definition)
	return out
}

// says tells whether a draft says what a definition says.
func says(a Automation, definition map[string]any) (bool, error) {
	encoded, err := a.definition()
	if err != nil {
		return false, err
	}
	shown, err := decode(encoded)
	if err != nil {
		return false, err
	}
	wanted, err := normal(definition)
	if err != nil {
		return false, err
	}
	return reflect.DeepEqual(shown, wanted), nil
}
