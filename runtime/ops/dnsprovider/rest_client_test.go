package dnsprovider

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libdns/libdns"
)

// restAPIs are the APIs that restClient calls, with the requests that read and add a record.
var restAPIs = map[string]func(*book) http.Handler{"digitalocean": digitaloceanAPI, "hetzner": hetznerAPI}

var addedRecord = []libdns.Record{libdns.TXT{Name: "new", Text: `"text"`}}

// A provider refuses requests for a reason that the error repeats. Only temporary reasons are tried again.
func TestRESTErrors(t *testing.T) {
	t.Parallel()
	for name, api := range restAPIs {
		for reason, c := range map[string]struct {
			status int
			code   string
			reads  bool // whether a second request to read succeeds
			writes bool
		}{
			"bad token":         {401, "unauthorized", false, false},
			"not permitted":     {403, "forbidden", false, false},
			"invalid":           {422, "invalid_input", false, false},
			"too many requests": {429, "rate_limit_exceeded", true, true},
			"conflict":          {409, "conflict", true, true},
			"locked":            {423, "locked", true, true},
			"server error":      {503, "unavailable", true, false},
		} {
			t.Run(name+" "+reason, func(t *testing.T) {
				t.Parallel()
				refused := 0
				b, z := serve(t, name, func(b *book) http.Handler {
					whole := api(b)
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if refused > 0 {
							refused--
							reply(w, c.status, object{"id": c.code, "message": "said " + reason,
								"error": object{"code": c.code, "message": "said " + reason}})
							return
						}
						whole.ServeHTTP(w, r)
					})
				})
				check := func(action string, err error, ok bool) {
					t.Helper()
					if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), c.code+" said "+reason) {
						t.Errorf("%s with one refused request returned %v, want success: %t", action, err, ok)
					}
				}
				refuseNext := func(n int) {
					b.mu.Lock()
					defer b.mu.Unlock()
					refused = n
				}
				refuseNext(1)
				_, err := z.backend.GetRecords(t.Context(), "example.com.")
				check("reading", err, c.reads)
				refuseNext(1)
				_, err = z.backend.AppendRecords(t.Context(), "example.com.", addedRecord)
				check("writing", err, c.writes)
				refuseNext(2)
				_, err = z.backend.AppendRecords(t.Context(), "example.com.", addedRecord)
				check("writing a second time", err, false)
			})
		}
	}
}

// A zone of several pages is complete, and a provider that always has another page does not keep the caller.
func TestRESTPagesEnd(t *testing.T) {
	t.Parallel()
	for name, api := range restAPIs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entries := make([]entry, 7)
			for i := range entries {
				entries[i] = entry{Type: "A", Name: strings.Repeat("a", i+1), Value: "192.0.2.1", TTL: 300}
			}
			_, z := serve(t, name, api, entries...)
			records, err := z.backend.GetRecords(t.Context(), "example.com.")
			if err != nil || len(records) != len(entries) || records[6].RR().Name != "aaaaaaa" {
				t.Errorf("reading a zone of several pages returned %v, %v, want %d records", records, err, len(entries))
			}
			_, z = serve(t, name, func(*book) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					reply(w, 200, object{"zone": object{"ttl": 60}, "meta": object{"pagination": object{"next_page": 2}},
						"links": object{"pages": object{"next": "https://elsewhere.test/?page=2"}}})
				})
			})
			if _, err = z.backend.GetRecords(t.Context(), "example.com."); !errors.Is(err, errTooManyRecords) {
				t.Errorf("reading an endless zone returned %v, want %v", err, errTooManyRecords)
			}
		})
	}
}

func TestRESTDeletesMissingRecords(t *testing.T) {
	t.Parallel()
	for name, api := range restAPIs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gone := false
			b, z := serve(t, name, func(b *book) http.Handler {
				whole := api(b)
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if gone {
						reply(w, 404, object{"id": "not_found", "error": object{"code": "not_found"}})
						return
					}
					whole.ServeHTTP(w, r)
				})
			}, entry{Type: "TXT", Name: "old", Value: `"text"`, TTL: 300})
			records, err := z.backend.GetRecords(t.Context(), "example.com.")
			if err != nil || len(records) != 1 {
				t.Fatalf("reading returned %v, %v, want one record", records, err)
			}
			b.mu.Lock()
			gone = true
			b.mu.Unlock()
			if deleted, err := z.backend.DeleteRecords(t.Context(), "example.com.", records); err != nil ||
				len(deleted) > 0 {
				t.Errorf("deleting a missing record returned %v, %v, want neither", deleted, err)
			}
			b.mu.Lock()
			gone = false
			b.mu.Unlock()
			if deleted, err := z.backend.DeleteRecords(t.Context(), "example.com.", records); err != nil ||
				len(deleted) != 1 || len(b.list) != 0 {
				t.Errorf("deleting a record returned %v, %v and left %v, want it deleted", deleted, err, b.list)
			}
		})
	}
}

// A change at Hetzner is complete when its action is.
func TestHetznerWaitsForActions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ last, want string }{
		"success": {"success", ""}, "error": {"error", "server_error broken"}, "unknown": {"", "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked []string
			_, z := serve(t, "hetzner", func(*book) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if asked = append(asked, r.URL.RequestURI()); r.Method == http.MethodPost {
						reply(w, 201, object{"action": object{"id": 4711, "status": "running", "error": nil}})
						return
					}
					last := []any{object{"id": 4711, "status": c.last,
						"error": object{"code": "server_error", "message": "broken"}}}
					if c.last == "" {
						last = nil
					}
					reply(w, 200, object{"actions": last})
				})
			})
			_, err := z.backend.AppendRecords(t.Context(), "example.com.", addedRecord)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("an action that ends with %q returned %v, want %q", c.last, err, c.want)
			}
			if want := []string{"/v1/zones/example.com/rrsets/new/TXT/actions/add_records",
				"/v1/actions?id=4711"}; !slices.Equal(asked, want) {
				t.Errorf("the requests are %v, want %v", asked, want)
			}
		})
	}
}

func TestRESTStopsWithItsContext(t *testing.T) {
	t.Parallel()
	_, z := serve(t, "hetzner", func(*book) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			reply(w, 201, object{"action": object{"id": 1, "status": "running"}, "actions": []any{object{"id": 1, "status": "running"}}})
		})
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := z.backend.AppendRecords(ctx, "example.com.", addedRecord); err == nil {
		t.Error("an action that does not end returned no error at the end of the context")
	}
}
