package machine

import (
	"strings"
	"time"
)

// Event is a custom event in the form that runs use.
type Event struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	UserID    string         `json:"user_id,omitempty"`
	Email     string         `json:"email,omitempty"`
	Data      map[string]any `json:"data,omitempty"` // decoded by package expression
	Source    string         `json:"source,omitempty"`
	CreatedAt time.Time      `json:"created_at"`
}

// timeLayout is the format of times in the API, with milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z"

// values returns the event in the form that expressions and Liquid use.
func (e *Event) values() map[string]any {
	if e == nil {
		return map[string]any{}
	}
	values := map[string]any{"id": e.ID, "name": e.Name, "source": e.Source, "user_id": nil, "email": nil,
		"created_at": e.CreatedAt.UTC().Format(timeLayout)}
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
	EmailKey string // normalized address; may be empty
}

// Matches reports whether two identities belong to the same person. If both have a user id, only the user ids
// are compared; otherwise the addresses are.
func (i Identity) Matches(other Identity) bool {
	if i.UserID != "" && other.UserID != "" {
		return i.UserID == other.UserID
	}
	return i.EmailKey != "" && i.EmailKey == other.EmailKey
}

// Name is one of the names under which a person's runs are remembered. Names can be hashed: two identities
// match if Names of one and MatchingNames of the other have a name in common.
type Name struct {
	Kind  string
	Value string
}

// Kinds of names. The address of a person with a user id has a separate kind, because it matches only persons
// without a user id.
const (
	nameUser        = "user"
	nameEmail       = "email"
	nameEmailOfUser = "email of a user"
)

// Names returns the names of the identity.
func (i Identity) Names() (names []Name) {
	if i.UserID != "" {
		names = append(names, Name{nameUser, i.UserID})
	}
	if i.EmailKey != "" && i.UserID != "" {
		names = append(names, Name{nameEmailOfUser, i.EmailKey})
	} else if i.EmailKey != "" {
		names = append(names, Name{nameEmail, i.EmailKey})
	}
	return names
}

// MatchingNames returns the names of all identities that the identity matches.
func (i Identity) MatchingNames() (names []Name) {
	if i.UserID != "" {
		names = append(names, Name{nameUser, i.UserID})
	}
	if i.EmailKey != "" {
		names = append(names, Name{nameEmail, i.EmailKey})
	}
	if i.EmailKey != "" && i.UserID == "" {
		names = append(names, Name{nameEmailOfUser, i.EmailKey})
	}
	return names
}

// IsZero reports whether the identity is empty and so matches no person.
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
