package mime_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/mime"
)

func mailbox(t testing.TB, s string) address.Address {
	t.Helper()
	a, err := address.Parse(s)
	if err != nil {
		t.Fatalf("address %q: %v", s, err)
	}
	return a
}

func mailboxes(t testing.TB, list ...string) []address.Address {
	t.Helper()
	var all []address.Address
	for _, s := range list {
		all = append(all, mailbox(t, s))
	}
	return all
}

func message(t testing.TB, change func(*mime.Message)) mime.Message {
	t.Helper()
	m := mime.Message{
		From: mailbox(t, "Ann Lee <ann@example.com>"), To: mailboxes(t, "bob@example.net"), Subject: "Hello",
		MessageID: "msg_01jd@example.com", Date: time.Date(2026, 11, 21, 9, 30, 0, 0, time.FixedZone("", 3600)),
		Text: "Hello Bob,\nsee you.\n",
	}
	change(&m)
	return m
}

// goldenMessages are messages as sent, each with one special feature.
func goldenMessages(t testing.TB) map[string]mime.Message {
	t.Helper()
	pixel := []byte("\x89PNG\r\n\x1a\n not really a picture")
	many := make([]string, 0, 50)
	for i := range 50 {
		many = append(many, `"Person, Number `+string(rune('A'+i%26))+`" <person.with.a.rather.long.local.part`+
			string(rune('a'+i%26))+`@mail.example.org>`)
	}
	return map[string]mime.Message{
		"text": message(t, func(*mime.Message) {}),
		"html_only": message(t, func(m *mime.Message) {
			m.Text, m.HTML = "", "<p>Hello = 1</p>"
		}),
		"alternative": message(t, func(m *mime.Message) {
			m.HTML = "<p>Grüße</p>\r\n<p>" + strings.Repeat("long line ", 300) + "</p>"
		}),
		"everything": message(t, func(m *mime.Message) {
			m.HTML = `<p>Hello <img src="cid:logo"></p>`
			m.CC = mailboxes(t, "Carl <carl@example.net>")
			m.ReplyTo = mailboxes(t, "help@example.com", `"Help, Desk" <desk@example.com>`)
			m.Headers = []mime.Header{{"X-Zebra", "1"}, {"In-Reply-To", "<a@b.co>"}, {"X-Ape", " Grüße "},
				{"List-Unsubscribe", "<https://example.com/u?a=?b?=>"}, {"x-zebra", "2"}}
			m.Attachments = []mime.Attachment{
				{Name: "report.pdf", Data: bytes.Repeat([]byte("%PDF"), 100)},
				{Name: "logo.png", ContentID: "<logo>", Data: pixel},
				{Name: "Übersicht 2026.xlsx", Data: []byte("x")},
				{Name: strings.Repeat("很长的文件名", 20) + ".txt", ContentType: `text/plain; charset="iso-8859-1"; name=other`, Data: []byte("\xfc")},
				{Name: `qu"ote\ and; semi.eml`, Data: []byte("From: x\r\n\r\nbody")},
				{Name: "empty.bin"},
			}
		}),
		"inline_without_html": message(t, func(m *mime.Message) {
			m.Attachments = []mime.Attachment{{Name: "logo.png", ContentID: "logo@example.com", Data: pixel}}
		}),
		"inline_html_only": message(t, func(m *mime.Message) {
			m.Text, m.HTML = "", `<img src="cid:logo">`
			m.Attachments = []mime.Attachment{{ContentType: "image/png", ContentID: "logo", Data: pixel}}
		}),
		"unicode": message(t, func(m *mime.Message) {
			m.From = mailbox(t, `Jörg Müller <joerg@münchen.de>`)
			m.To = mailboxes(t, `"Lee, Ann" <ann@example.net>`, "Acme Inc. <acme@example.net>", "田中太郎 <tanaka@例え.テスト>",
				`"a b"@example.net`)
			m.Subject = strings.Repeat("Grüße 😀 aus München ", 19)
			m.Text = "日本語のメールです。\nこんにちは。\n"
		}),
		"mixed_subject": message(t, func(m *mime.Message) {
			m.Subject = "Re: your order  from Café Zoë has  been =?utf-8?q?literally?= shipped with a very long tail of plain words that has to be folded somewhere"
		}),
		"long_fields": message(t, func(m *mime.Message) {
			m.To = mailboxes(t, many...)
			m.Subject = strings.Repeat("x", 998)
			m.Headers = []mime.Header{{"References",
				strings.TrimSpace(strings.Repeat("<id-of-a-message@example.com> ", 60))},
				{"X-" + strings.Repeat("N", 74), strings.Repeat("ü", 998)}, {"X-Word", strings.Repeat("w", 997)}, {"X-Empty", ""}}
		}),
		"smtputf8": message(t, func(m *mime.Message) {
			m.To = mailboxes(t, "用户 <用户@例え.テスト>")
			m.Subject = "您好"
		}),
		"hostile_body": message(t, func(m *mime.Message) {
			m.Text = "bare\rcr\nlf\r\ncrlf \t\n.\n..\nFrom here\n--=_alternative_\x00\x01\x7f\u0085\u2028 tail  "
			m.HTML = "\r\n\r\n.\r\n\r\n"
		}),
	}
}

func TestComposeGolden(t *testing.T) {
	t.Parallel()
	for name, m := range goldenMessages(t) {
		got, err := mime.Compose(m)
		if err != nil {
			t.Errorf("%s: Compose failed: %v", name, err)
			continue
		}
		expect.Golden(t, name+".eml", string(got))
	}
}

func TestComposedLinesAreShort(t *testing.T) {
	t.Parallel()
	for name, m := range goldenMessages(t) {
		raw, err := mime.Compose(m)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(string(raw), "\r\n") {
			limit := 78
			if strings.Contains(line, "wwwwww") || strings.Contains(line, "vnd.openxmlformats") ||
				strings.Contains(line, strings.Repeat("N", 74)) {
				limit = 998 // one word that cannot be broken
			}
			if len(line) > limit {
				t.Errorf("%s: line of %d bytes: %.100q", name, len(line), line)
			}
		}
	}
}

func TestComposeIsPure(t *testing.T) {
	t.Parallel()
	for name := range goldenMessages(t) {
		a, errA := mime.Compose(goldenMessages(t)[name])
		b, errB := mime.Compose(goldenMessages(t)[name])
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: composing twice gave different results (%v, %v)", name, errA, errB)
		}
	}
}

func TestOnlySMTPUTF8MessagesContainRawUTF8(t *testing.T) {
	t.Parallel()
	for name, m := range goldenMessages(t) {
		raw, err := mime.Compose(m)
		if err != nil {
			t.Fatal(err)
		}
		eightBit := bytes.ContainsFunc(raw, func(r rune) bool { return r > '~' })
		if eightBit != m.NeedsSMTPUTF8() || eightBit != (name == "smtputf8") {
			t.Errorf("%s: 8-bit %v, needs SMTPUTF8 %v", name, eightBit, m.NeedsSMTPUTF8())
		}
		if _, body, _ := bytes.Cut(raw, []byte("\r\n\r\n")); bytes.ContainsFunc(body,
			func(r rune) bool { return r > '~' }) {
			t.Errorf("%s: body is not 7-bit", name)
		}
	}
}

func TestComposeRejectsInvalidMessages(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*mime.Message){
		"no from":              func(m *mime.Message) { m.From = address.Address{} },
		"no date":              func(m *mime.Message) { m.Date = time.Time{} },
		"no message id":        func(m *mime.Message) { m.MessageID = "" },
		"message id injection": func(m *mime.Message) { m.MessageID = "a@b.co>\r\nBcc: x@y.co" },
		"subject injection":    func(m *mime.Message) { m.Subject = "x\r\nBcc: x@y.co" },
		"subject bare LF":      func(m *mime.Message) { m.Subject = "x\ny" },
		"subject not UTF-8":    func(m *mime.Message) { m.Subject = "\xff" },
		"text not UTF-8":       func(m *mime.Message) { m.Text = "\xff" },
		"html not UTF-8":       func(m *mime.Message) { m.HTML = "\xff" },
		"name injection":       func(m *mime.Message) { m.From.Name = "x\r\nBcc: y" },
		"local injection":      func(m *mime.Message) { m.To[0].Local = "x>\r\nBcc: y" },
		"domain injection":     func(m *mime.Message) { m.To[0].Domain = "x.co>\r\nBcc: y" },
		"domain in upper case": func(m *mime.Message) { m.To[0].Domain = "EXAMPLE.com" },
		"header name injection": func(m *mime.Message) {
			m.Headers = []mime.Header{{"X: y\r\nBcc", "z"}}
		},
		"header value injection": func(m *mime.Message) { m.Headers = []mime.Header{{"X-A", "y\r\n\r\nbody"}} },
		"second from":            func(m *mime.Message) { m.Headers = []mime.Header{{"FROM", "x@y.co"}} },
		"bcc":                    func(m *mime.Message) { m.Headers = []mime.Header{{"Bcc", "x@y.co"}} },
		"second content type":    func(m *mime.Message) { m.Headers = []mime.Header{{"Content-Type", "text/html"}} },
		"file name injection":    func(m *mime.Message) { m.Attachments = []mime.Attachment{{Name: "a\r\nBcc: x"}} },
		"content id injection":   func(m *mime.Message) { m.Attachments = []mime.Attachment{{ContentID: "a>\r\nBcc: x"}} },
		"content type injection": func(m *mime.Message) { m.Attachments = []mime.Attachment{{ContentType: "text/plain\r\nBcc: x"}} },
		"content type parameter injection": func(m *mime.Message) {
			m.Attachments = []mime.Attachment{{ContentType: "text/plain; a*=utf-8''%0D%0ABcc:"}}
		},
	} {
		if raw, err := mime.Compose(message(t, change)); err == nil {
			t.Errorf("%s: was composed:\n%s", name, raw)
		}
	}
}

func TestAttachmentValidators(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "logo": "logo", "<logo@b.co>": "logo@b.co"} {
		if got, err := mime.ParseContentID(in); err != nil || got != want {
			t.Errorf("ParseContentID(%q) = %q, %v", in, got, err)
		}
	}
	for _, bad := range []string{"<", "<>", "<a", "a>", "a b", "a\r\nb", "ü", strings.Repeat("x", 251)} {
		if got, err := mime.ParseContentID(bad); err == nil {
			t.Errorf("ParseContentID(%.20q) = %q", bad, got)
		}
	}
	for _, bad := range []string{"", "x", "text/", "/x", "text/plain; a", "a b/c", "text/plain\n", "text/ü"} {
		if err := mime.ValidateContentType(bad); err == nil {
			t.Errorf("ValidateContentType(%q) was accepted", bad)
		}
	}
	for _, bad := range []string{"a\nb", "\xff", strings.Repeat("x", 256)} {
		if err := mime.ValidateFileName(bad); err == nil {
			t.Errorf("ValidateFileName(%.20q) was accepted", bad)
		}
	}
	for name, want := range map[string]string{"a.PDF": "application/pdf", "a": "application/octet-stream",
		"a.jpeg": "image/jpeg"} {
		if got := mime.TypeByName(name); got != want {
			t.Errorf("TypeByName(%q) = %q", name, got)
		}
	}
	const said = "has 'ü', which is not allowed"
	if _, err := mime.ParseContentID("grün"); err == nil || err.Error() != said {
		t.Errorf("ParseContentID of a non-ASCII letter returned error %v, want %q", err, said)
	}
}

func BenchmarkCompose2K(b *testing.B) {
	m := message(b, func(m *mime.Message) {
		m.Subject = "Your order 1234 from Café Zoë"
		m.Text = strings.Repeat("Thank you for your order, it is on its way.\n", 12)
		m.HTML = "<html><body>" +
			strings.Repeat(`<p style="color: #333">Thank you for your order, it is on its way.</p>`+"\n", 20) +
			"</body></html>"
		m.Headers = []mime.Header{{"List-Unsubscribe", "<https://example.com/u/abc>"},
			{"List-Unsubscribe-Post", "List-Unsubscribe=One-Click"}}
	})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := mime.Compose(m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompose10M(b *testing.B) {
	m := message(b,
		func(m *mime.Message) { m.Attachments = []mime.Attachment{{Name: "a.bin", Data: make([]byte, 10<<20)}} })
	b.SetBytes(10 << 20)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := mime.Compose(m); err != nil {
			b.Fatal(err)
		}
	}
}

func TestFilesReadOnDemandComposeTheSameMessage(t *testing.T) {
	t.Parallel()
	file := bytes.Repeat([]byte("0123456789"), 300_000)
	held := message(t, func(m *mime.Message) {
		m.HTML = strings.Repeat("<p>Grüße = größer</p>\n", 2_000)
		m.Attachments = []mime.Attachment{{Name: "a.bin", Data: file}, {Name: "b.png", ContentID: "b", Data: file[:77]}}
	})
	want, err := mime.Compose(held)
	if err != nil {
		t.Fatal(err)
	}
	later := held
	later.Attachments = nil
	for _, a := range held.Attachments {
		data := a.Data
		a.Data, a.Size = nil, len(data)
		a.Read = func(use func([]byte)) error { use(data); return nil }
		later.Attachments = append(later.Attachments, a)
	}
	const room = 100
	got, err := mime.ComposeInto(later, room, func(size int) ([]byte, error) { return make([]byte, 0, size), nil })
	if err != nil || !bytes.Equal(got[room:], want) {
		t.Fatalf("composed differently: %v, %d bytes instead of %d", err, len(got)-room, len(want))
	}
	if cap(got) > len(got)+len(got)/10 {
		t.Errorf("a message of %d bytes used a buffer of %d: its size was estimated too low", len(got), cap(got))
	}
	gone := errors.New("gone")
	later.Attachments[1].Read = func(func([]byte)) error { return gone }
	if _, err := mime.Compose(later); !errors.Is(err, gone) {
		t.Errorf("an unreadable file: %v", err)
	}
}
