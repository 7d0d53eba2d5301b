package mcp

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/postrider/postrider/runtime/web/loopback"
)

// A long string is cut wherever it is, whatever its escapes, and the text around it stays valid JSON.
func TestRecorderCutsLongStrings(t *testing.T) {
	t.Parallel()
	for name, long := range map[string]string{
		"plain":           strings.Repeat("x", 3*maxString),
		"quotes":          strings.Repeat(`"`, maxString),
		"backslashes":     strings.Repeat(`\`, maxString),
		"two-byte runes":  strings.Repeat("é", maxString),
		"control":         strings.Repeat("\x01", maxString),
		"escaped angle":   strings.Repeat("<", maxString),
		"line separators": strings.Repeat("\u2028", maxString),
		"off by one":      "x" + strings.Repeat("\x01", maxString),
	} {
		encoded, err := json.Marshal(map[string]any{"a": "first", "long": long, "z": []any{1, "last"}})
		if err != nil {
			t.Fatal(err)
		}
		r := &recorder{}
		for len(encoded) > 0 { // in pieces, as handlers write
			piece := encoded[:min(len(encoded), 4099)]
			if n, err := r.Write(piece); n != len(piece) || err != nil {
				t.Fatalf("%s: Write returned %d, %v", name, n, err)
			}
			encoded = encoded[len(piece):]
		}
		var got struct {
			A, Long string
			Z       []any
		}
		if err := r.decode(&loopback.Response{Status: http.StatusOK}, &got); err != nil {
			t.Errorf("%s: the cut response cannot be decoded: %v", name, err)
			continue
		}
		if got.A != "first" || len(got.Z) != 2 || got.Z[1] != "last" {
			t.Errorf("%s: the rest of the response was changed: %q %v", name, got.A, got.Z)
		}
		if !strings.HasSuffix(got.Long, "…") || len(got.Long) > maxString+3 || !utf8.ValidString(got.Long) {
			t.Errorf("%s: the long string has %d bytes and ends with %q", name, len(got.Long), got.Long[max(0, len(got.Long)-6):])
		}
	}
}

// A response of any size uses bounded memory. If it is too large, the result is an error instead of a part that looks
// complete.
func TestRecorderBoundsResponses(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	piece := []byte(`["` + strings.Repeat("x", 1000) + `"],`)
	for range 2 * maxResponse / len(piece) {
		if _, err := r.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.body) > maxResponse {
		t.Errorf("the recorder keeps %d bytes, want at most %d", len(r.body), maxResponse)
	}
	var into any
	if err := r.decode(&loopback.Response{Status: http.StatusOK}, &into); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("decode returned %v, want an error about the size", err)
	}
}

// The message of a refusal lists the invalid fields and the next step.
func TestRefusalsSayWhatToDo(t *testing.T) {
	t.Parallel()
	s := &session{}
	for _, c := range []struct {
		status int
		body   string
		want   []string
	}{
		{http.StatusBadRequest, `{"error":{"message":"Invalid field: to","code":"validation_error","details":{"to":"is required"}}}`,
			[]string{"to is required", "Correct the arguments"}},
		{http.StatusForbidden, `{"error":{"message":"example.com is not verified","code":"domain_not_verified"}}`,
			[]string{"example.com", "domain_status"}},
		{http.StatusTooManyRequests, `{"error":{"message":"Slow down","code":"rate_limit_exceeded"}}`, []string{"Wait 3 seconds"}},
		{http.StatusUnauthorized, `{"error":{"message":"Unauthorized"}}`, []string{"create a new one"}},
		{http.StatusBadGateway, `no JSON`, []string{"Bad Gateway"}},
	} {
		r, call := &recorder{}, loopback.Call{Client: &http.Request{Header: http.Header{}}, Path: "/"}
		response, err := call.Do(t.Context(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte(c.body))
		}), r)
		if err != nil {
			t.Fatal(err)
		}
		words := s.adviseOn(t.Context(), "test", r.decode(response, nil)).Error()
		for _, want := range c.want {
			if !strings.Contains(words, want) {
				t.Errorf("%d %s: the tool says %q, want %q in it", c.status, c.body, words, want)
			}
		}
	}
}
