package message_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/mail/message"
)

// outline writes each part as its bytes, those of a multipart in brackets.
func outline(raw string, p *message.Part) string {
	if p.Boundary == "" {
		return raw[p.Header:p.End]
	}
	var inner []string
	for _, part := range p.Parts {
		inner = append(inner, outline(raw, part))
	}
	closed := ""
	if !p.Closed {
		closed = " and no end"
	}
	return p.Boundary + "[" + strings.Join(inner, "|") + "]" + closed
}

func TestStructureFindsThePositionsOfParts(t *testing.T) {
	t.Parallel()
	const mixed = "Content-Type: multipart/mixed; boundary=a\r\n\r\npreamble\r\n"
	for raw, want := range map[string]string{
		"Subject: s\r\n\r\nbody\r\n":                                "Subject: s\r\n\r\nbody\r\n",
		mixed + "--a\r\nX: y\r\n\r\none\r\n--a\r\n\r\n--a--\r\nend": "a[X: y\r\n\r\none|]",
		mixed + "--a\r\n\r\none\r\n\r\n--a--":                       "a[\r\none\r\n]",
		mixed + "--a\n\none\n--a--\n":                               "a[\none]",
		mixed + "--a\r\nX: y\r\n--a--":                              "a[X: y]",
		mixed + "--a\r\n--a--":                                      "a[]",
		mixed + "--a\r\n\r\ncut off":                                "a[\r\ncut off] and no end",
		mixed:                                                       "a[] and no end",
		mixed +
			"--a\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\n\r\none\r\n--b\r\n\r\ntwo\r\n--b--\r\nrest\r\n--a\r\n\r\nthree\r\n--a--": "a[b[\r\none|\r\ntwo]|\r\nthree]",
		mixed +
			"--a\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\n\r\none\r\n--a\r\n\r\ntwo\r\n--a--": "a[b[\r\none] and no end|\r\ntwo]",
	} {
		root, complete := message.Structure([]byte(raw))
		if diff := cmp.Diff(want, outline(raw, root)); diff != "" || !complete {
			t.Errorf("the structure of %q, complete %v, is (-want +got):\n%s", raw, complete, diff)
		}
		if root.Header != 0 || root.End != len(raw) {
			t.Errorf("the message %q has the range %d to %d, want all of it", raw, root.Header, root.End)
		}
	}
}

func TestStructureReportsIncompleteResults(t *testing.T) {
	t.Parallel()
	many := "Content-Type: multipart/mixed; boundary=a\r\n\r\n" + strings.Repeat("--a\r\n\r\nx\r\n", 600) + "--a--\r\n"
	if root, complete := message.Structure([]byte(many)); complete || len(root.Parts) != 500 {
		t.Errorf("of 600 parts %d were found, complete %v, want 500 and false", len(root.Parts), complete)
	}
	deep := strings.Repeat("Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n", 25)
	if _, complete := message.Structure([]byte(deep)); complete {
		t.Error("25 levels are said to be complete, want false")
	}
}

func TestNextFieldKeepsBytes(t *testing.T) {
	t.Parallel()
	for block, want := range map[string][]string{
		"A: b\r\nC: d\r\n\r\nbody\r\n":  {"A: b\r\n", "C: d\r\n", "\r\n"},
		"A: b\r\n c\r\n\td\r\nE:\r\n":   {"A: b\r\n c\r\n\td\r\n", "E:\r\n"},
		"A: b\r\n\r\n looks folded\r\n": {"A: b\r\n", "\r\n"},
		"\r\n folded":                   {"\r\n"},
		"A: b":                          {"A: b"},
		"A: b\r\n c":                    {"A: b\r\n c"},
		"A: b\nC: d\r\n":                nil,
		"A: b\r\n c\nC: d\r\n":          nil,
	} {
		var got []string
		for rest := []byte(block); len(rest) > 0; {
			field, behind, ok := message.NextField(rest)
			if !ok {
				break
			}
			got = append(got, string(field))
			if rest = behind; string(field) == "\r\n" {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the fields of %q are (-want +got):\n%s", block, diff)
		}
	}
}
