package message_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/mail/message"
)

// crlf returns a message in wire format.
func crlf(lines ...string) string {
	return strings.ReplaceAll(strings.Join(lines, "\n"), "\n", "\r\n")
}

func read(t *testing.T, raw string) *message.Message {
	t.Helper()
	m, err := message.Read(strings.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestReadSplitsAMessage(t *testing.T) {
	t.Parallel()
	raw := crlf(
		`Received: from a by b; Sun, 22 Nov 2026 10:00:00 +0000`,
		`Received: from c`,
		` by a; Sun, 22 Nov 2026 09:59:59 +0000`,
		`From: =?utf-8?q?J=C3=BCrgen?= M <Juergen@Example.COM>`,
		`To: a@example.net, Team: "B, C" <b@example.net>, c@example.net;, d@example.net (Dee)`,
		`Cc: E <e@münchen.example>`,
		`Reply-To: <help@example.com>`,
		`Subject: =?utf-8?b?w4Q=?= =?utf-8?b?w5Y=?= and`,
		"\tmore",
		`Message-ID: <1@example.com>`,
		`In-Reply-To: <0@example.net> (yours)`,
		`References: <a@example.net><b@example.net>`,
		"\t<0@example.net>",
		`Date: Sun, 22 Nov 2026 11:00:00 +0100 (CET)`,
		`MIME-Version: 1.0`,
		`Content-Type: multipart/mixed; boundary=outer`,
		``,
		`This is for old programs.`,
		`--outer`,
		`Content-Type: multipart/alternative; boundary="in ner"`,
		``,
		`--in ner`,
		`Content-Type: text/plain; charset=iso-8859-1`,
		`Content-Transfer-Encoding: quoted-printable`,
		``,
		`Gr=FC=DFe,  `,
		`soft=`,
		`er`,
		`--in ner`,
		`Content-Type: text/html; charset=utf-8`,
		`Content-Transfer-Encoding: base64`,
		``,
		`PHA+R3LDvMOfZTwvcD4=`,
		`--in ner--`,
		`--outer`,
		`Content-Type: image/png`,
		`Content-ID: <logo>`,
		`Content-Transfer-Encoding: base64`,
		``,
		`iVBORw0KGgo=`,
		`--outer`,
		`Content-Type: application/pdf; name=other.pdf`,
		`Content-Disposition: attachment; filename*0*=utf-8''%C3%9C; filename*1="bersicht.pdf"; size=3`,
		``,
		`PDF`,
		``,
		`--outer`,
		`Content-Type: message/rfc822`,
		``,
		`Subject: inner`,
		`Content-Type: multipart/mixed; boundary=x`,
		``,
		`--x`,
		``,
		`not taken apart`,
		`--x--`,
		`--outer`,
		``,
		`a second text`,
		`--outer--`,
		`epilogue`,
		``)
	m := read(t, raw)
	reply := "0@example.net"
	want := &message.Message{
		Header:      m.Header, // below
		From:        "Jürgen M <Juergen@example.com>",
		FromAddress: "Juergen@example.com",
		To:          []string{"a@example.net", `"B, C" <b@example.net>`, "c@example.net", "Dee <d@example.net>"},
		CC:          []string{"E <e@münchen.example>"},
		ReplyTo:     []string{"help@example.com"},
		Subject:     "ÄÖ and\tmore",
		MessageID:   "1@example.com",
		InReplyTo:   &reply,
		References:  []string{"a@example.net", "b@example.net", "0@example.net"},
		Date:        time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC),
		Text:        "Grüße,\r\nsofter\na second text",
		HTML:        "<p>Grüße</p>\n<pre style=\"white-space: pre-wrap\">a second text</pre>",
		Files: []message.File{
			{ContentType: "image/png", ContentID: "logo", Inline: true, Size: 8},
			{Filename: "Übersicht.pdf", ContentType: "application/pdf", Size: 5},
			{ContentType: "message/rfc822", Size: 90},
		},
		Received: 2,
		Defects:  []string{"The text is joined from 2 parts.", "The HTML is joined from 2 parts."},
	}
	if diff := cmp.Diff(want, m, cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })); diff != "" {
		t.Error(diff)
	}
	if got := m.Get("received"); got != "from a by b; Sun, 22 Nov 2026 10:00:00 +0000" {
		t.Errorf("received %q", got)
	}
	if len(m.Header) != 13 || m.Header[1].Value != "from c by a; Sun, 22 Nov 2026 09:59:59 +0000" ||
		m.Header[3].Name != "To" {
		t.Errorf("header %q", m.Header)
	}

	for n, want := range []string{"\x89PNG\r\n\x1a\n", "PDF\r\n",
		"Subject: inner\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nnot taken apart\r\n--x--"} {
		var data bytes.Buffer
		file, err := message.ReadFile(strings.NewReader(raw), n, &data)
		if err != nil || data.String() != want || file != m.Files[n] {
			t.Errorf("file %d: %v %+v %q", n, err, file, data.String())
		}
	}
	for _, n := range []int{-1, 3} {
		if _, err := message.ReadFile(strings.NewReader(raw), n, &bytes.Buffer{}); !errors.Is(err, message.ErrNoFile) {
			t.Errorf("file %d: %v", n, err)
		}
	}
	header, err := message.Header(strings.NewReader(raw))
	if err != nil || !cmp.Equal(header, m.Header) {
		t.Errorf("Header returned error %v and %q, want the header that Read returns", err, header)
	}
}
