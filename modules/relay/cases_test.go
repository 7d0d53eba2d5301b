package relay

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/mail/smtpserver"
	"github.com/postrider/postrider/runtime/mail/verbatim"
)

// Messages as submitted by programs, with the message that is sent or the reply. Readers must see the same
// texts and files in both messages.
func TestSubmittedMessages(t *testing.T) {
	t.Parallel()
	expect.GoldenCases(t, "eml", submitMessage)
}

// submitMessage returns the message that is sent, or the reply that rejects it.
func submitMessage(t *testing.T, raw []byte) string {
	t.Helper()
	sub, err := newSubmission(bytes.Clone(raw), []address.Address{{Local: "bob", Domain: "example.net"}})
	var reply *smtpserver.Reply
	switch {
	case errors.As(err, &reply):
		return reply.Error() + "\n"
	case err != nil:
		t.Fatal(err)
	}
	mended := sub.message.Relayed.MIME
	fields, _, err := verbatim.Split(mended)
	if err != nil {
		t.Errorf("the message cannot be sent: %v", err)
	}
	for _, f := range fields {
		if !isASCII(string(f.Raw)) {
			t.Errorf("%s has raw 8-bit characters: %q", f.Name, f.Raw)
		}
	}
	if diff := cmp.Diff(readContent(t, raw), readContent(t, mended)); diff != "" {
		t.Errorf("a reader sees another message (-submitted +sent):\n%s", diff)
	}
	return string(mended)
}

// content is the visible content of a message.
type content struct {
	Subject, Text, HTML string
	Files               []message.File
}

func readContent(t *testing.T, raw []byte) content {
	t.Helper()
	m, err := message.Read(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return content{Subject: m.Subject, Text: m.Text, HTML: m.HTML, Files: m.Files}
}
