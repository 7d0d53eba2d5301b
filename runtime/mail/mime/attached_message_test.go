package mime

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/mail/address"
)

// RFC 2046 section 5.2.1: message/rfc822 is 7bit, 8bit or binary, and never base64.
func TestAttachedMessageIsSentAsAMessage(t *testing.T) {
	t.Parallel()
	const inner = "From: carol@dev.test\nSubject: Minutes\n\nWe met.\n--=_mixed_0\nEnd"
	compose := func(data string, read bool) string {
		t.Helper()
		file := Attachment{Name: "minutes.eml", ContentType: "Message/RFC822; x=y", Data: []byte(data)}
		if read {
			file.Data, file.Size = nil, len(data)
			file.Read = func(use func([]byte)) error { use([]byte(data)); return nil }
		}
		from, err := address.Parse("ada@dev.test")
		if err != nil {
			t.Fatal(err)
		}
		raw, err := Compose(Message{From: from, To: []address.Address{from}, Subject: "s", Text: "t",
			MessageID: "1@dev.test", Date: time.Unix(0, 0), Attachments: []Attachment{file}})
		if err != nil {
			t.Fatalf("composing a message with %.40q failed: %v", data, err)
		}
		return string(raw)
	}
	for _, read := range []bool{false, true} {
		raw := compose(inner, read)
		if !strings.Contains(raw, "Content-Type: message/rfc822; name=minutes.eml\r\n"+
			"Content-Transfer-Encoding: 7bit\r\n") ||
			!strings.Contains(raw, "\r\n\r\n"+strings.ReplaceAll(inner, "\n", "\r\n")+"\r\n") {
			t.Errorf("the message was not attached unchanged (read: %v):\n%s", read, raw)
		}
	}
	_, boundary, _ := strings.Cut(compose(inner, false), "=_mixed_")
	boundary, _, _ = strings.Cut(boundary, "\"")
	for name, data := range map[string]string{"an 8-bit header": "Subject: Grüße\n\nx\n", "empty": "",
		"no header": "just words\n", "a long field": "Subject: " + strings.Repeat("x", 999) + "\n\nx\n",
		"signed 8-bit content": "Content-Type: multipart/signed; boundary=b\n\n--b\n\nGrüße\n--b\n" +
			"Content-Type: application/pgp-signature\n\nx\n--b--\n", "a boundary": "Subject: s\n\n--=_mixed_" +
			boundary + "\n",
		"a bare CR": "Subject: s\n\na\rb\n", "a control character": "Subject: s\n\n\x00\n"} {
		raw := compose(data, false)
		if strings.Contains(raw, "message/rfc822") || !strings.Contains(raw, "application/octet-stream") {
			t.Errorf("%s is not sent as application/octet-stream:\n%s", name, raw)
		}
	}
	for name, test := range map[string]struct{ data, want string }{
		"8-bit text": {"Subject: s\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\nGrüße",
			"R3LDvMOfZQ0K"},
		"text of another charset": {"Content-Type: text/plain; charset=iso-8859-1\n\nGr\xfc\xdfe\n", "R3L832UNCg=="},
		"an 8-bit part": {"Content-Type: multipart/mixed; boundary=b\nContent-Transfer-Encoding: 8bit\n\n--b\n\nplain\n--b\n" +
			"Content-Type: application/x\nContent-Transfer-Encoding: binary\n\n\xff\xfe\n--b--\n", "\r\n\r\n//4=\r\n"},
		"a long line": {"Subject: s\n\n" + strings.Repeat("x", 999), "=\r\nxxx"},
	} {
		for _, read := range []bool{false, true} {
			raw := compose(test.data, read)
			if !strings.Contains(raw, "Content-Type: message/rfc822; name=minutes.eml\r\n"+
				"Content-Transfer-Encoding: 7bit\r\n") || !strings.Contains(raw, test.want) ||
				!isSevenBit([]byte(raw)) {
				t.Errorf("%s is not attached as a 7-bit message that contains %q (read: %v):\n%q", name,
					test.want, read, raw)
			}
		}
	}
	if e := (entity{encoding: "7bit", length: 10, escapes: 5}); e.maxSize() < 500+17 {
		t.Errorf("the size of lines is estimated as %d", e.maxSize())
	}
	var b bytes.Buffer
	writeLines(&b, []byte("a\r\nb\n\nc"))
	if b.String() != "a\r\nb\r\n\r\nc" {
		t.Errorf("the lines are %q", b.String())
	}
}
