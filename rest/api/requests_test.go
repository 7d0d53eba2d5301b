package api_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/apilog"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// fakeRequests is a log with one request. It records its calls.
type fakeRequests struct{ asked apilog.Filter }

var oneRequest = apilog.LoggedRequest{ID: "req_1", AccountID: accountID, Method: "POST", Path: "/api/emails",
	Operation: "sendEmail", Status: 400, DurationMS: 12, APIKeyID: keyID,
	IP: "192.0.2.7", RequestBody: `{"from":"x"}`, RequestOctets: 12,
	ResponseBody: `{"error":{"message":"No","code":"validation_error"}}`, ResponseOctets: 54,
	EmailID: emailID, CreatedAt: time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)}

func (f *fakeRequests) List(_ context.Context, account string, filter apilog.Filter,
	_ page.Request) (page.Page[apilog.LoggedRequest], error) {
	f.asked = filter
	if account != accountID {
		return page.Page[apilog.LoggedRequest]{}, nil
	}
	return page.Page[apilog.LoggedRequest]{Items: []apilog.LoggedRequest{oneRequest}, HasMore: true, NextCursor: "abc"},
		filter.Validate()
}

func (f *fakeRequests) Get(_ context.Context, account, id string) (apilog.LoggedRequest, error) {
	if account != accountID || id != "req_1" {
		return apilog.LoggedRequest{}, fault.NoSuch("API request", id)
	}
	return oneRequest, nil
}

func TestRequestsAreShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		request request
		status  int
	}{
		"requests":         {request{method: "GET", path: "/api/requests", key: "read"}, 200},
		"requests_bad":     {request{method: "GET", path: "/api/requests?method=POKE&path=x&status_from=500&status_below=400&since=x"}, 400},
		"requests_status":  {request{method: "GET", path: "/api/requests?status_from=500&status_below=400&method=POKE"}, 400},
		"requests_sending": {request{method: "GET", path: "/api/requests", key: "sending"}, 403},
		"request":          {request{method: "GET", path: "/api/requests/req_1"}, 200},
		"request_unknown":  {request{method: "GET", path: "/api/requests/req_2"}, 404},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundleFor(t, "/api/requests")
			got := b.do(t, c.request)
			if got.status != c.status {
				t.Errorf("status %d, want %d: %s", got.status, c.status, got.body)
			}
			expect.Golden(t, "answers/"+name+".json", got.body)
		})
	}
	b := newBundleFor(t, "/api/requests")
	b.do(t, request{method: "GET",
		path: "/api/requests?method=POST,PATCH&path=/api/emails&status_from=400&status_below=500&api_key_id=k&user_id=u&request_id=r&email_id=e&since=2026-01-15T09:30:00Z&until=2026-01-16T09:30:00Z"})
	want := apilog.Filter{Methods: []string{"POST", "PATCH"}, PathPrefix: "/api/emails", StatusFrom: 400,
		StatusBelow: 500, APIKeyID: "k", UserID: "u", RequestID: "r", EmailID: "e",
		Since: time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC), Until: time.Date(2026, 1, 16, 9, 30, 0, 0, time.UTC)}
	if diff := cmp.Diff(want, b.requests.asked); diff != "" {
		t.Errorf("the parameters became another filter (-want +got):\n%s", diff)
	}
}

// seen collects the entries that the edge adds to the log.
type seen struct {
	mu    sync.Mutex
	list  []*apilog.Seen
	asked int
	no    bool
}

func (s *seen) Keep(string, int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	return !s.no
}

func (s *seen) Add(r *apilog.Seen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, r)
}

// last returns the newest entry. A client can receive its response slightly before the entry is added.
func (s *seen) last(t *testing.T, n int) *apilog.Seen {
	t.Helper()
	var got *apilog.Seen
	expect.Eventually(t, "the request is logged", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.list) < n {
			return false
		}
		got = s.list[len(s.list)-1]
		return true
	})
	return got
}

// The log entry of a request depends on its response, its caller and its operation.
func TestRequestsAreToldToTheLog(t *testing.T) {
	t.Parallel()
	log := &seen{}
	b := newBundle(t, func(o *api.Options) { o.People, o.BaseURL, o.Log = fakePeople{}, baseURL, log })
	answered := b.do(t, request{method: "POST", path: "/api/emails?", body: simple, key: "sending"})
	got := log.last(t, 1)
	if got.ID != "req_test" || got.AccountID != accountID || got.Method != "POST" || got.Path != "/api/emails" ||
		got.Operation != "sendEmail" || got.Status != 200 || got.APIKeyID != "key_1" ||
		got.UserID != "" || got.IP == "" || got.Took <= 0 || got.At.IsZero() || string(got.Asked.Raw) != simple ||
		string(got.Answered.Raw) != answered.body ||
		got.Asked.Size != int64(len(simple)) || got.Answered.Size != int64(len(answered.body)) ||
		got.Answered.Media != "application/json" {
		t.Errorf("a send is logged as %+v", got)
	}
	for i, c := range []struct {
		what            string
		request         request
		path            string
		status          int
		asked, answered string // a part of the bodies; "-": there is none
	}{
		{"a refusal", request{method: "POST", path: "/api/emails", body: "{}"}, "/api/emails", 400, "{}", "validation_error"},
		{"a refusal for the scope", request{method: "POST", path: "/api/emails", body: simple, key: "read"}, "/api/emails", 403, "-", "insufficient_scope"},
		{"a media type that is not taken", request{method: "POST", path: "/api/emails", body: simple,
			header: map[string]string{"Content-Type": "text/plain"}}, "/api/emails", 415, "-",
			"unsupported_media_type"},
		{"a person", as("owner", "GET", "/api/webhooks", ""), "/api/webhooks", 200, "-", "webhooks"},
		{"an erasure", request{method: "DELETE", path: "/api/contacts/bob@example.net/data"}, "/api/contacts/{email}/data", 200, "-", "-"},
		{"the log itself", request{method: "GET", path: "/api/requests"}, "/api/requests", 200, "-", "-"},
		{"the list of keys, which reading is not enough for", request{method: "GET", path: "/api/api-keys"}, "/api/api-keys", 200, "-", "-"},
		{"a file", request{method: "GET", path: "/api/domains/" + domainID + "/zone-file"}, "/api/domains/" + domainID + "/zone-file", 200, "-", "\x00"},
	} {
		b.do(t, c.request)
		got := log.last(t, i+2)
		has := func(raw []byte, part string) bool {
			return part == "-" && len(raw) == 0 || part != "-" && strings.Contains(string(raw), part)
		}
		if got.Status != c.status || got.Path != c.path || !has(got.Asked.Raw, c.asked) ||
			!has(got.Answered.Raw, c.answered) {
			t.Errorf("%s is logged as %d %s, request %q, response %q", c.what, got.Status, got.Path, got.Asked.Raw,
				got.Answered.Raw)
		}
		if person := c.request.key == "-"; person != (got.UserID != "") || person == (got.APIKeyID != "") {
			t.Errorf("%s is logged with key %q and user %q", c.what, got.APIKeyID, got.UserID)
		}
	}
	if got := b.do(t, request{method: "GET", path: "/api/emails/" + emailID}); got.status != http.StatusOK {
		t.Fatalf("the email is answered with %d", got.status)
	}
	if got := log.last(t, 10); got.EmailID != emailID {
		t.Errorf("a request about an email names %q", got.EmailID)
	}
}

// A request that is not logged is not copied, and a request without a caller is not even considered.
func TestRequestsThatAreLeftOut(t *testing.T) {
	t.Parallel()
	log := &seen{no: true}
	b := newBundle(t, func(o *api.Options) { o.Log = log })
	b.do(t, request{method: "POST", path: "/api/emails", body: simple})
	b.do(t, request{method: "POST", path: "/api/emails", body: simple, key: "-"})
	b.do(t, request{method: "GET", path: "/api/nothing"})
	if log.mu.Lock(); log.asked != 1 || len(log.list) != 0 {
		t.Errorf("the log was queried %d times and got %d requests, want 1 and 0", log.asked, len(log.list))
	}
	log.mu.Unlock()
}
