// Package event is the public contract of the events that Postrider emits: every event type, its payload
// and a sample, in one catalog.
//
// A fact is an event that has happened. The module that caused it writes it, in the transaction of the
// change (runtime/work/bus), and it never changes afterwards. The facts of one subject are ordered by their
// id.
package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
)

// Type names an event, in the past tense: `email.delivered`.
type Type string

// Fact is one event of one account.
type Fact struct {
	ID        string          // evt_…
	AccountID string          // the owner
	Type      Type            // a type of the catalog
	SubjectID string          // the resource that it is about: msg_…, dom_…
	Data      json.RawMessage // the payload of the type
	CreatedAt time.Time
}

// Payload is the data of one event type.
type Payload interface {
	// SubjectID returns the id of the resource that the event is about.
	SubjectID() string
}

// New returns the fact that an event of type typ happened to the payload's subject. It sets the status of an
// Email according to the type. New panics if the catalog does not contain the type, because that is a
// programming error.
func New(accountID string, typ Type, at time.Time, payload Payload) Fact {
	if _, known := Lookup(typ); !known {
		panic(fmt.Sprintf("event: %q is not in the catalog", typ))
	}
	if email, is := payload.(Email); is {
		payload = email.withType(typ)
	}
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false) // addresses contain angle brackets
	if err := encoder.Encode(payload); err != nil {
		panic(fmt.Sprintf("event: payload of %s cannot be encoded: %v", typ, err))
	}
	return Fact{ID: id.New(id.Fact), AccountID: accountID, Type: typ, SubjectID: payload.SubjectID(),
		Data: bytes.TrimSpace(data.Bytes()), CreatedAt: at}
}
