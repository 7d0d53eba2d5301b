package mime_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/mime"
)

func FuzzParse(f *testing.F) {
	for _, m := range goldenMessages(f) {
		raw, err := mime.Compose(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte("Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/html; charset=utf-16\r\nContent-Transfer-Encoding: base64\r\n\r\nAAA\r\n--b\r\nbroken"))
	f.Add([]byte("From: \xff\x00<>\nTo: (((\nContent-Disposition: attachment; filename*0*=utf-8''%; filename*1=x\n\n=\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := mime.Parse(bytes.NewReader(raw), mime.Limits{Parts: 20, Depth: 5, TextBytes: 1000, DataBytes: 1000, HeaderBytes: 2000, TotalBytes: 100000})
		if err != nil {
			t.Fatal(err)
		}
		checkStrings(t, p)
		if len(p.Text) > 3100 || len(p.HTML) > 3100 { // windows-1252 grows to three octets at most
			t.Errorf("text of %d, html of %d octets", len(p.Text), len(p.HTML))
		}
	})
}

// FuzzCompose holds that what the validators let in is composed, and reads back
// as it was given.
func FuzzCompose(f *testing.F) {
	f.Add("Ann <a@b.co>", "Subject", "X-Test", "value", "text", "<p>html</p>", "file.txt", "cid")
	f.Add(`"=?utf-8?q?x?=" <"a b"@münchen.de>`, " \t 😀 \x7f", "X-N", "a  ü\t b  ", "\x00\r\r\n", "", `q"\u.ü`, "")
	f.Add(`"=?utf-8?q?x?=" <a@b.co>`, " \t 😀 w", "X-N", "a  ü\t b  ", "\x00\r\r\n", "", "=?utf-8?q?x?=.txt", "")
	f.Add(`"a<b"@b.co`, "x", "X-N", "=?utf-8?q?x?=", "", "", "", "")
	f.Add("用户@b.co", "=?=?", "References", "<a> <b>", "", "", strings.Repeat("ü", 90), "<x>")
	f.Fuzz(func(t *testing.T, from, subject, name, value, text, html, file, id string) {
		a, err := address.Parse(from)
		if err != nil || address.ValidateSubject(subject) != nil || address.ValidateHeader(name, value) != nil || mime.ValidateFileName(file) != nil {
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
		p, err := mime.Parse(bytes.NewReader(raw), mime.Limits{})
		if err != nil || len(p.Problems) > 0 {
			t.Fatalf("the composed message parses with error %v and problems %q, want none:\n%s", err, p.Problems, raw)
		}
		if p.Subject != subject {
			t.Errorf("subject %q became %q", subject, p.Subject)
		}
		if want := (mime.Mailbox{Name: a.Name, Address: a.AddrSpec()}); len(p.From) != 1 || p.From[0] != want || len(p.To) != 2 {
			t.Errorf("address %+v became %+v", want, p.From)
		}
		if got := p.Get(name); strings.Trim(got, " \t") != strings.Trim(value, " \t") {
			t.Errorf("header %q became %q", value, got)
		}
		if len(p.Parts) != 1 || p.Parts[0].Name != file || string(p.Parts[0].Data) != text {
			t.Errorf("attachment %q became %+v", file, p.Parts)
		}
	})
}
