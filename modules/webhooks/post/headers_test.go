package post

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/schema/shape"
)

func TestHeadersAreStoredWithoutSecrets(t *testing.T) {
	t.Parallel()
	got := ParseHeaders(FormatHeaders(http.Header{
		"Set-Cookie": {"sid=verysecret", "b=verysecret"}, "X-Auth-Token": {"verysecret"},
		"Date": {"Thu, 15 Jan 2026 09:30:00 GMT"}, "Content-Type": {"text/plain"}, "X-Request-Id": {"req: 1"},
		"Content-Security-Policy": {"default-src 'none'"}, "X-Raw": {"caf\xe9\x00"}, "X-Empty": {""}}))
	want := []shape.Header{{Name: "Content-Type", Value: "text/plain"}, {Name: "X-Request-Id", Value: "req: 1"},
		{Name: "Date", Value: "Thu, 15 Jan 2026 09:30:00 GMT"}, {Name: "Set-Cookie", Value: notStored},
		{Name: "X-Auth-Token", Value: notStored}, {Name: "X-Empty", Value: ""}, {Name: "X-Raw", Value: "caf\uFFFD\uFFFD"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stored header fields (-want +got):\n%s", diff)
	}
	if got := FormatHeaders(nil); got != "" {
		t.Errorf("no header fields are stored as %q", got)
	}
}

func TestStoredHeadersAreBounded(t *testing.T) {
	t.Parallel()
	many, large := http.Header{"Retry-After": {"3"}}, http.Header{"Retry-After": {"3"}}
	for i := range 100 {
		many.Set(fmt.Sprintf("A-%02d", i), "x")
		large.Set(fmt.Sprintf("A-%02d", i), strings.Repeat("ü", 10_000))
	}
	if got := ParseHeaders(FormatHeaders(many)); len(got) != maxHeaders || got[0].Name != "Retry-After" {
		t.Errorf("101 header fields are stored as %v, want %d with Retry-After first", got, maxHeaders)
	}
	got := FormatHeaders(large)
	if fields := ParseHeaders(got); len(got) > maxHeaderBytes || len(fields) < 3 || fields[0].Value != "3" {
		t.Errorf("large header fields are stored in %d bytes as %d fields, want at most %d bytes", len(got), len(fields),
			maxHeaderBytes)
	}
}
