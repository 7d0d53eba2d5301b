package mime_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/postrider/postrider/runtime/mail/address"
	reader "github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/mail/mime"
)

// FuzzCompose checks that every input the validators accept can be composed and is parsed back unchanged.
func FuzzCompose(f *testing.F) {
	f.Add("Ann <a@b.co>", "Subject", "X-Test", "value", "text", "<p>html</p>", "file.txt", "cid")
	f.Add(`"=?utf-8?q?x?=" <"a b"@münchen.de>`, " \t 😀 \x7f", "X-N", "a  ü\t b  ", "\x00\r\r\n", "", `q"\u.ü`, "")
	f.Add(`"=?utf-8?q?x?=" <a@b.co>`, " \t 😀 w", "X-N", "a  ü\t b  ", "\x00\r\r\n", "", "=?utf-8?q?x?=.txt", "")
	f.Add(`"a<b"@b.co`, "x", "X-N", "=?utf-8?q?x?=", "", "", "", "")
	f.Add("用户@b.co", "=?=?", "References", "<a> <b>", "", "", strings.Repeat("ü", 90), "<x>")
	f.Fuzz(func(t *testing.T, from, subject, name, value, text, html, file, id string) {
		a, err := address.Parse(from)
		if err != nil || address.ValidateSubject(subject) != nil || address.ValidateHeader(name, value) != nil ||
			mime.ValidateFileName(file) != nil {
			return
		}
		if _, err := mime.ParseContentID(id); err != nil || !utf8.ValidString(text) || !utf8.ValidString(html) {
			return
		}
		m := message(t, func(m *mime.Message) {
			m.From, m.To, m.Subject, m.Text, m.HTML = a, []address.Address{a, a}, subject, text, html
			m.Headers = []mime.Header{{Name: name, Value: value}}
			m.Attachments = []mime.Attachment{{Name: file, ContentID: id, Data: []byte(text)}}
		})
		raw, err := mime.Compose(m)
		if err != nil {
			t.Fatalf("Compose: %v", err)
		}
		p, err := reader.ReadFull(bytes.NewReader(raw), reader.Bounds{})
		if err != nil || len(p.Defects) > 0 {
			t.Fatalf("parsing the composed message returned error %v and defects %q, want none:\n%s", err,
				p.Defects, raw)
		}
		if p.Subject != oneLine(subject) {
			t.Errorf("subject %q became %q", subject, p.Subject)
		}
		if want := (reader.Mailbox{Name: oneLine(a.Name), Address: a.AddrSpec()}); len(p.Authors) != 1 ||
			p.Authors[0] != want || len(p.Recipients) != 2 {
			t.Errorf("address %+v became %+v", want, p.Authors)
		}
		if got := p.Get(name); strings.Trim(got, " \t") != strings.Trim(oneLine(value), " \t") {
			t.Errorf("header %q became %q", value, got)
		}
		if len(p.Files) != 1 || p.Files[0].Filename != strings.TrimSpace(oneLine(file)) ||
			string(p.Contents[0]) != text {
			t.Errorf("attachment %q became %+v", file, p.Files)
		}
	})
}

// oneLine applies the reader's treatment of Unicode line separators. It also trims the white space at the
// ends of file names.
func oneLine(s string) string { return strings.NewReplacer("\u2028", " ", "\u2029", " ").Replace(s) }
