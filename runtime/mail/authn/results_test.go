package authn_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/mail/authn"
	"github.com/postrider/postrider/runtime/mail/message"
)

func TestRemoveForgedResults(t *testing.T) {
	t.Parallel()
	const name = "Authentication-Results"
	for _, c := range []struct {
		what  string
		field message.Field
		kept  bool
	}{
		{"our host", message.Field{Name: name, Value: "mx.test; dmarc=pass"}, false},
		{"our second host", message.Field{Name: name, Value: "smtp.test; dmarc=pass"}, false},
		{"a name in other case", message.Field{Name: "aUTHENTICATION-rESULTS", Value: "mx.test; dmarc=pass"}, false},
		{"a host in other case", message.Field{Name: name, Value: "MX.Test; dmarc=pass"}, false},
		{"a version", message.Field{Name: name, Value: "mx.test 1; dmarc=pass"}, false},
		{"an unknown version", message.Field{Name: name, Value: "mx.test 99; dmarc=pass"}, false},
		{"comments", message.Field{Name: name, Value: ` (a (b) \) c) (d)mx.test(e) 1; dmarc=pass`}, false},
		{"quotes", message.Field{Name: name, Value: `"mx.te\st" 1; dmarc=pass`}, false},
		{"quotes that do not end", message.Field{Name: name, Value: `"mx.test`}, false},
		{"a final dot", message.Field{Name: name, Value: "mx.test.; dmarc=pass"}, false},
		{"no results", message.Field{Name: name, Value: "mx.test; none"}, false},
		{"the host alone", message.Field{Name: name, Value: "mx.test"}, false},
		{"an international name", message.Field{Name: name, Value: "bücher.test; dmarc=pass"}, false},
		{"an international name in A-labels", message.Field{Name: name, Value: "XN--bcher-kva.test; dmarc=pass"}, false},
		{"another host", message.Field{Name: name, Value: "mx.google.com; dmarc=pass"}, true},
		{"another host that names ours", message.Field{Name: name, Value: "mx.google.com; spf=pass smtp.helo=mx.test"}, true},
		{"our host in a comment", message.Field{Name: name, Value: "(mx.test) mx.google.com; dmarc=pass"}, true},
		{"a longer host", message.Field{Name: name, Value: "mx.test.evil.example; dmarc=pass"}, true},
		{"no host", message.Field{Name: name, Value: "; dmarc=pass"}, true},
		{"an empty value", message.Field{Name: name}, true},
		{"a comment that does not end", message.Field{Name: name, Value: "(mx.test; dmarc=pass"}, true},
		{"another field", message.Field{Name: "X-Authentication-Results", Value: "mx.test; dmarc=pass"}, true},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			before, after := message.Field{Name: "Received", Value: "by mx.test"}, message.Field{Name: "Subject",
				Value: "mx.test"}
			want := []message.Field{before, after}
			if c.kept {
				want = []message.Field{before, c.field, after}
			}
			got := authn.RemoveForgedResults([]message.Field{before, c.field, after}, "mx.test", "", "Smtp.Test",
				"bücher.test")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the header has other fields (-want +got):\n%s", diff)
			}
		})
	}
}
