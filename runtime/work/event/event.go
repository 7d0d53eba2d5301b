// Package event is the public contract of what Postrider tells: every event
// type, the shape of its payload and a sample, in one catalog.
//
// A fact is one event that has happened. It is written by the module that
// caused it, in the transaction of the change it tells of (runtime/work/bus), and
// never changes afterwards. Facts of one subject are ordered by their id.
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
	AccountID string          // whose it is
	Type      Type            // a type of the catalog
	SubjectID string          // what it is about: msg_…, dom_…
	Data      json.RawMessage // the payload of the type
	CreatedAt time.Time
}

// Payload is the data of one event type.
type Payload interface {
	// SubjectID is the id of the resource that the event is about.
	SubjectID() string
}

// New makes the fact that typ happened to the payload's subject. The status of an Email is
// set here, by the type. New panics on a type that the catalog does not have: that is a
// defect, not bad input.
func New(accountID string, typ Type, at time.Time, payload Payload) Fact {
	if _, known := Lookup(typ); !known {
		panic(fmt.Sprintf("event: %q is not in the catalog", typ))
	}
	if email, is := payload.(Email); is {
		payload = email.of(typ)
	}
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false) // addresses have angle brackets
	if err := encoder.Encode(payload); err != nil {
		panic(fmt.Sprintf("event: payload of %s cannot be encoded: %v", typ, err))
	}
	return Fact{ID: id.New(id.Fact), AccountID: accountID, Type: typ, SubjectID: payload.SubjectID(), Data: bytes.TrimSpace(data.Bytes()), CreatedAt: at}
}
