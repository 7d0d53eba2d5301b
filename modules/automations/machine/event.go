package machine

import (
	"strings"
	"time"
)

// Event is a custom event as runs see it.
type Event struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	UserID    string         `json:"user_id,omitempty"`
	Email     string         `json:"email,omitempty"`
	Data      map[string]any `json:"data,omitempty"` // of package expression: Decode
	Source    string         `json:"source,omitempty"`
	CreatedAt time.Time      `json:"created_at"`
}

// values is the event as expressions and Liquid see it.
func (e *Event) values() map[string]any {
	if e == nil {
		return map[string]any{}
	}
	values := map[string]any{"id": e.ID, "name": e.Name, "source": e.Source, "created_at": e.CreatedAt.UTC().Format(time.RFC3339Nano)}
	if e.UserID != "" {
		values["user_id"] = e.UserID
	}
	if e.Email != "" {
		values["email"] = e.Email
	}
	values["data"] = map[string]any{}
	if e.Data != nil {
		values["data"] = e.Data
	}
	return values
}

// Identity is by what a person is known.
type Identity struct {
	UserID   string
	EmailKey string // the address as it is compared; "": none
}

// Matches tells whether two identities are of one person. User ids decide where both have
// one, whatever the addresses say; else the addresses do.
func (i Identity) Matches(other Identity) bool {
	if i.UserID != "" && other.UserID != "" {
		return i.UserID == other.UserID
	}
	return i.EmailKey != "" && i.EmailKey == other.EmailKey
}

// IsZero tells whether nothing is known, so that nobody matches.
func (i Identity) IsZero() bool { return i == Identity{} }

// splitSeed is what decides the variant of a split for a person.
func (i Identity) splitSeed(runID string) string {
	switch {
	case i.UserID != "":
		return "user\x00" + i.UserID
	case i.EmailKey != "":
		return "email\x00" + strings.ToLower(i.EmailKey)
	default:
		return "run\x00" + runID
	}
}
