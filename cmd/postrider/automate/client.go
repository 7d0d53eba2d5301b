package automate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
)

// Server is a running Postrider, with an API key of one of its accounts.
type Server struct{ BaseURL, APIKey string }

// Validate reports every invalid field.
func (s Server) Validate() error {
	wrong := fault.Fields{}
	if u, err := url.Parse(s.BaseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		wrong.Add("--base-url", "must be an http or https URL")
	}
	if s.APIKey == "" {
		wrong.Add("--api-key", "is required (POSTRIDER_API_KEY)")
	}
	return wrong.Err()
}

const (
	timeout   = 30 * time.Second
	maxAnswer = 32 << 20 // bytes
)

var client = &http.Client{Timeout: timeout}

// refusal is an error response of the server.
type refusal struct {
	Status  int
	Message string
	Fields  map[string]string // problems by path in the body
}

func (r *refusal) Error() string {
	if len(r.Fields) == 0 {
		return r.Message
	}
	return r.Message + "\n" + strings.Join(formatFields(r.Fields), "\n")
}

func formatFields(fields map[string]string) (out []string) {
	for _, path := range slices.Sorted(maps.Keys(fields)) {
		out = append(out, "  "+path+": "+fields[path])
	}
	return out
}

// sendRequest sends one request and decodes the response into out, unless out is nil. The error is a *refused if the
// server responded.
func (s Server) sendRequest(ctx context.Context, method, path string, body, out any) error {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(s.BaseURL, "/")+"/api"+path, content)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.APIKey)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return err
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		return refusalOf(res.StatusCode, answer)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("decode the response of %s %s: %w", method, path, err)
	}
	return nil
}

func refusalOf(status int, answer []byte) error {
	var said struct {
		Error struct {
			Message string         `json:"message"`
			Details map[string]any `json:"details"`
		} `json:"error"`
	}
	if err := json.Unmarshal(answer, &said); err != nil || said.Error.Message == "" {
		return &refusal{Status: status,
			Message: fmt.Sprintf("the server returned %d %s", status, http.StatusText(status))}
	}
	fields := map[string]string{}
	for path, found := range said.Error.Details {
		fields[path] = fmt.Sprint(found)
	}
	return &refusal{Status: status, Message: said.Error.Message, Fields: fields}
}

func statusOf(err error) int {
	var r *refusal
	if errors.As(err, &r) {
		return r.Status
	}
	return 0
}

// Automation is an automation as the API returns it.
type Automation struct {
	ID                    string          `json:"id"`
	Name                  string          `json:"name"`
	Description           *string         `json:"description"`
	Status                string          `json:"status"`
	Version               *int            `json:"version"`
	HasUnpublishedChanges bool            `json:"has_unpublished_changes"`
	Trigger               json.RawMessage `json:"trigger"`
	Steps                 json.RawMessage `json:"steps"`
	Timezone              *string         `json:"timezone"`
}

const statusArchived = "archived"

// listAll lists the automations of the account, newest first, except archived ones.
func (s Server) listAll(ctx context.Context) (out []Automation, err error) {
	for cursor := ""; ; {
		query := url.Values{"limit": {"100"}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		var page struct {
			Automations []Automation `json:"automations"`
			HasMore     bool         `json:"has_more"`
			NextCursor  *string      `json:"next_cursor"`
		}
		if err := s.sendRequest(ctx, http.MethodGet, "/automations?"+query.Encode(), nil, &page); err != nil {
			return nil, fmt.Errorf("list automations: %w", err)
		}
		for _, a := range page.Automations {
			if a.Status != statusArchived {
				out = append(out, a)
			}
		}
		if !page.HasMore || page.NextCursor == nil {
			return out, nil
		}
		cursor = *page.NextCursor
	}
}

// findByName returns the automation with a name, or nil if there is none. A name that two automations have is an
// error, because it does not identify one of them.
func findByName(list []Automation, name string) (found *Automation, err error) {
	for i := range list {
		switch {
		case list[i].Name != name:
		case found != nil:
			return nil, fmt.Errorf("the account has two automations with the name %q (%s, %s): rename or archive one",
				name, found.ID, list[i].ID)
		default:
			found = &list[i]
		}
	}
	return found, nil
}
