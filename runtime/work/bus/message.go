package bus

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postrider/postrider/runtime/work/event"
)

// The fact in a Watermill message: its id is the UUID, its data the payload, the rest metadata. A forwarder
// to a broker would transfer it in this form.
const (
	metaAccount = "account_id"
	metaType    = "type"
	metaSubject = "subject_id"
	metaTime    = "created_at"
)

func messageOf(f event.Fact) (*message.Message, error) {
	if f.ID == "" || f.AccountID == "" || f.Type == "" || f.SubjectID == "" || f.CreatedAt.IsZero() {
		return nil, fmt.Errorf("fact %q of type %q lacks an id, account, type, subject or time", f.ID, f.Type)
	}
	m := message.NewMessage(f.ID, replaceNUL(f.Data))
	m.Metadata = message.Metadata{metaAccount: f.AccountID, metaType: string(f.Type), metaSubject: f.SubjectID,
		metaTime: f.CreatedAt.Format(time.RFC3339Nano)}
	return m, nil
}

func factOf(m *message.Message) (event.Fact, error) {
	at, err := time.Parse(time.RFC3339Nano, m.Metadata[metaTime])
	if err != nil {
		return event.Fact{}, errors.New("message " + m.UUID + " has no time")
	}
	return event.Fact{ID: m.UUID, AccountID: m.Metadata[metaAccount], Type: event.Type(m.Metadata[metaType]),
		SubjectID: m.Metadata[metaSubject], Data: bytes.Clone(m.Payload), CreatedAt: at}, nil
}

// replaceNUL replaces the one character that JSON can escape and jsonb cannot store. It comes from outside,
// for example from a server's reply, and would make the transaction that reports it fail forever.
func replaceNUL(data []byte) []byte {
	const null, replacement = `\u0000`, `\ufffd`
	if !bytes.Contains(data, []byte(null)) {
		return data
	}
	clean := bytes.Clone(data)
	for i := 0; i < len(clean); i++ {
		if clean[i] != '\\' {
			continue
		}
		if bytes.HasPrefix(clean[i:], []byte(null)) {
			copy(clean[i:], replacement)
		}
		i++ // the escaped character may be a backslash itself
	}
	return clean
}
