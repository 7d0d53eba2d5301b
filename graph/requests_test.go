package graph

import (
	"context"
	"testing"

	"github.com/postrider/postrider/modules/apilog"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

type fakeRequests struct{ *calls }

func someRequests() []apilog.LoggedRequest {
	return []apilog.LoggedRequest{
		{ID: "req_009", AccountID: bob, Method: "GET", Path: "/api/emails", Status: 200, CreatedAt: day},
		{ID: "req_002", AccountID: ada, Method: "GET", Path: "/api/domains", Status: 404, UserID: "usr_1", CreatedAt: day},
		{ID: "req_001", AccountID: ada, Method: "POST", Path: "/api/emails", Operation: "sendEmail", Status: 200,
			DurationMS: 12, APIKeyID: "key_001", IP: "203.0.113.7",
			RequestBody: `{"to":"bob@example.net"}`, RequestOctets: 24, ResponseOctets: 16,
			ResponseBody: `{"id":"msg_001"}`, EmailID: "msg_001", CreatedAt: day},
	}
}

func requestKey(r apilog.LoggedRequest) (string, string) { return r.AccountID, r.ID }

func (f fakeRequests) List(_ context.Context, accountID string, q apilog.Filter,
	r page.Request) (page.Page[apilog.LoggedRequest], error) {
	if err := q.Validate(); err != nil {
		return page.Page[apilog.LoggedRequest]{}, err
	}
	var rows []apilog.LoggedRequest
	for _, one := range someRequests() {
		if (len(q.Methods) == 0 || q.Methods[0] == one.Method) && (q.UserID == "" || q.UserID == one.UserID) {
			rows = append(rows, one)
		}
	}
	out, err := paged(rows, requestKey, "api_requests", accountID, r)
	return out, orElse(err, f.call("requests.List"))
}

func (f fakeRequests) Count(ctx context.Context, accountID string, q apilog.Filter, most int) (int, error) {
	n, err := lengthOf(f.List(ctx, accountID, q, whole))
	return min(n, most), err
}

func (f fakeRequests) Get(_ context.Context, accountID, id string) (apilog.LoggedRequest, error) {
	for _, one := range someRequests() {
		if one.ID == id && one.AccountID == accountID {
			return one, f.call("requests.Get")
		}
	}
	return apilog.LoggedRequest{}, fault.NoSuch("API request", id)
}

// fakeRaw composes no mail.
type fakeRaw struct{ *calls }

func (f fakeRaw) Raw(_ context.Context, accountID, emailID string) ([]byte, error) {
	if accountID != ada || emailID == "msg_002" {
		return nil, f.call("Raw")
	}
	return []byte("Subject: Your receipt\r\n\r\n\xff\r\n"), f.call("Raw")
}

func TestRawMail(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 2})
	a := s.ask(t, `{ email(id: "msg_001") { content { raw } } purged: email(id: "msg_002") { content { raw } } }`, nil)
	same(t, "raw mail",
		map[string]any{"email": map[string]any{"content": map[string]any{"raw": "Subject: Your receipt\r\n\r\n\uFFFD\r\n"}},
			"purged": map[string]any{"content": map[string]any{"raw": nil}}}, a.Data)
}

func TestRequestsAnswerEveryField(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1})
	a := s.ask(t, `{ apiRequest(id: "req_001") `+everything(t, "APIRequest")+` apiRequests `+
		everything(t, "APIRequestConnection")+` none: apiRequest(id: "req_009") { id } }`, nil)
	if a.status != 200 || len(a.Errors) != 0 {
		t.Fatalf("asking every field got status %d and %s, want 200 without errors", a.status, a.body)
	}
	expect.Golden(t, "requests.json", indented(t, a.body))
}

func TestRequestsAreNarrowed(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	a := s.ask(t,
		`{ apiRequests(filter: {method: "POST", path: "/api/", status: {gte: 200, lt: 300}, createdAt: {gte: "2026-01-01T00:00:00Z"}}) { nodes { id } count { value } } }`, nil)
	same(t, "requests", map[string]any{"nodes": []any{map[string]any{"id": "req_001"}},
		"count": map[string]any{"value": 1.0}}, a.Data["apiRequests"])
	a = s.ask(t, `{ apiRequests(filter: {userId: "usr_1"}) { nodes { id userId apiKeyId } } }`, nil)
	same(t, "requests of a person",
		map[string]any{"nodes": []any{map[string]any{"id": "req_002", "userId": "usr_1", "apiKeyId": nil}}},
		a.Data["apiRequests"])
	for filter, field := range map[string]string{`{userId: "usr_\u0000"}`: "userId", `{method: "EAT"}`: "method",
		`{path: "api"}`: "path", `{status: {gte: 1}}`: "status", `{status: {gte: 500, lt: 400}}`: "status",
		`{createdAt: {gte: "2026-02-01T00:00:00Z", lt: "2026-01-01T00:00:00Z"}}`: "createdAt"} {
		if a := s.ask(t, `{ apiRequests(filter: `+filter+`) { nodes { id } } }`,
			nil); a.codes() != "validation_error" || a.Errors[0].Extensions.Details[field] == "" {
			t.Errorf("%s: %s, want a validation_error of %s", filter, a.body, field)
		}
	}
}
