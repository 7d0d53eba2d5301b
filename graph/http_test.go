package graph

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/graph/limits"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/fault"
)

const unauthorized = `{"error":{"message":"Unauthorized"},"errors":[{"message":"Unauthorized"}]}`

func TestRequestsWithoutAUsableKeyAreUnauthorized(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1})
	for _, credential := range []string{"", "Bearer", "Bearer ", "Bearer wrong", "Basic svc_full", "svc_full",
		"Bearer svc_full svc_full", "Bearersvc_full"} {
		r := request(t, s.url, "", `{"query":"{ __typename }"}`)
		r.Header.Set("Authorization", credential)
		a := s.send(t, r)
		if a.status != 401 || a.body != unauthorized || a.header.Get("Content-Type") != "application/json" ||
			a.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("the credential %q got %d %s with header %v, want 401 %s as JSON with WWW-Authenticate: Bearer",
				credential, a.status, a.body, a.header, unauthorized)
		}
	}
	r := request(t, s.url, "", `{"query":"{ __typename }"}`)
	r.Header.Set("Authorization", "bearer  svc_full")
	if a := s.send(t, r); a.body != `{"data":{"__typename":"Query"}}` {
		t.Errorf("lower-case scheme: %d %s", a.status, a.body)
	}
}

func TestAuthenticationFaultsKeepTheirMeaning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		status int
		want   string
	}{
		{fault.Forbiddenf(fault.CodeAccountSuspended, "This account is suspended"), 403,
			`{"error":{"message":"This account is suspended","code":"account_suspended"},"errors":[` +
				`{"message":"This account is suspended","extensions":{"code":"account_suspended"}}]}`},
		{fault.DatabaseUnavailable(errors.New("dial tcp 10.0.0.5: refused")), 503,
			`{"error":{"message":"The data is temporarily unavailable. Try again.","code":"delivery_unavailable"},"errors":[` +
				`{"message":"The data is temporarily unavailable. Try again.","extensions":{"code":"delivery_unavailable"}}]}`},
		{errors.New("column hash does not exist"), 500, `{"error":{"message":"Internal error"},"errors":[{"message":"Internal error"}]}`},
	} {
		s := newServer(t, setup{auth: fakeAuth{err: c.err}})
		a := s.ask(t, `{ __typename }`, nil)
		if a.status != c.status || a.body != c.want {
			t.Errorf("authentication that fails with %v got %d %s, want %d %s", c.err, a.status, a.body,
				c.status, c.want)
		}
		if wait := a.header.Get("Retry-After"); (wait != "") != (c.status == 503) {
			t.Errorf("%v: Retry-After %q", c.err, wait)
		}
	}
}

// oneThenNone admits one request and refuses the next.
type oneThenNone struct{ used atomic.Bool }

func (l *oneThenNone) Admit(_ context.Context, account accounts.Account, header http.Header) error {
	header.Set("ratelimit-limit", strconv.Itoa(account.Plan.RequestsPerSecond))
	if l.used.Swap(true) {
		return &fault.Error{Kind: fault.Limit, Code: fault.CodeRateLimit, RetryAfter: 1100 * time.Millisecond,
			Message: "Slow down"}
	}
	return nil
}

func TestRequestsOverTheRateAreRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{rate: &oneThenNone{}})
	if a := s.ask(t, `{ __typename }`, nil); a.status != 200 || a.header.Get("ratelimit-limit") != "10" {
		t.Errorf("first: %d %v %s", a.status, a.header, a.body)
	}
	a := s.ask(t, `{ __typename }`, nil)
	if a.status != 429 || a.header.Get("Retry-After") != "2" || a.header.Get("ratelimit-limit") != "10" ||
		a.body != `{"error":{"message":"Slow down","code":"rate_limit_exceeded"},"errors":[`+
			`{"message":"Slow down","extensions":{"code":"rate_limit_exceeded"}}]}` {
		t.Errorf("second: %d %v %s", a.status, a.header, a.body)
	}
}

func TestTwoCredentialsAreNone(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	r := request(t, s.url, "svc_full", `{"query":"{ __typename }"}`)
	r.Header.Add("Authorization", "Bearer svc_bob")
	if a := s.send(t, r); a.status != 401 || a.body != unauthorized {
		t.Errorf("a request with two credentials got %d %s, want 401 %s", a.status, a.body, unauthorized)
	}
}

func TestOtherMethodsAreRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodPatch} {
		r := request(t, s.url+"?query={__typename}", "svc_full", "")
		r.Method = method
		a := s.send(t, r)
		if a.status != 405 || a.header.Get("Allow") != "GET, POST" ||
			!strings.Contains(a.body, `"code":"method_not_allowed"`) {
			t.Errorf("a %s request got %d %s, want 405 with Allow: GET, POST and method_not_allowed", method,
				a.status, a.body)
		}
	}
}

func TestMediaTypesAreJSON(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	for _, media := range []string{"", "text/plain", "application/graphql", "multipart/form-data; boundary=x",
		"application/x-www-form-urlencoded", ";"} {
		r := request(t, s.url, "svc_full", `{"query":"{ __typename }"}`)
		r.Header.Set("Content-Type", media)
		if a := s.send(t, r); a.status != 415 || !strings.Contains(a.body, `"code":"unsupported_media_type"`) {
			t.Errorf("the media type %q got %d %s, want 415 unsupported_media_type", media, a.status, a.body)
		}
	}
	for coding, status := range map[string]int{"gzip": 415, "br": 415, "identity": 200} {
		r := request(t, s.url, "svc_full", `{"query":"{ __typename }"}`)
		r.Header.Set("Content-Encoding", coding)
		if a := s.send(t, r); a.status != status {
			t.Errorf("the content encoding %q got %d %s, want %d", coding, a.status, a.body, status)
		}
	}
	r := request(t, s.url, "svc_full", `{"query":"{ __typename }"}`)
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	r.Header.Set("Accept", "application/graphql-response+json, application/json;q=0.9")
	if a := s.send(t, r); a.status != 200 || a.header.Get("Content-Type") != "application/graphql-response+json" {
		t.Errorf("a request that accepts graphql-response+json got %d with header %v, want 200 with that media type",
			a.status, a.header)
	}
}

func TestBodiesThatAreNoRequestAreRefusedWithoutAnEcho(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	for body, message := range map[string]string{
		``:                                      "The body must be one JSON object with the member query",
		`hunter2`:                               "The body must be one JSON object with the member query",
		`{"query":"hunter2`:                     "The body must be one JSON object with the member query",
		`null`:                                  "The body must be one JSON object with the member query",
		`"hunter2"`:                             "The body must be one JSON object with the member query",
		`{"query":"{ __typename }"} hunter2`:    "The body must be one JSON object with the member query",
		`[{"query":"{ __typename }"}]`:          "Batches are not supported: send one request at a time",
		` [] `:                                  "Batches are not supported: send one request at a time",
		`{}`:                                    `The member "query" of the request is missing`,
		`{"query":null}`:                        `The member "query" of the request is missing`,
		`{"query":{"hunter2":1}}`:               `The member "query" of the request has the wrong type`,
		`{"query":"{a}","variables":"hunter2"}`: `The member "variables" of the request has the wrong type`,
		`{"query":"{a}","variables":[1]}`:       `The member "variables" of the request has the wrong type`,
		`{"query":"{a}","operationName":7}`:     `The member "operationName" of the request has the wrong type`,
	} {
		a := s.send(t, request(t, s.url, "svc_full", body))
		if a.status != 400 || a.message() != message || a.codes() != "validation_error" {
			t.Errorf("the body %s got %d %s, want 400 validation_error that says %q", body, a.status, a.body, message)
		}
		if strings.Contains(a.body, "hunter2") {
			t.Errorf("%s: the answer echoes the body: %s", body, a.body)
		}
	}
	if strings.Contains(s.log.String(), "hunter2") {
		t.Errorf("the log echoes the body: %s", s.log)
	}
}

func TestLargeBodiesAreRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	of := func(size int) string {
		frame := `{"query":"{ __typename }","variables":{"x":""}}`
		return strings.Replace(frame, `""`, `"`+strings.Repeat("x", size-len(frame))+`"`, 1)
	}
	if a := s.send(t, request(t, s.url, "svc_full", of(limits.Body))); a.status != 200 {
		t.Errorf("at the limit: %d %s", a.status, a.body)
	}
	if a := s.send(t, request(t, s.url, "svc_full", of(limits.Body+1))); a.status != 413 ||
		!strings.Contains(a.body, `"code":"payload_too_large"`) {
		t.Errorf("over the limit: %d %s", a.status, a.body)
	}
}

func TestOperationsAreChosenByName(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	const two = `"query":"query A { a: __typename } query B { b: __typename }"`
	if a := s.send(t, request(t, s.url, "svc_full", `{`+two+
		`,"operationName":"B"}`)); a.body != `{"data":{"b":"Query"}}` {
		t.Errorf("operation B of two got %s, want the data of B alone", a.body)
	}
	const unsaid = "The request has 2 operations: set operationName to the one to run"
	for name, message := range map[string]string{`"C"`: "operation C not found", `null`: unsaid, `""`: unsaid} {
		a := s.send(t, request(t, s.url, "svc_full", `{`+two+`,"operationName":`+name+`}`))
		if a.status != 400 || a.codes() != "validation_error" || a.message() != message {
			t.Errorf("the operation name %s of two got %d %s, want 400 validation_error with %q", name, a.status,
				a.body, message)
		}
	}
}

func TestItSendsNothingAndStreamsNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	for _, query := range []string{`mutation { send { id } }`, `subscription { emails { id } }`} {
		if a := s.ask(t, query, nil); a.status != 400 || a.codes() != "validation_error" {
			t.Errorf("%s got %d %s, want 400 validation_error", query, a.status, a.body)
		}
	}
}
