package message_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/postrider/postrider/runtime/mail/message"
)

func TestHeaderTextIsDecodedInAnyForm(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"plain":                                     "plain",
		"=?utf-8?q?a_b=C3=BC?=":                     "a bü",
		"=?UTF-8*en?B?w7w=?= =?utf-8?B?w7w=?=":      "üü",
		"=?utf-8?b?w7?= =?utf-8?b?w?=":              "Ã",   // a broken group each
		"=?utf-8?q?=C3?=\r\n =?utf-8?q?=BC?=":       "ü",   // cut in a character
		"x=?utf-8?q?=C3=BC?=y":                      "xüy", // no white space around
		`"=?utf-8?q?=C3=BC?="`:                      `"ü"`, // inside quotes
		"=?utf-8?q?with space?=":                    "with space",
		"=?utf-8?q?what??=":                         "what?",
		"=?utf-8?b?w7w?=":                           "ü", // no padding
		"=?iso-8859-1?q?=FC?= =?utf-8?q?=C3=BC?= c": "üü c",
		"=?gb2312?b?xOO6ww==?=":                     "你好",
		"=?iso-2022-jp?b?GyRCJCIbKEI=?=":            "あ",
		"=?koi8-r?q?=D2?=":                          "р",
		"=?cp437?q?=81?=":                           "ü",
		"=?x-none?q?=FC?=":                          "ü", // unknown: the likely meaning of the bytes
		"=?utf-8?x?a?=":                             "=?utf-8?x?a?=",
		"=?utf-8?q?unclosed":                        "=?utf-8?q?unclosed",
		"raw \xc3\xbc":                              "raw ü",
		"raw \xfc":                                  "raw ü",
		"=?utf-8?q?two=0Alines=00=07?=":             "two lines\ufffd ",
		"a\r\n\tb":                                  "a\tb",
	} {
		if got := read(t, "Subject: "+value+"\r\n\r\n").Subject; got != strings.TrimSpace(want) && got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

func TestFileNamesAreReadAsProgramsWriteThem(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		`Content-Disposition: attachment; filename=a.txt`:                                            "a.txt",
		`Content-Disposition: attachment; filename="a \"b\" (c); d=e.txt"`:                           `a "b" (c); d=e.txt`,
		`Content-Disposition: attachment; filename="C:\dir\a.txt"`:                                   "a.txt",
		`Content-Disposition: attachment; filename="../../etc/passwd"`:                               "passwd",
		`Content-Disposition: attachment; filename*=utf-8''..%2F..%5Cx.pdf`:                          "x.pdf",
		`Content-Disposition: attachment; filename=a b (1).txt; size=3`:                              "a b (1).txt",
		`Content-Disposition: attachment; filename*=utf-8''%C3%BC.txt`:                               "ü.txt",
		`Content-Disposition: attachment; filename="u.txt"; filename*=iso-8859-1'de'%FC.txt`:         "ü.txt",
		`Content-Disposition: attachment; filename*1=b; filename*0=a; filename*2*=%2E; filename*4=x`: "ab.",
		`Content-Disposition: attachment; filename*1=a; filename*2=b`:                                "ab",
		`Content-Disposition: attachment; filename*=%FC.txt`:                                         "ü.txt",
		`Content-Disposition: attachment; filename="=?utf-8?b?w7w=?= =?utf-8?q?.txt?="`:              "ü.txt",
		`Content-Disposition: attachment; filename==?utf-8?b?w7w=?=`:                                 "ü",
		"Content-Disposition: attachment; filename=\"\xc3\xbc.txt\"":                                 "ü.txt",
		"Content-Disposition: attachment; filename=\"\xfc.txt\"":                                     "ü.txt",
		`Content-Disposition: attachment; filename="unclosed.txt`:                                    "unclosed.txt",
		`Content-Disposition: attachment; filename="a"; filename="b"`:                                "a",
		`Content-Disposition: attachment (filename=no); FileName = "a"`:                              "a",
		`Content-Disposition: attachment; filename=""; x` + "\r\nContent-Type: image/png; name=b":    "b",
		`Content-Type: application/pdf; name="a.pdf"`:                                                "a.pdf",
		`Content-Type: application/pdf;;; =; name ="a.pdf" (note)`:                                   "a.pdf",
		"Content-Disposition: attachment; filename=\"a\r\n b.txt\"":                                  "a b.txt",
		`Content-Disposition: attachment; filename="` + strings.Repeat("ü", 600) +
			`"`: strings.Repeat("ü", 512),
	} {
		m := read(t, field+"\r\n\r\ncontent")
		if len(m.Files) != 1 || m.Files[0].Filename != want || m.Files[0].Size != 7 {
			t.Errorf("%s: %+v, want %q", field, m.Files, want)
		}
	}
}

func TestAddressesAreReadAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for value, want := range map[string][2]string{ // From and FromAddress
		"a@Example.COM":                        {"a@example.com", "a@example.com"},
		"A B <a@b.co>":                         {"A B <a@b.co>", "a@b.co"},
		`"B, A" <a@b.co>`:                      {`"B, A" <a@b.co>`, "a@b.co"},
		"a@b.co (A (the) B)":                   {"A the B <a@b.co>", "a@b.co"},
		"=?utf-8?q?=C3=9C?= <a@b.co>":          {"Ü <a@b.co>", "a@b.co"},
		`"=?utf-8?q?=C3=9C=2C?= x" <a@b.co>`:   {`"Ü, x" <a@b.co>`, "a@b.co"},
		"<@x,@y:a@b.co>":                       {"a@b.co", "a@b.co"},
		"Team: a@b.co, c@d.co;":                {"a@b.co", "a@b.co"},
		`"a b"@b.co`:                           {`"a b"@b.co`, `"a b"@b.co`},
		"A <a@bücher.example>":                 {"A <a@bücher.example>", "a@xn--bcher-kva.example"},
		"root@localhost":                       {"root@localhost", "root@localhost"},
		"R <root@localhost>":                   {`"R" <root@localhost>`, "root@localhost"},
		"x@[192.0.2.1]":                        {"x@[192.0.2.1]", "x@[192.0.2.1]"},
		"A <a@b.co":                            {"A <a@b.co>", "a@b.co"},
		`"unclosed <a@b.co>`:                   {"unclosed <a@b.co>", "a@b.co"},
		"ceo@bank.example <a@b.co>":            {`"ceo@bank.example" <a@b.co>`, "a@b.co"},
		"\u202eevil <a@b.co>":                  {"evil <a@b.co>", "a@b.co"},
		"MAILER-DAEMON":                        {"MAILER-DAEMON", ""},
		"no at <nobody>":                       {"no at <nobody>", ""},
		"<>":                                   {"<>", ""},
		"undisclosed:;":                        {"undisclosed:;", ""},
		"A <a b@c.co>":                         {"A <a b@c.co>", ""},
		"=?utf-8?q?A_=3Ca=40bank.example=3E?=": {"A <a@bank.example>", ""}, // the text that looks like an address is a name
	} {
		m := read(t, "From: "+value+"\r\n\r\n")
		if got := [2]string{m.From, m.FromAddress}; got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}

func TestEveryAuthorIsFound(t *testing.T) {
	t.Parallel()
	got, err := message.Authors(strings.NewReader("From: a@b.co, X <c@d.co>\r\nfrom: e@F.co\r\nFROM: nobody\r\nFrom: \r\n\r\nFrom: body@b.co"))
	if want := []string{"a@b.co", "c@d.co", "e@f.co", "", ""}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Authors returned %q, %v, want %q", got, err, want)
	}
}

func TestAutomaticMessagesAreRecognized(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		"Auto-Submitted: auto-replied":                       true,
		"Auto-Submitted: auto-generated; x=y":                true,
		"Auto-Submitted: No (a person)":                      false,
		"Precedence: bulk":                                   true,
		"Precedence: AUTO_REPLY":                             true,
		"Precedence: list":                                   false,
		"List-Id: <a.b>":                                     false,
		"Content-Type: multipart/report; boundary=x":         true,
		"Subject: Auto-Submitted: auto-replied":              false,
		"Auto-Submitted: no\r\nAuto-Submitted: auto-replied": true,
	} {
		if got := read(t, header+"\r\n\r\n").AutoSubmitted; got != want {
			t.Errorf("a message with %s is read as sent by a machine: %t, want %t", header, got, want)
		}
	}
}

// TestBrokenStructureKeepsTheReadableParts lists messages with their text, html, names or types of files, and the
// text of a defect.
func TestBrokenStructureKeepsTheReadableParts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		raw, text, html string
		files           []string
		defect          string
	}{
		"nothing":                       {"", "", "", nil, "no From"},
		"text without a header":         {"just words\nand more", "just words\nand more", "", nil, "empty line"},
		"header only":                   {"Subject: x", "", "", nil, ""},
		"a stray line ends the header":  {"From: a@b.co\r\nnonsense\r\nSubject: x\r\n\r\ny", "nonsense\r\nSubject: x\r\n\r\ny", "", nil, "empty line"},
		"an mbox line":                  {"From x Sun Nov 22 10:00:00 2026\nFrom: a@b.co\n\ny", "y", "", nil, ""},
		"no boundary":                   {"Content-Type: multipart/mixed\n\ny", "y", "", nil, "no boundary"},
		"no part":                       {"Content-Type: multipart/mixed; boundary=b\n\ny", "y", "", nil, "no parts"},
		"no part inside a part":         {"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: multipart/related; boundary=c\n\ny\n--b--", "y", "", nil, "no parts"},
		"no last boundary":              {"Content-Type: multipart/mixed; boundary=b\n\n--b\n\ny\n", "y\n", "", nil, "without its last"},
		"an inner one not closed":       {"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: multipart/alternative; boundary=c\n\n--c\n\ny\n--b\nContent-Type: image/png\n\nz\n--b--", "y", "", []string{"image/png"}, "boundary of another"},
		"a header cut by a boundary":    {"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: image/png\n--b\n\ny\n--b--", "y", "", []string{"image/png"}, ""},
		"spaces after the boundary":     {"Content-Type: multipart/mixed; boundary=\"b \"\n\n--b \t\n\ny\n--b-- \nepilogue", "y", "", nil, ""},
		"a boundary that is longer":     {"Content-Type: multipart/mixed; boundary=b\n\n--b\n\ny\n--bb\nz\n--b--", "y\n--bb\nz", "", nil, ""},
		"no type":                       {"Content-Type: nonsense\n\ny", "y", "", nil, ""},
		"an invalid type":               {"Content-Type: a/b/c d\n\ny", "", "", []string{"application/octet-stream"}, ""},
		"unknown charset":               {"Content-Type: text/plain; charset=x-none\n\n\xfc", "ü", "", nil, `unknown charset "x-none"`},
		"a charset in too many quotes":  {"Content-Type: text/plain; charset=\"'iso-8859-1'\"\n\n\xfc", "ü", "", nil, ""},
		"a charset that is not so":      {"Content-Type: text/plain; charset=utf-8\n\n\xfc", "ü", "", nil, "not in the charset"},
		"some bytes in another charset": {"Content-Type: text/plain; charset=utf-8\n\nü\xfc", "ü\ufffd", "", nil, "not in the charset"},
		"html says its charset itself":  {"Content-Type: text/html\n\n<meta charset=koi8-r>\xd2", "", "<meta charset=koi8-r>р", nil, ""},
		"unknown encoding":              {"Content-Transfer-Encoding: x-uuencode\n\nbegin", "begin", "", nil, `"x-uuencode"`},
		"an encoding with a comment":    {"Content-Transfer-Encoding: Base64 (really)\n\neQ==", "y", "", nil, ""},
		"base64 with other characters":  {"Content-Transfer-Encoding: base64\n\neX!\nl5 e\nQ==", "yyyy", "", nil, ""},
		"base64 with a footer": {"Content-Transfer-Encoding: base64\n\neXl5eQ==\n____\nList footer", "yyyy",
			"", nil, "A part goes on after the end of its base64"},
		"invalid quoted-printable": {"Content-Transfer-Encoding: quoted-printable\n\n=C3=bc=3=\n =Gx = \n== =", "ü=3 =Gx == ", "", nil, ""},
		"NUL":                      {"\n\x00", "\ufffd", "", nil, ""},
		"a text with a name":       {"Content-Type: text/plain; name=a.txt\n\ny", "y", "", nil, ""},
		"a digest": {"Content-Type: multipart/digest; boundary=b\n\n--b\n\nSubject: x\n\ny\n--b--",
			"", "", []string{"message/rfc822"}, ""},
		"TNEF":                 {"Content-Type: application/ms-tnef; name=winmail.dat\n\ny", "", "", []string{"winmail.dat"}, ""},
		"two fields of a kind": {"Content-Type: text/html\nContent-Type: image/png\n\ny", "", "y", nil, ""},
	} {
		m := read(t, c.raw)
		var files []string
		for _, f := range m.Files {
			if f.Filename != "" {
				files = append(files, f.Filename)
			} else {
				files = append(files, f.ContentType)
			}
		}
		if m.Text != c.text || m.HTML != c.html || !slices.Equal(files, c.files) ||
			!strings.Contains(strings.Join(m.Defects, "\n"), c.defect) {
			t.Errorf("%s: text %q, html %q, files %q, defects %q", name, m.Text, m.HTML, files, m.Defects)
		}
		checkMessage(t, name, []byte(c.raw), m)
	}
}

func TestReaderErrorIsTheOnlyError(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	raw := "Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nfirst\r\n--b\r\nContent-Type: image/png\r\n\r\nhalf"
	failing := func() io.Reader { return io.MultiReader(strings.NewReader(raw), iotest.ErrReader(broken)) }
	m, err := message.Read(failing())
	if !errors.Is(err, broken) || m == nil || m.Subject != "x" || m.Text != "first" {
		t.Errorf("Read with a broken reader returned %v and %+v, want the reader's error and the parts read before",
			err, m)
	}
	if _, err := message.ReadFile(failing(), 0, io.Discard); !errors.Is(err, broken) {
		t.Errorf("read file: %v", err)
	}
	if _, err := message.Header(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("header: %v", err)
	}
	if header, err := message.Header(failing()); err != nil || len(header) != 2 {
		t.Errorf("header of two fields: %q %v", header, err)
	}
	r, w := io.Pipe()
	r.CloseWithError(broken)
	if _, err := message.ReadFile(strings.NewReader(raw), 0, w); !errors.Is(err, broken) {
		t.Errorf("write file: %v", err)
	}
}

// TestPiecesOfAnySize checks that the result does not depend on the sizes of reads.
func TestPiecesOfAnySize(t *testing.T) {
	t.Parallel()
	for name, raw := range publicMessages(t) {
		want := read(t, string(raw))
		got, err := message.Read(iotest.OneByteReader(strings.NewReader(string(raw))))
		if err != nil || got.Text != want.Text || got.HTML != want.HTML || !slices.Equal(got.Files, want.Files) ||
			!slices.Equal(got.Header, want.Header) {
			t.Errorf("%s: %v, reads differently byte by byte", name, err)
		}
	}
	// A line end at the end of a piece, followed by a boundary.
	for size := 32<<10 - 3; size < 32<<10+3; size++ {
		line := strings.Repeat("x", size)
		m := read(t, "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n"+line+
			"\r\n--b\r\nContent-Type: image/png\r\n\r\n"+line+"\r\n\r\n--b--")
		if m.Text != line || len(m.Files) != 1 || m.Files[0].Size != int64(size)+2 {
			t.Errorf("a line of %d bytes: text of %d, %+v", size, len(m.Text), m.Files)
		}
	}
}
