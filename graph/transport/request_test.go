package transport

import (
	"net/url"
	"testing"
)

// A request by GET with several mistakes always gets the same error.
func TestErrorsOfURLsDoNotDependOnMapOrder(t *testing.T) {
	t.Parallel()
	for want, query := range map[string]url.Values{
		`The parameter "variables" must be one JSON object`:         {"variables": {"x"}, "extensions": {"y"}},
		`The parameter "query" cannot be given more than once`:      {"query": {"{a}", "{b}"}, "operationName": {"a", "b"}},
		`The parameter "documentId" cannot be given more than once`: {"documentId": {"a", "b"}, "variables": {"x", "y"}},
	} {
		for range 30 {
			if _, err := decodeURL(query); err == nil || err.Message != want {
				t.Errorf("decodeURL(%v) returned %v, want always %q", query, err, want)
				break
			}
		}
	}
}
