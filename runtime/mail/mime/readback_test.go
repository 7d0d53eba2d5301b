package mime_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/postrider/postrider/runtime/mail/address"
	reader "github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/mail/mime"
)

func asMailboxes(list []address.Address) []reader.Mailbox {
	var all []reader.Mailbox
	for _, a := range list {
		all = append(all, reader.Mailbox{Name: a.Name, Address: a.AddrSpec()})
	}
	return all
}

func displayNames(list []address.Address) []string {
	var all []string
	for _, a := range list {
		all = append(all, a.String())
	}
	return all
}

// TestComposedMessagesParseBack compares composing and parsing for every golden message: each field, each
// byte of each attachment.
func TestComposedMessagesParseBack(t *testing.T) {
	t.Parallel()
	for name, m := range goldenMessages(t) {
		raw, err := mime.Compose(m)
		if err != nil {
			t.Fatal(err)
		}
		p, err := reader.ReadFull(iotest.OneByteReader(bytes.NewReader(raw)), reader.Bounds{})
		if err != nil || len(p.Defects) > 0 {
			t.Errorf("%s: parsing it returned error %v and the defects %q, want neither", name, err, p.Defects)
		}
		lines := func(s string) string {
			s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\ufffd").Replace(s)
			if s != "" && !strings.HasSuffix(s, "\n") {
				s += "\n"
			}
			return strings.ReplaceAll(s, "\n", "\r\n")
		}
		if p.Text != lines(m.Text) || p.HTML != lines(m.HTML) {
			t.Errorf("%s: text %q html %q", name, p.Text, p.HTML)
		}
		if p.Subject != m.Subject || p.MessageID != m.MessageID || !p.Date.Equal(m.Date) {
			t.Errorf("%s: subject %q, id %q, date %v", name, p.Subject, p.MessageID, p.Date)
		}
		for field, pair := range map[string][2][]reader.Mailbox{"from": {asMailboxes([]address.Address{m.From}),
			p.Authors}, "to": {asMailboxes(m.To), p.Recipients}} {
			if diff := cmp.Diff(pair[0], pair[1], cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: %s was read back as (-want +got):\n%s", name, field, diff)
			}
		}
		for field, pair := range map[string][2][]string{"to": {displayNames(m.To), p.To},
			"cc":       {displayNames(m.CC), p.CC},
			"reply-to": {displayNames(m.ReplyTo), p.ReplyTo}} {
			if diff := cmp.Diff(pair[0], pair[1], cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: %s was read back for display as (-want +got):\n%s", name, field, diff)
			}
		}
		if bcc := p.Get("Bcc"); bcc != "" {
			t.Errorf("%s: the message names the Bcc recipients %q, want none", name, bcc)
		}
		var custom []mime.Header
		for _, h := range p.Header {
			if strings.HasPrefix(strings.ToLower(h.Name), "x-") || h.Name == "In-Reply-To" || h.Name == "References" ||
				h.Name == "List-Unsubscribe" {
				custom = append(custom, mime.Header(h))
			}
		}
		var want []mime.Header
		for _, h := range m.Headers {
			want = append(want, mime.Header{Name: h.Name, Value: strings.TrimSpace(h.Value)})
		}
		if diff := cmp.Diff(want, custom); diff != "" {
			t.Errorf("%s: headers (-want +got):\n%s", name, diff)
		}
		sameAttachments(t, name, m, p)
	}
}

func sameAttachments(t *testing.T, name string, m mime.Message, p *reader.FullMessage) {
	t.Helper()
	want, got := map[string]string{}, map[string]string{}
	for _, a := range m.Attachments {
		inline := a.ContentID != "" && m.HTML != ""
		file := strings.TrimSpace(a.Name[strings.LastIndexByte(a.Name, '\\')+1:]) // a folder precedes it
		want[fmt.Sprint(file, strings.Trim(a.ContentID, "<>"), inline, len(a.Data))] = string(a.Data)
	}
	for i, file := range p.Files {
		got[fmt.Sprint(file.Filename, file.ContentID, file.Inline, file.Size)] = string(p.Contents[i])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: attachments (-want +got):\n%s", name, diff)
	}
}
