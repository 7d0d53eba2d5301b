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
	Data      map[string]any `json:"data,omitempty"` // decoded by package expression
	Source    string         `json:"source,omitempty"`
	CreatedAt time.Time      `json:"created_at"`
}

// values returns the event in the form that expressions and Liquid see.
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

// Identity identifies a person.
type Identity struct {
	UserID   string
	EmailKey string // the address in comparable form; may be empty
}

// Matches reports whether two identities belong to one person. If both have a user id, only the user ids
// decide; otherwise the addresses do.
func (i Identity) Matches(other Identity) bool {
	if i.UserID != "" && other.UserID != "" {
		return i.UserID == other.UserID
	}
	return i.EmailKey != "" && i.EmailKey == other.EmailKey
}

// IsZero reports whether the identity is empty, so that it matches no person.
func (i Identity) IsZero() bool { return i == Identity{} }

// splitSeed returns the seed that selects a person's variant of a split.
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
