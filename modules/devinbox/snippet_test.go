package devinbox

import (
	"strings"
	"testing"
)

func TestSnippetIsBeginningOfText(t *testing.T) {
	t.Parallel()
	const alternative = "MIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n"
	for what, c := range map[string]struct{ raw, want string }{
		"text":    {"Subject: s\r\n\r\nHello  Bob,\r\n\r\nyour code is\t1234.\r\n", "Hello Bob, your code is 1234."},
		"no body": {"Subject: s\r\n\r\n", ""},
		"no mail": {"\xff\xfe", "ÿþ"},
		"nothing": {"", ""},
		"html":    {"Content-Type: text/html\r\n\r\n<html><head><title>no</title><style>p{}</style></head><body><p>Hello &amp; welcome</p><p>Bob</p><script>no()</script></body>", "Hello & welcome Bob"},
		"both": {alternative +
			"--b\r\nContent-Type: text/plain\r\n\r\nthe text\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>the html\r\n--b--\r\n", "the text"},
		"blank text": {alternative + "--b\r\nContent-Type: text/plain\r\n\r\n \r\n--b\r\nContent-Type: text/html\r\n\r\n<p>the html\r\n--b--\r\n", "the html"},
		"cut off":    {alternative + "--b\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\nSGVsbG8gQm9i", "Hello Bob"},
		"padding":    {"Content-Type: text/html; charset=utf-8\r\n\r\nHi&zwnj;&nbsp;&#847;&nbsp;\u202e\u200b there", "Hi there"},
		"much text":  {"Content-Type: text/plain; charset=utf-8\r\n\r\n" + strings.Repeat("é", snippetLen+1), strings.Repeat("é", snippetLen-1) + "…"},
	} {
		if got := snippet([]byte(c.raw)); got != c.want {
			t.Errorf("the snippet of a mail with %s is %q, want %q", what, got, c.want)
		} else if n := len([]rune(got)); n > snippetLen {
			t.Errorf("the snippet of a mail with %s has %d characters, want at most %d", what, n, snippetLen)
		}
	}
}
