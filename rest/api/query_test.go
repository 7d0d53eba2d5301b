package api_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/postrider/postrider/rest/api"
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
