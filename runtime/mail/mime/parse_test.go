package mime_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/mime"
)

func parse(t testing.TB, raw string) mime.Parsed {
	t.Helper()
	p, err := mime.Parse(strings.NewReader(raw), mime.Limits{})
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return p
}

func asMailboxes(list []address.Address) []mime.Mailbox {
	var all []mime.Mailbox
	for _, a := range list {
		all = append(all, mime.Mailbox{Name: a.Name, Address: a.AddrSpec()})
	}
	return all
}

// TestParseReadsWhatComposeWrote holds both against each other over every golden
// message: each field, each octet of each attachment.
func TestParseReadsWhatComposeWrote(t *testing.T) {
	t.Parallel()
	for name, m := range goldenMessages(t) {
		raw, err := mime.Compose(m)
		if err != nil {
			t.Fatal(err)
		}
		p, err := mime.Parse(iotest.OneByteReader(bytes.NewReader(raw)), mime.Limits{})
		if err != nil || len(p.Problems) > 0 {
			t.Errorf("%s: the composed message parses with error %v and problems %q, want none", name, err, p.Problems)
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
		for field, pair := range map[string][2][]mime.Mailbox{"from": {asMailboxes([]address.Address{m.From}), p.From}, "to": {asMailboxes(m.To), p.To},
			"cc": {asMailboxes(m.CC), p.CC}, "reply-to": {asMailboxes(m.ReplyTo), p.ReplyTo}, "bcc": {nil, p.BCC}} {
			if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", name, field, diff)
			}
		}
		var custom []mime.Header
		for _, h := range p.Headers {
			if strings.HasPrefix(strings.ToLower(h.Name), "x-") || h.Name == "In-Reply-To" || h.Name == "References" || h.Name == "List-Unsubscribe" {
				custom = append(custom, h)
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

func sameAttachments(t *testing.T, name string, m mime.Message, p mime.Parsed) {
	t.Helper()
	want, got := map[string]string{}, map[string]string{}
	for _, a := range m.Attachments {
		inline := a.ContentID != "" && m.HTML != ""
		want[fmt.Sprint(a.Name, strings.Trim(a.ContentID, "<>"), inline, len(a.Data))] = string(a.Data)
	}
	for _, part := range p.Parts {
		got[fmt.Sprint(part.Name, part.ContentID, part.Inline, part.Size)] = string(part.Data)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: attachments (-want +got):\n%s", name, diff)
	}
}

func TestParseTakesBrokenMessages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		raw  string
		text string
		html string
	}{
		"empty":                 {"", "", ""},
		"no header":             {"just text\r\nmore\r\n", "just text\r\nmore\r\n", ""},
		"no empty line":         {"Subject: x\r\njust text\r\n", "just text\r\n", ""},
		"header only":           {"Subject: x\r\n", "", ""},
		"mbox line":             {"From ann Mon Jan 1\r\nSubject: x\r\n\r\nbody", "body", ""},
		"bare LF":               {"Subject: x\n\nbody\n", "body\n", ""},
		"unknown charset":       {"Content-Type: text/plain; charset=klingon\r\n\r\nbody", "body", ""},
		"latin1 undeclared":     {"\r\nGr\xfc\xdfe", "Grüße", ""},
		"latin1 declared":       {"Content-Type: text/plain; charset=iso-8859-1\r\n\r\nGr\xfc\xdfe", "Grüße", ""},
		"shift-jis":             {"Content-Type: text/plain; charset=Shift_JIS\r\n\r\n\x93\xfa\x96{", "日本", ""},
		"unknown encoding":      {"Content-Transfer-Encoding: uuencode\r\n\r\nbody", "body", ""},
		"NUL":                   {"\r\na\x00b", "a\ufffdb", ""},
		"broken base64":         {"Content-Transfer-Encoding: base64\r\n\r\nSGVs!!bG8\r\n gd29y  bGQ", "Hello world", ""},
		"joined base64":         {"Content-Transfer-Encoding: base64\r\n\r\nSGk=SGk=", "HiHi", ""},
		"broken quoted":         {"Content-Transfer-Encoding: quoted-printable\r\n\r\na=ZZ b=3 =C3=BC=\r\nc  \r\nd=20\r\n=", "a=ZZ b=3 üc\r\nd \r\n", ""},
		"quoted long line":      {"Content-Transfer-Encoding: quoted-printable\r\n\r\n" + strings.Repeat("x", 100000), strings.Repeat("x", 100000), ""},
		"quoted wide run":       {"Content-Transfer-Encoding: quoted-printable\r\n\r\na" + strings.Repeat(" ", 5000) + "b", "a" + strings.Repeat(" ", 5000) + "b", ""},
		"no closing boundary":   {"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nbody", "body", ""},
		"no boundary at all":    {"Content-Type: multipart/mixed; boundary=b\r\n\r\nbody\r\n", "body\r\n", ""},
		"no boundary parameter": {"Content-Type: multipart/mixed\r\n\r\n--b\r\n\r\nbody", "--b\r\n\r\nbody", ""},
		"malformed parameters":  {"Content-Type: multipart/mixed; boundary=\"b\"; charset; charset\r\n\r\n--b\r\n\r\nbody\r\n--b--", "body", ""},
		"broken part header":    {"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\none\r\n--b\r\nbroken\r\n\r\ntwo\r\n--b--", "one", ""},
		"two texts":             {"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\none\r\n--b\r\n\r\ntwo\r\n--b--", "one\ntwo", ""},
		"html part":             {"Content-Type: text/HTML\r\n\r\n<b>x</b>", "", "<b>x</b>"},
	} {
		p := parse(t, c.raw)
		if p.Text != c.text || p.HTML != c.html {
			t.Errorf("%s: text %.60q, html %.60q, problems %q", name, p.Text, p.HTML, p.Problems)
		}
	}
}

func TestParseDecodesHeaders(t *testing.T) {
	t.Parallel()
	p := parse(t, "Received: one\r\nReceived: two\r\nSubject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?=\r\n\t=?iso-8859-1?q?_J=FCrgen?=\r\n"+
		"From: =?utf-8?b?SsO2cmc=?= <j@b.co>\r\nTo: a@b.co, \"Lee, Ann\" <c@d.co>,\r\n undisclosed:;\r\nCc: not an address\r\n"+
		"Message-ID: <1@b.co>\r\nIn-Reply-To: Your mail <0@b.co> of today\r\nReferences: <x@b.co>\r\n <y@b.co>\r\nDate: Sat, 21 Nov 2026 09:30:00 +0100\r\n"+
		"X-Evil: =?utf-8?q?a=0D=0ABcc:_x=00?=\r\nX-Raw: \xfc\r\nX-Space : y\r\n\r\n")
	if p.Subject != "Grüße Jürgen" || p.MessageID != "1@b.co" || p.InReplyTo != "0@b.co" || !p.Date.Equal(time.Date(2026, 11, 21, 8, 30, 0, 0, time.UTC)) {
		t.Errorf("the message parses as %+v, want its subject, message id, answered id and date decoded", p)
	}
	if diff := cmp.Diff([]string{"x@b.co", "y@b.co"}, p.References); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]mime.Mailbox{{Name: "Jörg", Address: "j@b.co"}}, p.From); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]mime.Mailbox{{Address: "a@b.co"}, {Name: "Lee, Ann", Address: "c@d.co"}}, p.To); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]mime.Mailbox{{Name: "not an address"}}, p.CC); diff != "" {
		t.Error(diff)
	}
	if p.Headers[0].Value != "one" || p.Headers[1].Value != "two" || p.Get("received") != "one" {
		t.Errorf("order of fields: %+v", p.Headers[:2])
	}
	for name, want := range map[string]string{"X-Evil": "a  Bcc: x ", "X-Raw": "ü", "X-Space": "y"} {
		if got := p.Get(name); strings.TrimSpace(got) != strings.TrimSpace(want) && got != "a  Bcc: x\ufffd" {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
}

func TestParseKeepsItsLimits(t *testing.T) {
	t.Parallel()
	nested := func(depth int) string {
		var b strings.Builder
		for i := range depth {
			fmt.Fprintf(&b, "Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n", i, i)
		}
		return b.String() + "\r\nbody"
	}
	parts := func(n int) string {
		return "Content-Type: multipart/mixed; boundary=b\r\n\r\n" + strings.Repeat("--b\r\nContent-Type: application/x\r\n\r\nx\r\n", n) + "--b--\r\n"
	}
	p, err := mime.Parse(strings.NewReader(parts(50)), mime.Limits{Parts: 10})
	if err != nil || len(p.Parts) != 10 || len(p.Problems) != 1 {
		t.Errorf("50 parts: %d kept, %q, %v", len(p.Parts), p.Problems, err)
	}
	p, err = mime.Parse(strings.NewReader(nested(30)), mime.Limits{})
	if err != nil || len(p.Parts) != 1 || p.Parts[0].ContentType != "multipart/mixed" {
		t.Errorf("depth 30: %+v, %v", p, err)
	}
	p, err = mime.Parse(strings.NewReader("\r\n"+strings.Repeat("ü", 100)), mime.Limits{TextBytes: 11})
	if err != nil || p.Text != "üüüüü" || len(p.Problems) != 1 {
		t.Errorf("long text: %+v, %v", p, err)
	}
	p, err = mime.Parse(strings.NewReader("Content-Type: a/b\r\n\r\n0123456789"), mime.Limits{DataBytes: 4})
	if err != nil || string(p.Parts[0].Data) != "0123" || p.Parts[0].Size != 10 {
		t.Errorf("long data: %+v, %v", p, err)
	}
	p, err = mime.Parse(strings.NewReader("\r\n0123456789"), mime.Limits{TotalBytes: 6})
	if err != nil || p.Text != "0123" || len(p.Problems) != 1 {
		t.Errorf("long message: %+v, %v", p, err)
	}
	p, err = mime.Parse(strings.NewReader("\r\n0123"), mime.Limits{TotalBytes: 6})
	if err != nil || p.Text != "0123" || len(p.Problems) != 0 {
		t.Errorf("message of exactly the limit: %+v, %v", p, err)
	}
	p, err = mime.Parse(strings.NewReader("A: b\r\n"+strings.Repeat("X: y\r\n", 100)), mime.Limits{HeaderBytes: 60})
	if err != nil || len(p.Headers) > 10 || len(p.Problems) != 1 {
		t.Errorf("long header: %+v, %v", p, err)
	}
	p, err = mime.Parse(strings.NewReader("Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\none\r\n--b\r\nX: "+strings.Repeat("x", 1<<20)+"\r\n\r\ntwo\r\n--b--"), mime.Limits{})
	if err != nil || p.Text != "one" || len(p.Problems) != 1 {
		t.Errorf("long part header: %+v, %v", p, err)
	}
}

func TestParseReportsTheReadersError(t *testing.T) {
	t.Parallel()
	gone := errors.New("connection gone")
	for _, head := range []string{"", "Subject: x\r\n", "Subject: x\r\n\r\nbody", "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nbody"} {
		p, err := mime.Parse(io.MultiReader(strings.NewReader(head), iotest.ErrReader(gone)), mime.Limits{})
		if !errors.Is(err, gone) {
			t.Errorf("Parse with a reader broken after %q gives %v, want the reader's error", head, err)
		}
		if strings.HasSuffix(head, "body") && p.Text != "body" {
			t.Errorf("%q: text %q", head, p.Text)
		}
	}
}

// TestParseHostileInputIsCheap keeps the inputs that cost other parsers minutes
// and gigabytes.
func TestParseHostileInputIsCheap(t *testing.T) {
	t.Parallel()
	var numbered, nested strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&numbered, "; name*%d=x", i)
		if i < 5000 {
			fmt.Fprintf(&nested, "Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n", i, i)
		}
	}
	for name, raw := range map[string]string{
		"20,000 continuations": "Content-Type: text/plain" + numbered.String() + "\r\n\r\nx",
		"parameters":           "Content-Type: text/plain" + strings.Repeat("; a=b", 50000) + "\r\n\r\nx",
		"50,000 parts":         "Content-Type: multipart/mixed; boundary=b\r\n\r\n" + strings.Repeat("--b\r\n\r\nx\r\n", 50000),
		"5,000 levels":         nested.String(),
		"base64 junk":          "Content-Transfer-Encoding: base64\r\n\r\n" + strings.Repeat("!", 2<<20),
		"equals signs":         "Content-Transfer-Encoding: quoted-printable\r\n\r\n" + strings.Repeat("=", 1<<20),
		"spaces":               "Content-Transfer-Encoding: quoted-printable\r\n\r\n" + strings.Repeat(" ", 1<<20),
		"encoded words":        "Subject: " + strings.Repeat("=?", 100000) + "\r\n\r\n",
		"encoded words 2":      "Subject: " + strings.Repeat("=?utf-8?q?x?= ", 15000) + "\r\n\r\n",
		"addresses":            "To: " + strings.Repeat("a@b.co,", 9000) + "\r\n\r\n",
		"commas":               "To: " + strings.Repeat(",", 60000) + "\r\n\r\n",
		"parentheses":          "To: " + strings.Repeat("(", 60000) + "\r\n\r\n",
		"quotes":               "To: " + strings.Repeat("\"", 60001) + "\r\n\r\n",
		"angle brackets":       "To: " + strings.Repeat("<", 60000) + "\r\n\r\n",
		"literal":              "To: a@[" + strings.Repeat("[", 60000) + "\r\n\r\n",
		"fields":               strings.Repeat("a:\r\n", 60000) + "\r\n",
		"folds":                "A: b\r\n" + strings.Repeat(" \r\n", 80000) + "\r\n",
		"boundary":             "Content-Type: multipart/mixed; boundary=" + strings.Repeat("b", 5000) + "\r\n\r\n" + strings.Repeat("--b", 10000),
		"near boundaries":      "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n" + strings.Repeat("\r\n--", 1<<20),
	} {
		start := time.Now()
		parse(t, raw)
		// All take milliseconds; generous for the race detector on a busy machine.
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}

func checkStrings(t *testing.T, p mime.Parsed) {
	t.Helper()
	all := []string{p.Subject, p.HTML, p.Text, p.MessageID, p.InReplyTo}
	all = append(append(all, p.References...), p.Problems...)
	for _, list := range [][]mime.Mailbox{p.From, p.To, p.CC, p.BCC, p.ReplyTo} {
		for _, m := range list {
			all = append(all, m.Name, m.Address)
		}
	}
	for _, h := range p.Headers {
		all = append(all, h.Name, h.Value)
	}
	for _, part := range p.Parts {
		all = append(all, part.Name, part.ContentType, part.ContentID)
		if part.Size < int64(len(part.Data)) {
			t.Errorf("part of %d octets has %d", part.Size, len(part.Data))
		}
	}
	for _, s := range all {
		if !utf8.ValidString(s) || strings.Contains(s, "\x00") {
			t.Errorf("not fit for the database: %q", s)
		}
	}
}
