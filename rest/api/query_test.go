package api_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/runtime/base/fault"
)

func TestPlusInQueriesOfAddresses(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"bob+1@example.net": "bob+1@example.net", "bob%2B1@example.net": "bob+1@example.net", "+4915112345678": "+4915112345678",
		"Bob+B+%3Cbob%40example.net%3E": "Bob B <bob@example.net>", `%22a+b%22%40example.net`: `"a b"@example.net`, "": "",
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/?to="+query, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		values, err := url.ParseQuery(r.URL.RawQuery)
		if got := api.QueryAddress(values.Get("to")); err != nil || got != want {
			t.Errorf("to=%s is read as %q (%v), want %q", query, got, err, want)
		}
	}
}

// A client that does not encode the + of an offset means the same time.
func TestPlusInQueriesOfTimes(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 1, 15, 8, 30, 0, 0, time.UTC)
	for _, text := range []string{"2026-01-15T08:30:00Z", "2026-01-15T09:30:00+01:00", "2026-01-15T09:30:00 01:00"} {
		wrong := fault.Fields{}
		if got := api.QueryTime(wrong, "since", text); got == nil || !got.Equal(want) || len(wrong) > 0 {
			t.Errorf("%q is read as %v (%v), want %s", text, got, wrong, want)
		}
	}
	for _, text := range []string{"2026-01-15 09:30:00Z", "2026-01-15T09:30:00 1:00", " ", "2026-01-15T09:30:00Z ", "yesterday",
		"2026-01-15T09:30:00+24:00", "2026-01-15T09:30:00 00:60"} {
		wrong := fault.Fields{}
		if got := api.QueryTime(wrong, "since", text); got != nil || wrong["since"] == "" {
			t.Errorf("%q is read as %v (%v), want a refusal", text, got, wrong)
		}
	}
}
