package message_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/message"
)

func readWhole(t testing.TB, raw string, bounds message.Bounds) *message.FullMessage {
	t.Helper()
	p, err := message.ReadFull(strings.NewReader(raw), bounds)
	if err != nil {
		t.Fatalf("ReadFull of %.60q returned the error %v, want none", raw, err)
	}
	return p
}

func TestReadFullAcceptsBrokenMessages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		raw  string
		text string
		html string
	}{
		"empty":             {"", "", ""},
		"no header":         {"just text\r\nmore\r\n", "just text\r\nmore\r\n", ""},
		"no empty line":     {"Subject: x\r\njust text\r\n", "just text\r\n", ""},
		"header only":       {"Subject: x\r\n", "", ""},
		"mbox line":         {"From ann Mon Jan 1\r\nSubject: x\r\n\r\nbody", "body", ""},
		"bare LF":           {"Subject: x\n\nbody\n", "body\n", ""},
		"unknown charset":   {"Content-Type: text/plain; charset=klingon\r\n\r\nbody", "body", ""},
		"latin1 undeclared": {"\r\nGr\xfc\xdfe", "Grüße", ""},
		"latin1 declared":   {"Content-Type: text/plain; charset=iso-8859-1\r\n\r\nGr\xfc\xdfe", "Grüße", ""},
		"shift-jis":         {"Content-Type: text/plain; charset=Shift_JIS\r\n\r\n\x93\xfa\x96{", "日本", ""},
		"unknown encoding":  {"Content-Transfer-Encoding: uuencode\r\n\r\nbody", "body", ""},
		"NUL":               {"\r\na\x00b", "a\ufffdb", ""},
		"broken base64":     {"Content-Transfer-Encoding: base64\r\n\r\nSGVs!!bG8\r\n gd29y  bGQ", "Hello world", ""},
		"joined base64":     {"Content-Transfer-Encoding: base64\r\n\r\nSGk=SGk=", "Hi", ""},
		"broken quoted":     {"Content-Transfer-Encoding: quoted-printable\r\n\r\na=ZZ b=3 =C3=BC=\r\nc  \r\nd=20\r\n=", "a=ZZ b=3 üc\r\nd \r\n", ""},
		"quoted long line":  {"Content-Transfer-Encoding: quoted-printable\r\n\r\n" + strings.Repeat("x", 100000), strings.Repeat("x", 100000), ""},
		"quoted wide run": {"Content-Transfer-Encoding: quoted-printable\r\n\r\na" + strings.Repeat(" ", 5000) +
			"b", "a" + strings.Repeat(" ", 5000) + "b", ""},
		"no closing boundary":   {"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nbody", "body", ""},
		"no boundary at all":    {"Content-Type: multipart/mixed; boundary=b\r\n\r\nbody\r\n", "body\r\n", ""},
		"no boundary parameter": {"Content-Type: multipart/mixed\r\n\r\n--b\r\n\r\nbody", "--b\r\n\r\nbody", ""},
		"malformed parameters":  {"Content-Type: multipart/mixed; boundary=\"b\"; charset; charset\r\n\r\n--b\r\n\r\nbody\r\n--b--", "body", ""},
		"broken part header":    {"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\none\r\n--b\r\nbroken\r\n\r\ntwo\r\n--b--", "one\nbroken\r\n\r\ntwo", ""},
		"two texts":             {"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\none\r\n--b\r\n\r\ntwo\r\n--b--", "one\ntwo", ""},
		"html part":             {"Content-Type: text/HTML\r\n\r\n<b>x</b>", "", "<b>x</b>"},
	} {
		p := readWhole(t, c.raw, message.Bounds{})
		if p.Text != c.text || p.HTML != c.html {
			t.Errorf("%s: text %.60q, html %.60q, want %.60q and %.60q, defects %q", name, p.Text, p.HTML, c.text,
				c.html, p.Defects)
		}
	}
}

func TestReadFullDecodesHeaders(t *testing.T) {
	t.Parallel()
	p := readWhole(t,
		"Received: one\r\nReceived: two\r\nSubject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?=\r\n\t=?iso-8859-1?q?_J=FCrgen?=\r\n"+
			"From: =?utf-8?b?SsO2cmc=?= <j@b.co>\r\nTo: a@b.co, \"Lee, Ann\" <c@d.co>,\r\n undisclosed:;\r\nCc: not an address\r\n"+
			"Message-ID: <1@b.co>\r\nIn-Reply-To: Your mail <0@b.co> of today\r\nReferences: <x@b.co>\r\n <y@b.co>\r\nDate: Sat, 21 Nov 2026 09:30:00 +0100\r\n"+
			"X-Evil: =?utf-8?q?a=0D=0ABcc:_x=00?=\r\nX-Raw: \xfc\r\nX-Space : y\r\n\r\n", message.Bounds{})
	if p.Subject != "Grüße Jürgen" || p.MessageID != "1@b.co" || p.InReplyTo == nil || *p.InReplyTo != "0@b.co" ||
		!p.Date.Equal(time.Date(2026, 11, 21, 8, 30, 0, 0, time.UTC)) {
		t.Errorf("the message is read as %+v, want its subject, message id, in-reply-to id and date decoded", p)
	}
	if diff := cmp.Diff([]string{"x@b.co", "y@b.co"}, p.References); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]message.Mailbox{{Name: "Jörg", Address: "j@b.co"}}, p.Authors); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]message.Mailbox{{Address: "a@b.co"}, {Name: "Lee, Ann", Address: "c@d.co"}},
		p.Recipients); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"not an address"}, p.CC); diff != "" {
		t.Error(diff)
	}
	if p.Header[0].Value != "one" || p.Header[1].Value != "two" || p.Get("received") != "one" {
		t.Errorf("order of fields: %+v", p.Header[:2])
	}
	for name, want := range map[string]string{"X-Evil": "a  Bcc: x ", "X-Raw": "ü", "X-Space": "y"} {
		if got := p.Get(name); strings.TrimSpace(got) != strings.TrimSpace(want) && got != "a  Bcc: x\ufffd" {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
}

func TestReadFullKeepsItsBounds(t *testing.T) {
	t.Parallel()
	nested := func(depth int) string {
		var b strings.Builder
		for i := range depth {
			fmt.Fprintf(&b, "Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n", i, i)
		}
		return b.String() + "\r\nbody"
	}
	parts := func(n int) string {
		return "Content-Type: multipart/mixed; boundary=b\r\n\r\n" +
			strings.Repeat("--b\r\nContent-Type: application/x\r\n\r\nx\r\n", n) + "--b--\r\n"
	}
	if p := readWhole(t, parts(600), message.Bounds{}); len(p.Files) != 500 || len(p.Contents) != 500 ||
		!strings.Contains(strings.Join(p.Defects, " "), "more than 500 parts") {
		t.Errorf("of 600 parts %d are kept with %d contents, want 500, and the defects are %q", len(p.Files),
			len(p.Contents), p.Defects)
	}
	if p := readWhole(t, nested(30), message.Bounds{}); len(p.Files) != 1 ||
		p.Files[0].ContentType != "multipart/mixed" {
		t.Errorf("30 levels gave the files %+v, want one that is all below the bound", p.Files)
	}
	if p := readWhole(t, "\r\n"+strings.Repeat("ü", 100), message.Bounds{Text: 11}); p.Text != "üüüüü" ||
		!strings.Contains(strings.Join(p.Defects, " "), "longer than 11 bytes") {
		t.Errorf("a text of 200 bytes with a bound of 11 is %q with the defects %q, want five characters and a defect", p.Text, p.Defects)
	}
	if p := readWhole(t,
		"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n12345678\r\n--b\r\n\r\n12345678\r\n--b--",
		message.Bounds{Text: 11}); p.Text != "12345678\n12" {
		t.Errorf("two texts of 8 bytes with a bound of 11 are %q, want 12345678, a line end and 12", p.Text)
	}
	two := "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: a/b\r\n\r\n012\r\n--b\r\nContent-Type: a/b\r\n\r\n0123456789\r\n--b--"
	if p := readWhole(t, two, message.Bounds{Contents: 7}); len(p.Contents) != 2 || string(p.Contents[0]) != "012" ||
		string(p.Contents[1]) != "0123" || p.Files[1].Size != 10 {
		t.Errorf("files of 3 and 10 bytes with a bound of 7 are %q of sizes %+v, want 3 and 4 bytes kept, all counted",
			p.Contents, p.Files)
	}
	if p := readWhole(t, "\r\n0123456789", message.Bounds{Total: 6}); p.Text != "0123" ||
		!strings.Contains(strings.Join(p.Defects, " "), "longer than 6 bytes") {
		t.Errorf("a message of 12 bytes with a bound of 6 is %q with the defects %q, want 0123 and a defect",
			p.Text, p.Defects)
	}
	if p := readWhole(t, "\r\n0123", message.Bounds{Total: 6}); p.Text != "0123" ||
		strings.Contains(strings.Join(p.Defects, " "), "longer") {
		t.Errorf("a message of exactly the bound is %q with the defects %q, want it whole", p.Text, p.Defects)
	}
	if p := readWhole(t, "A: b\r\n"+strings.Repeat("X: y\r\n", 100_000),
		message.Bounds{}); len(p.Header) > 256<<10/len("X: y") ||
		!strings.Contains(strings.Join(p.Defects, " "), "The header is longer") {
		t.Errorf("a header of 600 KB gave %d fields with the defects %q, want those within 256 KB and a defect",
			len(p.Header), p.Defects)
	}
	long := "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\none\r\n--b\r\nContent-Type: a/b\r\nX: " +
		strings.Repeat("x", 1<<20) + "\r\n\r\ntwo\r\n--b--"
	if p := readWhole(t, long, message.Bounds{}); p.Text != "one" ||
		!strings.Contains(strings.Join(p.Defects, " "), "headers of the parts are longer") {
		t.Errorf("a part with a header of 1 MB after another returned the text %q with the defects %q, want the first part and a defect", p.Text, p.Defects)
	}
}

func TestReadFullReturnsTheReadersError(t *testing.T) {
	t.Parallel()
	gone := errors.New("connection gone")
	for _, head := range []string{"", "Subject: x\r\n", "Subject: x\r\n\r\nbody",
		"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nbody"} {
		p, err := message.ReadFull(io.MultiReader(strings.NewReader(head), iotest.ErrReader(gone)), message.Bounds{})
		if !errors.Is(err, gone) {
			t.Errorf("ReadFull with a reader that fails after %q returned %v, want the reader's error", head, err)
		}
		if strings.HasSuffix(head, "body") && p.Text != "body" {
			t.Errorf("%q: text %q", head, p.Text)
		}
	}
}

// TestReadFullOfHostileInputIsCheap reads inputs that cost other parsers minutes and gigabytes.
func TestReadFullOfHostileInputIsCheap(t *testing.T) {
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
		// All take milliseconds; generous for the race detector.
		if took := expect.MeasureCPU(t,
			func() { checkStrings(t, readWhole(t, raw, message.Bounds{})) }); took > 20*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}

// checkStrings checks properties of every message.
func checkStrings(t *testing.T, p *message.FullMessage) {
	t.Helper()
	all := []string{p.Subject, p.HTML, p.Text, p.MessageID}
	all = append(append(all, p.References...), p.Defects...)
	for _, list := range [][]message.Mailbox{p.Authors, p.Recipients} {
		for _, m := range list {
			all = append(all, m.Name, m.Address)
		}
	}
	for _, f := range p.Header {
		all = append(all, f.Name, f.Value)
	}
	if len(p.Contents) != len(p.Files) {
		t.Errorf("%d files have %d contents", len(p.Files), len(p.Contents))
	}
	for i, file := range p.Files {
		all = append(all, file.Filename, file.ContentType, file.ContentID)
		if file.Size < int64(len(p.Contents[i])) {
			t.Errorf("a file of %d bytes has a content of %d", file.Size, len(p.Contents[i]))
		}
	}
	for _, s := range all {
		if !utf8.ValidString(s) || strings.Contains(s, "\x00") {
			t.Errorf("the string %.100q is not fit for the database", s)
		}
	}
}
