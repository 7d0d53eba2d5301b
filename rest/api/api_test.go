package api_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

const simple = `{"from":"Ada <ada@example.com>","to":"bob@example.net","subject":"Hi","text":"Hello"}`

func TestAnswers(t *testing.T) {
	t.Parallel()
	away := fault.DatabaseUnavailable(io.ErrUnexpectedEOF)
	for name, c := range map[string]struct {
		request request
		fail    error // error that the services return
		status  int
	}{
		"send":               {request: request{method: "POST", path: "/api/emails", body: simple}, status: 200},
		"email":              {request: request{method: "GET", path: "/api/emails/" + emailID}, status: 200},
		"email_unknown":      {request: request{method: "GET", path: "/api/emails/msg_01kf0m4w7he6x8q2v5b3n9c1tb"}, status: 404},
		"email_garbage_id":   {request: request{method: "GET", path: "/api/emails/%00%ff"}, status: 404},
		"recipients":         {request: request{method: "GET", path: "/api/emails/" + emailID + "/recipients", key: "sending"}, status: 200},
		"recipients_unknown": {request: request{method: "GET", path: "/api/emails/msg_01kf0m4w7he6x8q2v5b3n9c1tb/recipients"}, status: 404},
		"recipients_limit":   {request: request{method: "GET", path: "/api/emails/" + emailID + "/recipients?limit=1"}, status: 400},
		"attempts":           {request: request{method: "GET", path: "/api/emails/" + emailID + "/attempts", key: "read"}, status: 200},
		"attempts_paged":     {request: request{method: "GET", path: "/api/emails/" + emailID + "/attempts?limit=1&cursor=x"}, status: 200},
		"attempts_unknown":   {request: request{method: "GET", path: "/api/emails/x/attempts"}, status: 404},
		"attempts_limit":     {request: request{method: "GET", path: "/api/emails/" + emailID + "/attempts?limit=0"}, status: 400},
		"expiry_bad": {request: request{method: "POST", path: "/api/emails",
			body: `{"from":"a@example.com","to":"b@example.com","subject":"x","text":"c","expires_at":"2026-01-01T00:00:00"}`}, status: 400},
		"expiry_past": {request: request{method: "POST", path: "/api/emails",
			body: `{"from":"a@example.com","to":"b@example.com","subject":"x","text":"c","expires_at":"2020-01-01T00:00:00Z"}`}, status: 400},
		"expiry_far": {request: request{method: "POST", path: "/api/emails",
			body: `{"from":"a@example.com","to":"b@example.com","subject":"x","text":"c","expires_at":"2099-01-01T00:00:00Z"}`}, status: 400},
		"emails":             {request: request{method: "GET", path: "/api/emails?limit=1"}, status: 200},
		"emails_limit_zero":  {request: request{method: "GET", path: "/api/emails?limit=0"}, status: 400},
		"emails_limit_large": {request: request{method: "GET", path: "/api/emails?limit=101"}, status: 400},
		"emails_limit_text":  {request: request{method: "GET", path: "/api/emails?limit=ten"}, status: 400},
		"emails_limit_empty": {request: request{method: "GET", path: "/api/emails?limit="}, status: 400},
		"emails_filtered": {request: request{method: "GET",
			path: "/api/emails?status=bounced&to=bob@example.net&from=ada@example.com&tag=kind:receipt&domain=example.com&since=2026-01-15T09:30:00Z&until=2026-01-16T00:00:00%2B01:00&q=receipt"}, status: 200},
		"emails_filters_bad": {request: request{method: "GET",
			path: "/api/emails?to=bob&from=%40&tag=kind&domain=-.example&since=yesterday&until=2026-01-16&q=%2F%2F"},
			status: 400},
		"emails_status_unknown":  {request: request{method: "GET", path: "/api/emails?status=opened"}, status: 400},
		"emails_until_early":     {request: request{method: "GET", path: "/api/emails?since=2026-01-16T00:00:00Z&until=2026-01-15T00:00:00Z"}, status: 400},
		"emails_parameters":      {request: request{method: "GET", path: "/api/emails?limt=3&cursor=a&cursor=b"}, status: 400},
		"emails_query_malformed": {request: request{method: "GET", path: "/api/emails?limit=%zz"}, status: 400},
		"domain_added":           {request: request{method: "POST", path: "/api/domains", body: `{"name":"example.com"}`}, status: 200},
		"domain_bad":             {request: request{method: "POST", path: "/api/domains", body: `{"nam":"example.com","inbound_enabled":"yes"}`}, status: 400},
		"domain_limit": {request: request{method: "POST", path: "/api/domains",
			body: `{"name":"example.com"}`}, fail: &fault.Error{Kind: fault.Limit, Code: fault.CodePlanLimit,
			Message: "The plan Free allows 1 domain", UpgradeURL: "/settings/billing"}, status: 429},
		"domain":              {request: request{method: "GET", path: "/api/domains/" + domainID}, status: 200},
		"domain_unknown":      {request: request{method: "GET", path: "/api/domains/dom_x"}, status: 404},
		"domains":             {request: request{method: "GET", path: "/api/domains"}, status: 200},
		"domain_verified":     {request: request{method: "POST", path: "/api/domains/" + domainID + "/verify"}, status: 200},
		"domain_verify_body":  {request: request{method: "POST", path: "/api/domains/" + domainID + "/verify", body: `{"now":true}`}, status: 400},
		"unauthorized":        {request: request{method: "POST", path: "/api/emails", body: simple, key: "-"}, status: 401},
		"unauthorized_key":    {request: request{method: "GET", path: "/api/emails?bogus=1", key: "nobody"}, status: 401},
		"authentication_away": {request: request{method: "GET", path: "/api/emails", key: "away"}, status: 503},
		"scope_read":          {request: request{method: "POST", path: "/api/emails", body: simple, key: "read"}, status: 403},
		"scope_sending":       {request: request{method: "GET", path: "/api/domains", key: "sending"}, status: 403},
		"path_unknown":        {request: request{method: "GET", path: "/api/nothing"}, status: 404},
		"path_unclean":        {request: request{method: "POST", path: "/api//emails", body: simple}, status: 404},
		"method":              {request: request{method: "DELETE", path: "/api/emails"}, status: 405},
		"media_type": {request: request{method: "POST", path: "/api/emails", body: simple,
			header: map[string]string{"Content-Type": "text/plain"}}, status: 415},
		"content_encoding": {request: request{method: "POST", path: "/api/emails", body: simple,
			header: map[string]string{"Content-Encoding": "gzip"}}, status: 415},
		"charset": {request: request{method: "POST", path: "/api/emails", body: simple,
			header: map[string]string{"Content-Type": "application/json; charset=latin1"}}, status: 415},
		"too_large": {request: request{method: "POST", path: "/api/domains", body: `{"name":"` + strings.Repeat("a", 1<<20) + `"}`}, status: 413},
		"key_empty": {request: request{method: "POST", path: "/api/emails", body: simple,
			header: map[string]string{"Idempotency-Key": ""}}, status: 400},
		"away":     {request: request{method: "POST", path: "/api/emails", body: simple}, fail: away, status: 503},
		"internal": {request: request{method: "GET", path: "/api/emails/" + emailID}, fail: errors.New("pq: secret detail"), status: 500},
		"body_away": {request: request{method: "GET", path: "/api/emails/" + emailID},
			fail: fault.BodyUnavailable(errors.New("connection refused")), status: 503},
		"upstream": {request: request{method: "GET", path: "/api/emails/" + emailID},
			fail:   &fault.Error{Kind: fault.Upstream, Code: fault.CodeUpstream, Message: "The resolver refused"},
			status: 502},
		"forbidden": {request: request{method: "POST", path: "/api/emails", body: simple},
			fail: fault.Forbiddenf(fault.CodeDomainNotVerified, "The domain example.com is not verified"), status: 403},
		"sandbox_recipient": {request: request{method: "POST", path: "/api/emails", body: simple},
			fail: fault.Forbiddenf(fault.CodeSandboxRecipient,
				"The sandbox sender may write only to the account email, not to bob@example.net; verify a domain of your own"), status: 403},
		"production_locked": {request: request{method: "POST", path: "/api/emails", body: simple},
			fail: fault.Forbiddenf(fault.CodeProductionLocked,
				"Until production is unlocked this account may write only to its own email, not to bob@example.net"),
			status: 403},
		"send_moving": {request: request{method: "POST", path: "/api/emails", body: simple},
			fail: accounts.Residence{Frozen: true}.Check(rights.Send), status: 503},
		"send_moved": {request: request{method: "POST", path: "/api/emails", body: simple},
			fail: accounts.Residence{MovedTo: "https://mail.example.com"}.ErrMoved(), status: 409},
		"send_suspended": {request: request{method: "POST", path: "/api/emails", body: simple}, fail: accounts.ErrSuspended(), status: 403},
		"conflict_details": {request: request{method: "POST", path: "/api/emails", body: simple},
			fail: fault.Conflictf(fault.CodeConflict, "No").With("status", "sent"), status: 409},
		"invalid_json":     {request: request{method: "POST", path: "/api/emails", body: "{\n \"from\": nope}"}, status: 400},
		"trailing":         {request: request{method: "POST", path: "/api/emails", body: simple + "x"}, status: 400},
		"empty_body":       {request: request{method: "POST", path: "/api/emails", body: " "}, status: 400},
		"not_an_object":    {request: request{method: "POST", path: "/api/emails", body: "[]"}, status: 400},
		"empty_object":     {request: request{method: "POST", path: "/api/emails", body: "{}"}, status: 400},
		"wrong_everywhere": {request: request{method: "POST", path: "/api/emails", body: wrongEverywhere}, status: 400},
		"aliases_twice": {request: request{method: "POST", path: "/api/emails",
			body: `{"from":"a@example.com","to":"b@example.com","subject":"x","html":"a","htmlBody":"b","text":"c","text":"d","reply_to":"a@b.c","replyTo":"a@b.c"}`}, status: 400},
		"later": {request: request{method: "POST", path: "/api/emails",
			body: `{"from":"a@example.com","to":"b@example.com","subject":"x","text":"c","scheduledAt":"2026-01-01T00:00:00Z","template":{},"category":"news","unsubscribe":true}`}, status: 400},
		"near_names": {request: request{method: "POST", path: "/api/emails",
			body: `{"from":"a@example.com","to":"b@example.com","subject":"x","text":"c","schedule_at":"2026-01-01T00:00:00Z","ReplyTo":"x","Subject":"y","zzz":1,"attachments":[{"name":"a.txt","data":"QQ==","mime":"x","file_name":"y"}]}`}, status: 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundleFor(t, c.request.path)
			b.sending.fail, b.domains.fail = c.fail, c.fail
			b.sending.page = page.Page[*ent.Email]{Items: nil, HasMore: true, NextCursor: "abc"}
			got := b.do(t, c.request)
			if got.status != c.status {
				t.Errorf("status %d, want %d: %s", got.status, c.status, got.body)
			}
			if contentType := got.header.Get("Content-Type"); contentType != "application/json" {
				t.Errorf("Content-Type %q", contentType)
			}
			if id := got.header.Get("X-Request-Id"); id != "req_test" {
				t.Errorf("X-Request-Id %q", id)
			}
			if retry := got.header.Get("Retry-After"); (retry != "") != (c.status == 503) {
				t.Errorf("Retry-After %q with %d", retry, c.status)
			}
			expect.Golden(t, "answers/"+name+".json", got.body)
		})
	}
}

const wrongEverywhere = `{"from":5,"to":["ok@example.com",null,{"email":7,"nam":"x"}],"cc":true,"bcc":{"name":"Only"},"subject":["x"],"html":{},"text":"ok",
 "tags":{"kind":1,"bad name":"x"},"headers":{"X-A":1,"Date":"now"},"reply_to":"not an address",
 "attachments":[{"name":"a.exe","data":"!!"},"x",{"filename":"b.txt","content":"QUJD","content_type":4}]}`

func TestUnauthorizedIsExactlyTheContract(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for _, authorization := range []string{"", "Bearer", "Bearer ", "Basic c3ZjX2Z1bGw=", "svc_full", "Bearer svc_x",
		"Bearer svc_full extra"} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", b.URL+"/api/emails", nil)
		if err != nil {
			t.Fatal(err)
		}
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		if got := send(t, r); got.status != 401 || got.body != `{"error":{"message":"Unauthorized"}}` {
			t.Errorf("the credential %q got %d %q, want 401 Unauthorized", authorization, got.status, got.body)
		}
	}
	if got := b.do(t, request{method: "GET", path: "/api/emails", key: "-",
		header: map[string]string{"Authorization": "bearer svc_full"}}); got.status != 200 {
		t.Errorf("the scheme is case-insensitive: %d", got.status)
	}
}

func TestEveryAnswerHasARequestID(t *testing.T) {
	t.Parallel()
	var handler http.Handler
	newBundle(t, func(o *api.Options) {
		made, err := api.New(*o)
		if err != nil {
			t.Fatal(err)
		}
		handler = made
	})
	seen := map[string]bool{}
	for _, path := range []string{"/api/emails", "/api/nothing", "/api/openapi.json"} {
		w := httptest.NewRecorder()
		r, err := http.NewRequestWithContext(t.Context(), "GET", path, nil)
		if err != nil {
			t.Fatal(err)
		}
		handler.ServeHTTP(w, r)
		id := w.Header().Get("X-Request-Id")
		if !strings.HasPrefix(id, "req_") || seen[id] {
			t.Errorf("%s: request id %q", path, id)
		}
		seen[id] = true
	}
}

func TestOptionsAndHead(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	options := b.do(t, request{method: "OPTIONS", path: "/api/emails", key: "-"})
	if options.status != 204 || options.header.Get("Allow") != "GET, HEAD, POST, OPTIONS" {
		t.Errorf("OPTIONS: %d, Allow %q", options.status, options.header.Get("Allow"))
	}
	if cors := options.header.Get("Access-Control-Allow-Origin"); cors != "" {
		t.Errorf("CORS is on: %q", cors)
	}
	if head := b.do(t, request{method: "HEAD", path: "/api/emails/" + emailID}); head.status != 200 || head.body != "" {
		t.Errorf("HEAD: %d %q", head.status, head.body)
	}
	if head := b.do(t, request{method: "HEAD", path: "/api/emails/" + emailID, key: "-"}); head.status != 401 {
		t.Errorf("HEAD without a key: %d", head.status)
	}
}

func TestModulesThatAreOffAreAbsent(t *testing.T) {
	t.Parallel()
	b := newBundle(t, func(o *api.Options) { o.Routes = o.Routes[:1] })
	if got := b.do(t, request{method: "GET", path: "/api/domains"}); got.status != 404 {
		t.Errorf("domains are off: %d", got.status)
	}
	if got := b.do(t, request{method: "GET", path: "/api/openapi.json"}); strings.Contains(got.body, "omain\":") ||
		strings.Contains(got.body, "/domains") {
		t.Error("domains are off and in the OpenAPI document")
	}
}

func TestRateLimitHeadersAndRefusal(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	get := request{method: "GET", path: "/api/emails"}
	got := b.do(t, get)
	for name, want := range map[string]string{"ratelimit-limit": "20", "ratelimit-remaining": "20",
		"ratelimit-reset": "0"} {
		if v := got.header.Get(name); v != want {
			t.Errorf("unmetered: %s %q, want %q", name, v, want)
		}
	}
	metered := newBundle(t)
	metered.limits.unmetered, metered.limits.perSecond = false, 1
	for i, want := range []string{"1", "0"} {
		got := metered.do(t, get)
		if got.status != 200 || got.header.Get("ratelimit-limit") != "2" ||
			got.header.Get("ratelimit-remaining") != want {
			t.Errorf("request %d: %d, %v", i, got.status, got.header)
		}
	}
	refused := metered.do(t, get)
	if refused.status != 429 || refused.header.Get("Retry-After") != "1" ||
		refused.header.Get("ratelimit-remaining") != "0" {
		t.Errorf("over the limit: %d, %v", refused.status, refused.header)
	}
	expect.Golden(t, "answers/rate_limit.json", refused.body)
}

func TestIdempotentReplay(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	q := request{method: "POST", path: "/api/domains", body: `{"name":"example.com"}`,
		header: map[string]string{"Idempotency-Key": "k1"}}
	first := b.do(t, q)
	second := b.do(t, q)
	if first.status != 200 || second.status != 200 || first.body != second.body {
		t.Errorf("replay differs:\n%d %s\n%d %s", first.status, first.body, second.status, second.body)
	}
	if first.header.Get("Idempotent-Replayed") != "" || second.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("Idempotent-Replayed: %q then %q", first.header.Get("Idempotent-Replayed"),
			second.header.Get("Idempotent-Replayed"))
	}
	q.body = `{ "name" : "example.com" }`
	if spaced := b.do(t, q); spaced.body != first.body || spaced.header.Get("Idempotent-Replayed") != "true" {
		t.Error("white space makes another body")
	}
	q.body = `{"name":"example.org"}`
	other := b.do(t, q)
	if other.status != 409 {
		t.Errorf("another body: %d %s", other.status, other.body)
	}
	expect.Golden(t, "answers/idempotency_conflict.json", other.body)
}

// A refused request has no effect. The same request with the same key is processed again, and so is a different one:
// the domain may have been verified in the meantime, and a job with a fixed key must then be able to send.
func TestARefusalIsNotKeptUnderItsKey(t *testing.T) {
	t.Parallel()
	q := request{method: "POST", path: "/api/emails", body: simple, header: map[string]string{"Idempotency-Key": "k1"}}
	for name, refusal := range map[string]error{
		"403": fault.Forbiddenf(fault.CodeDomainNotVerified, "No verified domain"),
		"409": idempotency.InProgress(),
		"429": &fault.Error{Kind: fault.Limit, Code: fault.CodePlanLimit},
		"503": fault.DatabaseUnavailable(io.EOF),
	} {
		b := newBundle(t)
		b.sending.fail = refusal
		if got := b.do(t, q); fmt.Sprint(got.status) != name {
			t.Errorf("the refusal was answered %d %s, want %s", got.status, got.body, name)
		}
		b.sending.fail = nil
		if got := b.do(t, q); got.status != 200 || got.header.Get("Idempotent-Replayed") != "" {
			t.Errorf("after a %s the same request was answered %d %s, want 200 and no replay", name,
				got.status, got.body)
		}
	}
	b := newBundle(t)
	if got := b.do(t, request{method: "POST", path: "/api/emails", body: `{"from":"nobody"}`,
		header: q.header}); got.status != 400 {
		t.Fatalf("a bad body was answered %d %s, want 400", got.status, got.body)
	}
	if got := b.do(t, q); got.status != 200 {
		t.Errorf("after a 400 the corrected body under the same key was answered %d %s, want 200", got.status, got.body)
	}
}

// Of two identical requests, the slower one can be refused because of the effect of the faster one. It returns the
// response of the faster one.
func TestARefusalGivesWayToAnEqualRequestThatWasFaster(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.sending.fail = fault.Conflictf(fault.CodeConflict, "It is there already")
	b.store.winner = &idempotency.Response{Status: 200, Body: []byte(`{"id":"msg_first"}`)}
	got := b.do(t, request{method: "POST", path: "/api/emails", body: simple,
		header: map[string]string{"Idempotency-Key": "k"}})
	if got.status != 200 || got.body != `{"id":"msg_first"}` || got.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the slower of two equal requests was answered %d %s, want the answer of the faster",
			got.status, got.body)
	}
}

func TestFirstRequestOfAKeyIsStillRunning(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.store.busy = true
	got := b.do(t, request{method: "POST", path: "/api/domains", body: `{"name":"example.com"}`,
		header: map[string]string{"Idempotency-Key": "k"}})
	if got.status != 409 || len(b.domains.added) != 0 {
		t.Errorf("%d %s, added %v", got.status, got.body, b.domains.added)
	}
	expect.Golden(t, "answers/idempotency_in_progress.json", got.body)
}

func TestDomainIsAddedOncePerKey(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	q := request{method: "POST", path: "/api/domains", body: `{"name":"example.com"}`,
		header: map[string]string{"Idempotency-Key": "k"}}
	first, second := b.do(t, q), b.do(t, q)
	if first.body != second.body || second.header.Get("Idempotent-Replayed") != "true" || len(b.domains.added) != 1 {
		t.Errorf("added %d times; %q then %q", len(b.domains.added), first.body, second.body)
	}
}

// The record in a list has the same content as the record of the single resource.
func TestEmailListShowsTheSameRecord(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.sending.page.Items = append(b.sending.page.Items, sampleEmail())
	one := b.do(t, request{method: "GET", path: "/api/emails/" + emailID})
	list := b.do(t, request{method: "GET", path: "/api/emails?limit=7&cursor=c"})
	record, more, _ := strings.Cut(strings.TrimPrefix(one.body, `{"email":`), `,"html":`)
	if record += "}"; !strings.Contains(more, `"recipients":[`) {
		t.Errorf("one email is answered %s, want its body and recipients after the fields of lists", one.body)
	}
	if want := fmt.Sprintf(`{"emails":[%s],"has_more":false,"next_cursor":null}`, record); list.body != want {
		t.Errorf("list %s\nwant %s", list.body, want)
	}
	if b.sending.list.Page.Limit != 7 || b.sending.list.Page.Cursor != "c" {
		t.Errorf("asked for %+v", b.sending.list)
	}
	if b.do(t, request{method: "GET", path: "/api/emails"}); b.sending.list.Page.Limit != 25 {
		t.Errorf("default limit %d", b.sending.list.Page.Limit)
	}
}
