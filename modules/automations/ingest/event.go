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

// The bounds of an event.
const (
	MaxUserID = 255
	MaxData   = 256 << 10 // octets
	maxDepth  = 16
	maxValues = 50_000
)

// Post is an event that an account reports.
type Post struct {
	AccountID string
	Name      string
	UserID    string
	Email     string
	Data      json.RawMessage // an object; none: {}
	Source    string          // api
	Depth     int             // how many runs have caused one another up to it
	Cause     string          // what a webhook step was given, which decides Depth; "": nothing

	Claim  *idempotency.Claim
	Render func(Answer) idempotency.Answer // the answer that is kept under the Claim
}

// Answer says what came of an event.
type Answer struct {
	Event                       Event
	Matched, Resumed, Cancelled int
	// Replay is set when an earlier request with the same key has won.
	Replay *idempotency.Answer
}

// Event is a stored custom event.
type Event struct {
	ID, Name, UserID, Email, Source string
	Data                            json.RawMessage
	Matches                         []shape.EventMatch
	CreatedAt                       time.Time
}

// posting is a Post on its way into the database.
type posting struct {
	Post

	event    *machine.Event
	emailKey string
	data     json.RawMessage // as it is stored
	matches  []shape.EventMatch
	answer   Answer
	at       time.Time
	trial    bool
}

// shown is the event as it is answered.
func (p *posting) shown() Event {
	return Event{ID: p.event.ID, Name: p.Name, UserID: p.UserID, Email: p.Email, Source: p.Source, Data: p.data, Matches: p.matches, CreatedAt: p.at}
}

func (p *posting) person() runs.Person {
	return runs.Person{AccountID: p.AccountID, UserID: p.UserID, EmailKey: p.emailKey}
}

func (p *posting) identity() machine.Identity {
	return machine.Identity{UserID: p.UserID, EmailKey: p.emailKey}
}

// EventOf judges an event and gives it as runs see it, with the person of it. It stores nothing.
// It may be one of the service's own. The error is Invalid with all wrong fields.
func EventOf(p Post) (*machine.Event, machine.Identity, error) {
	judged, err := judgeAs(p, definition.CheckListened)
	if err != nil {
		return nil, machine.Identity{}, err
	}
	return judged.event, judged.identity(), nil
}

// judge validates an event; the fields name everything that is wrong.
func judge(p Post) (*posting, error) { return judgeAs(p, definition.CheckEventName) }

func judgeAs(p Post, checkName func(string) error) (*posting, error) {
	wrong := fault.Fields{}
	out := &posting{Post: p}
	if err := checkName(p.Name); err != nil {
		wrong.Add("name", "%s", err)
	}
	if n := utf8.RuneCountInString(p.UserID); n > MaxUserID {
		wrong.Add("user_id", "has %d characters; the limit is %d", n, MaxUserID)
	} else if strings.ContainsFunc(p.UserID, unicode.IsControl) {
		wrong.Add("user_id", "contains a control character")
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

// judgeData reads the data of an event and writes it anew, so that what the database would
// refuse (a lone surrogate) is what decoding makes of it.
func judgeData(raw json.RawMessage) (map[string]any, json.RawMessage, error) {
	trimmed := bytes.TrimSpace(raw)
	if len(trimmed) == 0 || string(trimmed) == "null" {
		return map[string]any{}, json.RawMessage("{}"), nil
	}
	if trimmed[0] != '{' {
		return nil, nil, errors.New("must be an object")
	}
	if len(trimmed) > MaxData {
		return nil, nil, fmt.Errorf("has %d octets; the limit is %d", len(trimmed), MaxData)
	}
	if nesting(trimmed) > maxDepth {
		return nil, nil, fmt.Errorf("is nested more than %d deep", maxDepth)
	}
	data, err := expression.Decode(trimmed)
	if err != nil {
		return nil, nil, errors.New("is not a JSON object")
	}
	left := maxValues
	if err := judgeValue(data, &left); err != nil {
		return nil, nil, err
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(data); err != nil {
		return nil, nil, errors.New("has a value that JSON cannot hold")
	}
	return data, bytes.TrimSpace(out.Bytes()), nil
}

// nesting counts how deep objects and arrays stand in one another.
func nesting(document []byte) (deepest int) {
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

func judgeValue(value any, left *int) error {
	if *left--; *left < 0 {
		return fmt.Errorf("holds more than %d values", maxValues)
	}
	switch v := value.(type) {
	case string:
		if strings.ContainsRune(v, 0) {
			return errors.New("contains a NUL character")
		}
	case []any:
		for _, element := range v {
			if err := judgeValue(element, left); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, member := range v {
			if strings.ContainsRune(name, 0) {
				return errors.New("contains a NUL character")
			}
			if err := judgeValue(member, left); err != nil {
				return err
			}
		}
	}
	return nil
}
