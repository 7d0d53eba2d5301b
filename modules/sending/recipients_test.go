package sending

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/recipient"
)

// Nobody gets two copies of one message because two lists name him. The record
// shows the lists as they were given.
func TestAddressThatIsNamedTwiceGetsOneCopy(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := simple("bob@example.net", "Bob <bob@EXAMPLE.net>", "carol@example.net")
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
	// The local part is the receiver's (RFC 5321 section 2.4), but none is known to whom BOB is somebody else.
	want := []row{{"bob@example.net", recipient.KindTo}, {"carol@example.net", recipient.KindTo}, {"dave@example.net", recipient.KindCc}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("recipients (-want +got):\n%s", diff)
	}
	if len(e.To) != 3 || len(e.Cc) != 2 || len(e.Bcc) != 2 {
		t.Errorf("record: %v %v %v", e.To, e.Cc, e.Bcc)
	}
}
