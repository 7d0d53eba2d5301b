package verbatim_test

import (
	"bytes"
	"errors"
	"io"
	"mime/quotedprintable"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/verbatim"
)

func crlf(s string) []byte { return []byte(strings.ReplaceAll(s, "\n", "\r\n")) }

const letter = `From: Ada <ada@dev.test>
Subject: folded
	subject
X-Odd:no space
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="outer"

preamble
--outer
Content-Type: multipart/alternative; boundary=inner

--inner
Content-Type: text/plain; charset=iso-8859-1; format=flowed
Content-Transfer-Encoding: quoted-printable

caf=E9 {{x}}=20
--inner
Content-Type: text/html
Content-Transfer-Encoding: base64

PHA+e3t4fX08L3A+DQo=
--inner--
--outer
Content-Type: text/plain; name="a.txt"
Content-Disposition: attachment

{{x}} in a file

--outer--
epilogue
`

func TestSplitAndJoinPreserveEveryByte(t *testing.T) {
	t.Parallel()
	fields, body, err := verbatim.Split(crlf(letter))
	if err != nil || len(fields) != 5 || verbatim.Get(fields, "subject") != "folded\tsubject" ||
		verbatim.Get(fields, "x-odd") != "no space" {
		t.Fatalf("Split returned %q, %v, want 5 fields with their values", fields, err)
	}
	if got := verbatim.Join(fields, body); !bytes.Equal(got, crlf(letter)) {
		t.Errorf("Join of the parts of Split is %q, want the identical message", got)
	}
	m, err := verbatim.Read(crlf(letter))
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Write(m.Fields, nil)
	if err != nil || !bytes.Equal(got, crlf(letter)) {
		t.Errorf("without a change: %q, %v", got, err)
	}
}

func TestSplitRejectsAmbiguousMessages(t *testing.T) {
	t.Parallel()
	for name, message := range map[string]string{
		"no field":               "From: a\r\nno field here\r\n\r\n",
		"space and colon":        "From : a\r\n\r\n",
		"begins folded":          " From: a\r\n\r\n",
		"mbox":                   "From ada@dev.test\r\nFrom: a\r\n\r\n",
		"bare LF":                "From: a\nBcc: b\r\n\r\n",
		"bare CR":                "From: a\rBcc: b\r\n\r\n",
		"NUL":                    "From: a\x00\r\n\r\n",
		"8-bit name":             "Fr\xc3\xb6m: a\r\n\r\n",
		"long line":              "From: a\r\n\r\n" + strings.Repeat("x", 999) + "\r\n",
		"unterminated last line": "From: a\r\n\r\nx",
		"too many fields":        strings.Repeat("X: y\r\n", 2000) + "\r\n",
		"too long":               strings.Repeat("X: "+strings.Repeat("y", 900)+"\r\n", 400) + "\r\n",
	} {
		if fields, _, err := verbatim.Split([]byte(message)); err == nil {
			t.Errorf("%s: Split returned %q, want an error", name, fields)
		}
	}
	fields, body, err := verbatim.Split([]byte("From: a\r\n \t\r\n b\r\nX: y\r\n"))
	if err != nil || verbatim.Get(fields, "From") != "a b" || len(body) != 0 || len(fields) != 2 {
		t.Errorf("a fold without text, and no body: %q, %v", fields, err)
	}
	if _, _, err := verbatim.Split([]byte("From: a\r\n\r\n" + strings.Repeat("x", 998) + "\r\n")); err != nil {
		t.Errorf("a line of 998 bytes: %v", err)
	}
}

func TestWriteChangesOnlyTheTexts(t *testing.T) {
	t.Parallel()
	m, err := verbatim.Read(crlf(letter))
	if err != nil || len(m.Texts) != 2 || m.Texts[0].HTML || m.Texts[0].Content != "café {{x}} " || !m.Texts[1].HTML ||
		m.Texts[1].Content != "<p>{{x}}</p>\r\n" {
		t.Fatalf("Read returned %v and %+v, want a plain text and an HTML text", err, m)
	}
	got, err := m.Write(m.Fields,
		map[*verbatim.TextBody]string{m.Texts[0]: "naïve café: 1 = 1 \r\nsecond line, long enough to be broken in two softly because it has more than 76 octets"})
	if err != nil {
		t.Fatal(err)
	}
	again, err := verbatim.Read(got)
	if err != nil || len(again.Texts) != 2 ||
		!strings.HasPrefix(again.Texts[0].Content, "naïve café: 1 = 1 \r\nsecond line, long") ||
		again.Texts[1].Content != m.Texts[1].Content {
		t.Fatalf("the message with a changed text reads with error %v, want the new text and the other one as it was:\n%s", err, got)
	}
	if !strings.Contains(string(got), "format=flowed") || !strings.Contains(string(got), "charset=utf-8") {
		t.Errorf("its content type:\n%s", got)
	}
	before, after, _ := strings.Cut(string(crlf(letter)), "Content-Type: text/plain; charset=iso-8859-1")
	_, after, _ = strings.Cut(after, "=20\r\n")
	if !strings.HasPrefix(string(got), before) || !strings.HasSuffix(string(got), after) {
		t.Errorf("the surrounding text has changed:\n%s", got)
	}
}

func TestWriteChangesAMessageOfOneText(t *testing.T) {
	t.Parallel()
	m, err := verbatim.Read(crlf("From: a@dev.test\nSubject: s\n\nold\n"))
	if err != nil || len(m.Texts) != 1 {
		t.Fatal(m, err)
	}
	got, err := m.Write(m.Fields, map[*verbatim.TextBody]string{m.Texts[0]: "日本語だけのテキスト"})
	if err != nil {
		t.Fatal(err)
	}
	want := "From: a@dev.test\r\nSubject: s\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n"
	again, err := verbatim.Read(got)
	if err != nil || !strings.HasPrefix(string(got), want) || again.Texts[0].Content != "日本語だけのテキスト" ||
		!bytes.HasSuffix(got, []byte("\r\n")) {
		t.Errorf("the message with its only text changed reads with error %v, want the text in base64 with its header fields:\n%s", err, got)
	}
}

// A changed byte would break the signature; an encrypted part cannot be edited.
func TestSignedAndUnreadableTextsAreSkipped(t *testing.T) {
	t.Parallel()
	for name, message := range map[string]string{
		"signed":  "Content-Type: multipart/signed; boundary=b\n\n--b\nContent-Type: text/plain\n\nx\n--b\nContent-Type: application/pgp-signature\n\ny\n--b--\n",
		"charset": "Content-Type: text/plain; charset=klingon\n\nx\n", "broken base64": "Content-Type: text/html\nContent-Transfer-Encoding: base64\n\n%%%\n",
		"not UTF-8": "Content-Type: text/html; charset=utf-8\n\n\xff\n", "a file": "Content-Type: text/html\nContent-Disposition: attachment\n\nx\n",
		"enclosed": "Content-Type: message/rfc822\n\nContent-Type: text/plain\n\nx\n", "encoding": "Content-Transfer-Encoding: uuencode\n\nx\n",
	} {
		if m, err := verbatim.Read(crlf("From: a\n" + message)); err != nil || len(m.Texts) != 0 {
			t.Errorf("%s: Read returned %+v, %v, want no texts", name, m, err)
		}
	}
}

func TestSevenBitEncodes8BitBodies(t *testing.T) {
	t.Parallel()
	message := crlf("From: a\nContent-Type: multipart/mixed; boundary=b\nContent-Transfer-Encoding: 8bit\n\n--b\nContent-Type: text/plain; charset=iso-8859-1\n\nthe little caf\xe9 on the corner\n" +
		"--b\nContent-Type: application/octet-stream\nContent-Transfer-Encoding: 8bit\n\n\xff\xfe\n--b\nContent-Type: text/plain\nContent-Transfer-Encoding: 8bit\n\nplain\n--b--\n")
	got, err := verbatim.SevenBit(message)
	if err != nil {
		t.Fatal(err)
	}
	want := string(crlf("From: a\nContent-Type: multipart/mixed; boundary=b\nContent-Transfer-Encoding: 7bit\n\n--b\nContent-Type: text/plain; charset=iso-8859-1\n" +
		"Content-Transfer-Encoding: quoted-printable\n\nthe little caf=E9 on the corner\n--b\nContent-Type: application/octet-stream\nContent-Transfer-Encoding: base64\n\n//4=\n" +
		"--b\nContent-Type: text/plain\nContent-Transfer-Encoding: 7bit\n\nplain\n--b--\n"))
	if string(got) != want {
		t.Errorf("SevenBit returned\n%s\nwant\n%s", got, want)
	}
	if got, err := verbatim.SevenBit(crlf(letter)); err != nil || !bytes.Equal(got, crlf(letter)) {
		t.Errorf("a 7-bit message was changed: %v", err)
	}
	for name, message := range map[string]string{
		"signed":       "Content-Type: multipart/signed; boundary=b\n\n--b\nContent-Type: text/plain\n\ncaf\xe9\n--b--\n",
		"enclosed":     "Content-Type: message/rfc822\n\nFrom: b\n\ncaf\xe9\n",
		"part header":  "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain; name=caf\xe9\n\nx\n--b--\n",
		"preamble":     "Content-Type: multipart/mixed; boundary=b\n\ncaf\xe9\n--b\n\nx\n--b--\n",
		"encoded once": "Content-Transfer-Encoding: base64\n\ncaf\xe9\n",
	} {
		if got, err := verbatim.SevenBit(crlf("From: a\n" + message)); !errors.Is(err, verbatim.ErrNotSevenBit) {
			t.Errorf("%s: SevenBit returned %v, want ErrNotSevenBit:\n%s", name, err, got)
		}
	}
}

// Any input is returned unchanged without a panic, and a changed text reads as its new content.
func FuzzRead(f *testing.F) {
	f.Add(crlf(letter))
	f.Add(crlf("Content-Type: multipart/mixed; boundary=b\n\n--b\n--b--"))
	f.Add(crlf("Content-Type: multipart/mixed; boundary=b\n\n--b\n\n--b\nX: y\n\nz"))
	f.Fuzz(func(t *testing.T, message []byte) {
		fields, body, err := verbatim.Split(message)
		if err != nil {
			return
		}
		whole := verbatim.Join(fields, body)
		m, err := verbatim.Read(whole)
		if err != nil {
			t.Fatalf("Split accepts the message, but Read does not: %v", err)
		}
		if same, err := m.Write(m.Fields, nil); err != nil || !bytes.Equal(same, whole) {
			t.Fatalf("Write without changes returned error %v, want the same bytes:\n%q\n%q", err, whole, same)
		}
		for i, text := range m.Texts {
			changed, err := m.Write(m.Fields, map[*verbatim.TextBody]string{text: "new content\r\n"})
			if err != nil {
				continue // a content type that cannot be written
			}
			again, err := verbatim.Read(changed)
			if err != nil || len(again.Texts) <= i ||
				strings.TrimRight(again.Texts[i].Content, "\r\n") != "new content" {
				t.Fatalf("text %d: %v\n%q\n%q", i, err, whole, changed)
			}
		}
		if seven, err := verbatim.SevenBit(whole); err == nil {
			if _, body, err := verbatim.Split(seven); err != nil ||
				bytes.IndexFunc(body, func(r rune) bool { return r > 127 }) >= 0 {
				t.Fatalf("what SevenBit wrote splits with error %v, want 7-bit bytes only:\n%q\n%q", err, whole, seven)
			}
		}
	})
}

func TestOtherReadersDecodeOurQuotedPrintable(t *testing.T) {
	t.Parallel()
	const content = "a = b \r\n.\r\nFrom x\r\nlast line"
	m, err := verbatim.Read(crlf("From: a\n\nold\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Write(m.Fields, map[*verbatim.TextBody]string{m.Texts[0]: content})
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := bytes.Cut(got, []byte("\r\n\r\n"))
	if read, err := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(body))); err != nil ||
		strings.TrimRight(string(read), "\r\n") != content {
		t.Errorf("another reader reads the body as %q, %v, want %q", read, err, content)
	}
}
