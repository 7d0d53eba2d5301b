package mime_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/mail/address"
	reader "github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/mail/mime"
)

const invite = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nSUMMARY:Gr\u00fc\u00dfe\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"

func TestInvitationsAreAlternatives(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file        mime.Attachment
		alternative string // Content-Type of the alternative; empty if none is expected
		attached    string // Content-Type of the file
	}{
		"method in the file": {mime.Attachment{Name: "invite.ics", Data: []byte(invite)},
			"text/calendar; charset=utf-8; method=REQUEST",
			`text/calendar; charset=utf-8; method=REQUEST; name=invite.ics`},
		"method in the type": {mime.Attachment{Name: "invite.ics", ContentType: "text/calendar; method=CANCEL",
			Data: []byte(strings.Replace(invite, "METHOD:REQUEST\r\n", "", 1))},
			"text/calendar; charset=utf-8; method=CANCEL",
			`text/calendar; method=CANCEL; charset=utf-8; name=invite.ics`},
		"read later": {mime.Attachment{Name: "invite.ics", Size: len(invite), Read: func(use func([]byte)) error { use([]byte(invite)); return nil }},
			"text/calendar; charset=utf-8; method=REQUEST",
			`text/calendar; charset=utf-8; method=REQUEST; name=invite.ics`},
		"folded method": {mime.Attachment{Name: "a.ics", Data: []byte("BEGIN:VCALENDAR\r\nMETHOD:REQ\r\n UEST\r\nEND:VCALENDAR\r\n")},
			"text/calendar; charset=utf-8; method=REQUEST", "text/calendar; charset=utf-8; method=REQUEST; name=a.ics"},
		"method with parameters": {mime.Attachment{Name: "a.ics", Data: []byte("METHOD;X-A=b:CANCEL\n")},
			"text/calendar; charset=utf-8; method=CANCEL", "text/calendar; charset=utf-8; method=CANCEL; name=a.ics"},
		"no method": {mime.Attachment{Name: "a.ics", Data: []byte("BEGIN:VCALENDAR\r\nX-METHOD:REQUEST\r\nEND:VCALENDAR\r\n")},
			"", "text/calendar; charset=utf-8; name=a.ics"},
		"not UTF-8": {mime.Attachment{Name: "a.ics", Data: []byte("METHOD:REQUEST\r\n\xff")}, "",
			"text/calendar; method=REQUEST; name=a.ics"},
		"Latin-1": {mime.Attachment{Name: "a.ics", ContentType: "text/calendar; charset=iso-8859-1",
			Data: []byte("METHOD:CANCEL\nSUMMARY:Gr\xfc\xdfe\n")}, "",
			"text/calendar; charset=iso-8859-1; method=CANCEL; name=a.ics"},
		"a file of a calendar program": {mime.Attachment{Name: "invite.ics", ContentType: "application/ics", Data: []byte(invite)},
			"text/calendar; charset=utf-8; method=REQUEST", "application/ics; name=invite.ics"},
		"method in lower case": {mime.Attachment{Name: "a.ics", ContentType: "Text/Calendar; Method=reply", Data: []byte(invite)},
			"text/calendar; charset=utf-8; method=REPLY", "text/calendar; method=reply; charset=utf-8; name=a.ics"},
		"byte order mark": {mime.Attachment{Name: "a.ics", Data: []byte("\uFEFF" + invite)},
			"text/calendar; charset=utf-8; method=REQUEST", "text/calendar; charset=utf-8; method=REQUEST; name=a.ics"},
		"large": {mime.Attachment{Name: "a.ics", Data: []byte(invite + strings.Repeat("x", 300<<10))}, "", "text/calendar; name=a.ics"},
		"other": {mime.Attachment{Name: "a.txt", Data: []byte("METHOD:REQUEST")}, "", "text/plain; name=a.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, err := address.Parse("ada@example.com")
			if err != nil {
				t.Fatal(err)
			}
			raw, err := mime.Compose(mime.Message{From: from, To: []address.Address{from}, Subject: "S",
				HTML: "<p>Hi</p>", Text: "Hi",
				MessageID: "1@example.com", Date: time.Unix(0, 0), Attachments: []mime.Attachment{c.file}})
			if err != nil {
				t.Fatal(err)
			}
			root, complete := reader.Structure(raw)
			if !complete || len(root.Parts) != 2 {
				t.Fatalf("the message has the parts %+v, want the alternatives and the file", root.Parts)
			}
			var types []string
			for _, part := range root.Parts[0].Parts {
				types = append(types, contentType(raw, part))
			}
			want := []string{"text/plain; charset=utf-8", "text/html; charset=utf-8"}
			if c.alternative != "" {
				want = append(want, c.alternative)
			}
			if !slices.Equal(types, want) {
				t.Errorf("the alternatives are %q, want %q", types, want)
			}
			if got := contentType(raw, root.Parts[1]); got != c.attached {
				t.Errorf("the file is %q, want %q", got, c.attached)
			}
		})
	}
}

// contentType returns the unfolded Content-Type of a part.
func contentType(raw []byte, part *reader.Part) string {
	head, _, _ := bytes.Cut(raw[part.Header:part.End], []byte("\r\n\r\n"))
	unfolded := strings.ReplaceAll(string(head), "\r\n ", " ")
	for line := range strings.SplitSeq(unfolded, "\r\n") {
		if value, found := strings.CutPrefix(line, "Content-Type: "); found {
			return value
		}
	}
	return ""
}
