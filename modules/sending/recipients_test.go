package sending

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/recipient"
)

// A recipient in two lists gets one copy of the message. The record keeps the lists as submitted.
func TestDuplicateAddressGetsOneCopy(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := simpleMessage("bob@example.net", "Bob <bob@EXAMPLE.net>", "carol@example.net")
	m.CC = []Mailbox{{Text: "carol@example.net"}, {Text: "dave@example.net"}}
	m.BCC = []Mailbox{{Text: "dave@example.net"}, {Text: "BOB@example.net"}}
	id := f.send(t, m)
	e, recipients, _, _ := f.state(t, id)
	type row struct {
		Address string
		Kind    recipient.Kind
	}
	var got []row
	for _, r := range recipients {
		got = append(got, row{r.Address, r.Kind})
	}
	// The meaning of the local part is up to the receiver (RFC 5321 section 2.4), but no known receiver has
	// different users for BOB and bob.
	want := []row{{"bob@example.net", recipient.KindTo}, {"carol@example.net", recipient.KindTo},
		{"dave@example.net", recipient.KindCc}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("recipients (-want +got):\n%s", diff)
	}
	if len(e.To) != 3 || len(e.Cc) != 2 || len(e.Bcc) != 2 {
		t.Errorf("record: %v %v %v", e.To, e.Cc, e.Bcc)
	}
}
