package automate

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"

	"github.com/postrider/postrider/cmd/postrider/client"
)

// Push sends definitions to the server.
type Push struct {
	Server client.Server

	Paths    []string // files, or folders with files
	Activate bool
	Out      io.Writer // one line per definition
	Log      io.Writer // problems that prevent activation
}

// problem is one result of checking a draft.
type problem struct {
	Path, Severity, Message string
}

const severityError = "error"

// Run makes the drafts of the account equal to the files, matched by name, and activates changed drafts if
// requested. Nothing is sent unless all files can be read. Run returns the number of files with problems that
// prevent activation; the others are still pushed. The error reports an invalid field, a file or a response
// of the server.
func (p Push) Run(ctx context.Context) (failed int, err error) {
	if err := p.Server.Validate(); err != nil {
		return 0, err
	}
	files, err := read(p.Paths)
	if err != nil {
		return 0, err
	}
	list, err := List(ctx, p.Server)
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

// do sends one request and decodes the response into out.
func (p Push) do(ctx context.Context, method, path string, body, out any) error {
	return p.Server.Do(ctx, client.Request{Method: method, Path: path, Body: body}, out)
}

// push sends one definition and reports whether nothing prevents its activation.
func (p Push) push(ctx context.Context, f file, list []Automation) (good bool, err error) {
	draft, did, err := p.updateDraft(ctx, f, list)
	if err != nil {
		return p.refusedDefinition(f, err)
	}
	var checked struct{ Problems []problem }
	if err := p.do(ctx, http.MethodGet, "/automations/"+draft.ID+"/check", nil, &checked); err != nil {
		return false, err
	}
	good = true
	for _, found := range checked.Problems {
		fmt.Fprintf(p.Log, "%s: %s: %s: %s\n", f.path, found.Severity, found.Path, found.Message)
		good = good && found.Severity != severityError
	}
	if p.Activate && good && (draft.Status != "active" || draft.HasUnpublishedChanges) {
		var acted struct{ Automation Automation }
		if err := p.do(ctx, http.MethodPost, "/automations/"+draft.ID, map[string]string{"action": "activate"},
			&acted); err != nil {
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

// refusedDefinition prints what the server reports about an invalid definition. Other errors are returned.
func (p Push) refusedDefinition(f file, err error) (bool, error) {
	if client.StatusOf(err) != http.StatusBadRequest {
		return false, err
	}
	fmt.Fprintf(p.Log, "%s: error: %v\n", f.path, err)
	return false, nil
}

// updateDraft makes the draft of the account equal to the file, and describes the change.
func (p Push) updateDraft(ctx context.Context, f file, list []Automation) (draft Automation, did string, err error) {
	known, err := findByName(list, f.name)
	if err != nil {
		return draft, "", err
	}
	var answer struct{ Automation Automation }
	if known == nil {
		err = p.do(ctx, http.MethodPost, "/automations", f.definition, &answer)
		return answer.Automation, "created", err
	}
	if same, err := equalsDraft(*known, f.definition); err != nil || same {
		return *known, "unchanged", err
	}
	err = p.do(ctx, http.MethodPatch, "/automations/"+known.ID, changesOf(f.definition), &answer)
	return answer.Automation, "changed", err
}

// changesOf returns an update to the whole definition. Fields missing from the file are cleared.
func changesOf(definition map[string]any) map[string]any {
	out := map[string]any{"description": nil, "timezone": nil, "goal": nil}
	maps.Copy(out, definition)
	return out
}

// equalsDraft reports whether a draft equals a definition.
func equalsDraft(a Automation, definition map[string]any) (bool, error) {
	encoded, err := a.definition()
	if err != nil {
		return false, err
	}
	shown, err := decode(encoded)
	if err != nil {
		return false, err
	}
	wanted, err := normalizeDefinition(definition)
	if err != nil {
		return false, err
	}
	return reflect.DeepEqual(shown, wanted), nil
}
