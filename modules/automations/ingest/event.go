package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/expression"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// Limits of an event.
const (
	MaxUserID = 255
	MaxData   = 256 << 10 // bytes
	maxDepth  = 16
	maxValues = 50_000
)

// Post is an event reported by an account.
type Post struct {
	AccountID string
	Name      string
	UserID    string
	Email     string
	Data      json.RawMessage // an object; empty: {}
	Source    string          // api
	Depth     int             // number of runs in the chain of causes
	Cause     string          // Cause from the webhook step that caused the event; determines Depth; may be empty

	Claim  *idempotency.Claim
	Render func(Result) idempotency.Response // encodes the response stored under the Claim
}

// Result is the result of posting an event.
type Result struct {
	Event                       Event
	Matched, Resumed, Cancelled int
	// Replay is set if an earlier request with the same key succeeded.
	Replay *idempotency.Response
}

// Event is a stored custom event.
type Event struct {
	ID, Name, UserID, Email, Source string
	Data                            json.RawMessage
	Matches                         []shape.EventMatch
	CreatedAt                       time.Time
}

// posting is a Post that is being stored.
type posting struct {
	Post

	event    *machine.Event
	emailKey string
	data     json.RawMessage // as stored
	matches  []shape.EventMatch
	answer   Result
	at       time.Time
	trial    bool
	isGoal   bool // the goal of an automation
}

// toEvent returns the event as the response shows it.
func (p *posting) toEvent() Event {
	return Event{ID: p.event.ID, Name: p.Name, UserID: p.UserID, Email: p.Email, Source: p.Source, Data: p.data,
		Matches: p.matches, CreatedAt: p.at}
}

func (p *posting) person() runs.Person {
	return runs.Person{AccountID: p.AccountID, UserID: p.UserID, EmailKey: p.emailKey}
}

func (p *posting) identity() machine.Identity {
	return machine.Identity{UserID: p.UserID, EmailKey: p.emailKey}
}

// EventOf validates an event and returns it in the form that runs use, with its person. It stores nothing.
// Built-in events are allowed. The error is Invalid with all invalid fields.
func EventOf(p Post) (*machine.Event, machine.Identity, error) {
	judged, err := judgeAs(p, definition.CheckListened)
	if err != nil {
		return nil, machine.Identity{}, err
	}
	return judged.event, judged.identity(), nil
}

// validatePost validates an event. The fields name every error.
func validatePost(p Post) (*posting, error) { return judgeAs(p, definition.CheckEventName) }

func judgeAs(p Post, checkName func(string) error) (*posting, error) {
	wrong := fault.Fields{}
	out := &posting{Post: p}
	if err := checkName(p.Name); err != nil {
		wrong.Add("name", "%s", err)
	}
	if n := utf8.RuneCountInString(p.UserID); n > MaxUserID {
		wrong.Add("user_id", "has %d characters; the limit is %d", n, MaxUserID)
	} else if strings.ContainsFunc(p.UserID, unicode.IsControl) {
		wrong.Add("user_id", "cannot contain control characters")
	} else if strings.TrimSpace(p.UserID) != p.UserID {
		wrong.Add("user_id", "cannot begin or end with white space")
	}
	if p.Email != "" {
		parsed, err := address.New("", p.Email)
		if err != nil {
			wrong.Add("email", "%s", err)
		}
		out.emailKey = strings.ToLower(parsed.AddrSpec())
	}
	data, stored, err := judgeData(p.Data)
	if err != nil {
		wrong.Add("data", "%s", err)
	}
	out.data = stored
	out.event = &machine.Event{Name: p.Name, UserID: p.UserID, Email: p.Email, Data: data, Source: p.Source}
	return out, wrong.Err()
}

// judgeData parses the data of an event and re-encodes it, because the database rejects some JSON (a lone
// surrogate) that decoding repairs.
func judgeData(raw json.RawMessage) (map[string]any, json.RawMessage, error) {
	trimmed := bytes.TrimSpace(raw)
	if len(trimmed) == 0 || string(trimmed) == "null" {
		return map[string]any{}, json.RawMessage("{}"), nil
	}
	if trimmed[0] != '{' {
		return nil, nil, errors.New("must be an object")
	}
	if len(trimmed) > MaxData {
		return nil, nil, fmt.Errorf("has %d bytes; the limit is %d", len(trimmed), MaxData)
	}
	if measureNesting(trimmed) > maxDepth {
		return nil, nil, fmt.Errorf("cannot be nested more than %d levels deep", maxDepth)
	}
	data, err := expression.DecodeExact(trimmed)
	var inexact *expression.NumberError
	switch {
	case errors.As(err, &inexact):
		return nil, nil, err
	case err != nil:
		return nil, nil, errors.New("must be a JSON object")
	}
	counted := valueCount{left: maxValues}
	if counted.add(data); counted.left < 0 {
		return nil, nil, fmt.Errorf("cannot contain more than %d values", maxValues)
	}
	if counted.hasNUL {
		return nil, nil, errors.New("cannot contain NUL characters")
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(data); err != nil {
		return nil, nil, errors.New("has a value that JSON cannot hold")
	}
	return data, bytes.TrimSpace(out.Bytes()), nil
}

// measureNesting returns the maximum depth of nested objects and arrays.
func measureNesting(document []byte) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(document); i++ {
		switch c := document[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

// valueCount examines all values of an object, so that the reported error does not depend on the order of its fields.
type valueCount struct {
	left   int // negative: there are too many values
	hasNUL bool
}

func (c *valueCount) add(value any) {
	if c.left--; c.left < 0 {
		return
	}
	switch v := value.(type) {
	case string:
		c.hasNUL = c.hasNUL || strings.ContainsRune(v, 0)
	case []any:
		for _, element := range v {
			c.add(element)
		}
	case map[string]any:
		for name, member := range v {
			c.hasNUL = c.hasNUL || strings.ContainsRune(name, 0)
			c.add(member)
		}
	}
}
