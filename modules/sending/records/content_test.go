package records_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
)

func relayedMessage(raw string, to ...string) sending.Message {
	m := rooms.SimpleMessage(to...)
	m.Text, m.HTML = "", ""
	m.Relayed = &sending.RelayedMessage{MIME: []byte(strings.ReplaceAll(raw, "\n", "\r\n"))}
	return m
}

const aRelayed = "From: ada@example.com\nTo: bob@example.net\nSubject: s\n\nHello\n"

// A relayed message is a body, and is purged with bodies.
func TestPurgeDeletesRelayedMessages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := relayedMessage(aRelayed, "bob@example.net")
	done, open := f.Send(t, m), f.Send(t, m)
	f.markDelivered(t, done)
	if n, err := f.PurgeBodies(t.Context(), sendingtest.Account, []string{done, open}); n != 1 || err != nil {
		t.Fatalf("purged %d, %v", n, err)
	}
	for id, kept := range map[string]bool{done: false, open: true} {
		var stored []byte
		if err := f.DB.SQL.QueryRowContext(t.Context(), `SELECT mime FROM emails WHERE id = $1`, id).Scan(&stored); err != nil {
			t.Fatal(err)
		}
		if (stored != nil) != kept {
			t.Errorf("kept %v: %q", kept, stored)
		}
	}
}

// However and wherever the header spells an erased address, a message that is still to be sent to others no
// longer contains it; other fields and the body are unchanged.
func TestErasedAddressIsRemovedFromUnsentMessages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	at := time.Now().Add(time.Hour)
	for name, field := range map[string]string{
		"plain":          "To: bob@example.net, Carol <carol@example.net>\n",
		"with a name":    "To: carol@example.net,\n Bob <BOB@Example.Net>\n",
		"quoted":         "To: \"bob\"@example.net, carol@example.net\n",
		"folded":         "To: carol@example.net, bob\n @example.net\n",
		"comment":        "To: carol@example.net, bob@(at home)example.net\n",
		"copy":           "To: carol@example.net\nCc: bob@example.net\n",
		"as a name":      "To: \"bob@example.net\" <carol@example.net>\n",
		"as a word":      "To: =?utf-8?q?bob=40example=2Enet?= <carol@example.net>\n",
		"in a group":     "To: team: bob@example.net, carol@example.net;\n",
		"as a reply":     "To: carol@example.net\nReply-To: bob@example.net\n",
		"of our own":     "To: carol@example.net\nX-Customer: Bob@example.net\n",
		"as a reference": "To: carol@example.net\nX-Customer: =?utf-8?q?bob=40example.net?=\n",
	} {
		m := relayedMessage("From: ada@example.com\n"+field+"Subject: s\nX-Kept: yes\n\nDear all\n", "bob@example.net",
			"carol@example.net")
		m.ScheduledAt = &at
		id := f.Send(t, m)
		if _, err := f.Erase(t.Context(), sendingtest.Account, "bob@example.net"); err != nil {
			t.Fatal(err)
		}
		content, err := f.Content(t.Context(), sendingtest.Account, id, time.Second)
		if err != nil || content == nil {
			t.Fatalf("%s: read the kept content: %v, %v", name, content, err)
		}
		raw, err := content.Bytes()
		raw = bytes.Clone(raw)
		content.Close()
		if err != nil || !bytes.HasPrefix(raw, []byte("From: ada@example.com\r\n")) ||
			!bytes.HasSuffix(raw, []byte("\r\nSubject: s\r\nX-Kept: yes\r\n\r\nDear all\r\n")) {
			t.Errorf("%s: the stored message reads with error %v, want From, Subject, the kept field and the body unchanged:\n%s", name, err, raw)
		}
		if left := strings.ToLower(string(raw)); strings.Contains(left, "bob") {
			t.Errorf("%s: still there:\n%s", name, raw)
		}
	}
}
