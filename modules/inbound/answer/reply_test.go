package answer

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/ent"
)

// RFC 5322, 3.6.4.
func TestThreadHeaders(t *testing.T) {
	t.Parallel()
	parent := "parent@x"
	long := make([]string, 100)
	for i := range long {
		long[i] = strings.Repeat("x", 20) + string(rune('a'+i%26)) + "@example.net"
	}
	for name, c := range map[string]struct {
		email           ent.ReceivedEmail
		answer, thread_ string
	}{
		"first":                   {ent.ReceivedEmail{MessageID: "1@x"}, "<1@x>", "<1@x>"},
		"with references":         {ent.ReceivedEmail{MessageID: "3@x", References: []string{"1@x", "2@x"}, InReplyTo: &parent}, "<3@x>", "<1@x> <2@x> <3@x>"},
		"with In-Reply-To":        {ent.ReceivedEmail{MessageID: "3@x", InReplyTo: &parent}, "<3@x>", "<parent@x> <3@x>"},
		"without an id":           {ent.ReceivedEmail{References: []string{"1@x"}}, "", ""},
		"invalid ids":             {ent.ReceivedEmail{MessageID: "3@x", References: []string{"a b", "é@x", "<y>", "2@x"}}, "<3@x>", "<2@x> <3@x>"},
		"an id with a line break": {ent.ReceivedEmail{MessageID: "3@x\r\nBcc: y"}, "", ""},
		"a very long id":          {ent.ReceivedEmail{MessageID: strings.Repeat("x", 300)}, "", ""},
		"too many references":     {ent.ReceivedEmail{MessageID: "3@x", References: long}, "<3@x>", ""},
	} {
		answer, references := threadHeaders(&c.email)
		if answer != c.answer || c.thread_ != "" && references != c.thread_ || len(references) > maxReferences {
			t.Errorf("%s: %q and %q", name, answer, references)
		}
		if name == "too many references" &&
			(!strings.HasPrefix(references, "<"+long[0]+"> ") ||
				!strings.HasSuffix(references, "<"+long[99]+"> <3@x>")) {
			t.Errorf("%s: References is %q, want the first reference and the last ones", name, references)
		}
	}
}

func TestReplySubject(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"Hello": "Re: Hello", "Re: Hello": "Re: Hello", "RE: Hello": "RE: Hello",
		"": "Re:", "Regards": "Re: Regards", "a\x01\u2028b": "Re: a  b"} {
		if got := Subject("Re", given); got != want {
			t.Errorf("Subject(%q) returned %q, want %q", given, got, want)
		}
	}
	if got := Subject("Fwd", strings.Repeat("é", 2000)); len([]rune(got)) != maxSubject {
		t.Errorf("%d characters", len([]rune(got)))
	}
}
