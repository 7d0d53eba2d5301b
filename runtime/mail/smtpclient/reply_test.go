package smtpclient

import (
	"bufio"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func read(s string) (reply, error) { return readReply(bufio.NewReaderSize(strings.NewReader(s), 4096)) }

func TestReadReply(t *testing.T) {
	t.Parallel()
	for wire, want := range map[string]reply{
		"250 ok\r\n":                       {250, "", "250 ok"},
		"250\r\n":                          {250, "", "250"},
		"250 \n":                           {250, "", "250"},
		"250 2.0.0 Ok: queued as 4X\r\n":   {250, "2.0.0", "250 2.0.0 Ok: queued as 4X"},
		"550 5.1.1\r\n":                    {550, "5.1.1", "550 5.1.1"},
		"550 4.1.1 class does not fit\r\n": {550, "", "550 4.1.1 class does not fit"},
		"550 5.1 short\r\n":                {550, "", "550 5.1 short"},
		"550 192.0.2.1 blocked\r\n":        {550, "", "550 192.0.2.1 blocked"},
		"550 5.7.1234 long\r\n":            {550, "", "550 5.7.1234 long"},
		"550-5.1.1 The account\r\n550-5.1.1 does not\r\n550 5.1.1 exist\r\n": {550, "5.1.1", "550 5.1.1 The account does not exist"},
		"550-no\r\n550 5.7.1 way\r\n":                                        {550, "5.7.1", "550 no 5.7.1 way"},
		"550-\r\n550 x\r\n":                                                  {550, "", "550 x"},
		"451 tab\tnul\x00bell\a\xff\r\n":                                     {451, "", "451 tab nul bell ?"},
	} {
		got, err := read(wire)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(reply{})); diff != "" || err != nil {
			t.Errorf("reading %q returned error %v, want %+v; the difference is\n%s", wire, err, want, diff)
		}
	}
}

func TestReadReplyRejectsInvalidReplies(t *testing.T) {
	t.Parallel()
	for what, wire := range map[string]string{
		"nonsense": "HTTP/1.1 400 Bad Request\r\n", "two digits": "25 ok\r\n", "code out of range": "999 ok\r\n", "no digits": "abc\r\n",
		"empty": "\r\n", "glued": "250ok\r\n", "mixed codes": "250-a\r\n550 b\r\n", "endless line": "250 " + strings.Repeat("x", 5000),
		"endless reply": strings.Repeat("250-x\r\n", 200),
	} {
		if got, err := read(wire); !errors.Is(err, errProtocol) {
			t.Errorf("%s: reading returned %+v, %v, want errProtocol", what, got, err)
		}
	}
}

func TestLongRepliesAreTruncated(t *testing.T) {
	t.Parallel()
	got, err := read("550-" + strings.Repeat("é", 900) + "\r\n550 " + strings.Repeat("é", 900) + "\r\n")
	if err != nil || len(got.text) > maxReplyText+len("…") || !utf8.ValidString(got.text) {
		t.Errorf("got %d bytes, valid UTF-8 %v, error %v", len(got.text), utf8.ValidString(got.text), err)
	}
}

func FuzzReadReply(f *testing.F) {
	f.Add("250-a\r\n250 2.0.0 b\r\n")
	f.Add("550 5.1.1 x\n")
	f.Fuzz(func(t *testing.T, wire string) {
		got, err := read(wire)
		if err != nil {
			return
		}
		if got.code < 200 || got.code > 599 || strings.ContainsAny(got.text, "\r\n\x00") ||
			!utf8.ValidString(got.text) {
			t.Errorf("%q was parsed as %+v", wire, got)
		}
	})
}
