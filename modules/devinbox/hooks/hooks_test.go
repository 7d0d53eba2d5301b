package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/web/webhooksig"
)

// signatures accepts the signatures of one endpoint, which an account has at any path.
type signatures struct{ accountID, secret string }

func (s signatures) SignedBy(_ context.Context, accountID, path, signature string, body []byte) (string, error) {
	if accountID != s.accountID {
		return "", fault.NoSuch("webhook", path)
	}
	return "wh_1", webhooksig.Verify(s.secret, signature, body, time.Now())
}

func newService(t *testing.T) *Service {
	t.Helper()
	box, err := secret.NewBox(secret.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	return New(Params{Config: Config{BaseURL: "http://127.0.0.1:8080"}, Box: box,
		Signatures: signatures{"acc_a", "whsec_a"}, Logger: slog.New(slog.DiscardHandler)})
}

// post sends a body to the receiver of an account.
func (s *Service) post(t *testing.T, accountID, body string, header http.Header) int {
	t.Helper()
	_, token, _ := strings.Cut(s.URL(accountID), accountID+"/")
	status, err := s.Receive(t.Context(), Received{AccountID: accountID, Token: token, Header: header,
		Body: []byte(body)})
	if err != nil {
		t.Fatalf("the receiver of %s rejected a request to its URL: %v", accountID, err)
	}
	return status
}

func (s *Service) list(t *testing.T, accountID string, q RequestQuery) ReceiverState {
	t.Helper()
	found, err := s.List(t.Context(), accountID, q)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func signed(secret, body string) http.Header {
	return http.Header{webhooksig.Header: {webhooksig.Sign([]string{secret}, time.Now(), []byte(body))},
		"Service-Event-Id": {"evt_1"}, "Service-Delivery-Attempt": {"2"},
		"Authorization": {"Bearer of a user"}}
}

func TestReceiverVerifiesSignatures(t *testing.T) {
	t.Parallel()
	s := newService(t)
	const body = `{"type":"email.delivered","data":{}}`
	old := http.Header{webhooksig.Header: {webhooksig.Sign([]string{"whsec_a"}, time.Now().Add(-time.Hour),
		[]byte(body))}}
	for _, test := range []struct {
		account, body string
		header        http.Header
		want          string // part of the reason for an invalid signature
	}{
		{"acc_a", body, signed("whsec_a", body), ""},
		{"acc_a", body, signed("whsec_b", body), "does not match this body"},
		{"acc_a", body + " ", signed("whsec_a", body), "does not match this body"},
		{"acc_a", body, http.Header{}, "is missing"},
		{"acc_a", body, http.Header{webhooksig.Header: {"v1=x"}}, "no time"},
		{"acc_a", body, old, "five minutes"},
		{"acc_b", body, signed("whsec_a", body), "No endpoint has this URL"},
	} {
		s.post(t, test.account, test.body, test.header)
		got := s.list(t, test.account, RequestQuery{Limit: 1}).Requests[0]
		if (got.Unsigned == "") != (test.want == "") || !strings.Contains(got.Unsigned, test.want) ||
			(got.WebhookID == "wh_1") != (test.want == "") {
			t.Errorf("for a request with the header %v, the endpoint is %q and the problem %q, want %q", test.header,
				got.WebhookID, got.Unsigned, test.want)
		}
	}
	first := s.list(t, "acc_a", RequestQuery{}).Requests[5]
	if first.EventType != "email.delivered" || first.EventID != "evt_1" || first.Attempt != 2 ||
		string(first.Body) != body {
		t.Errorf("the receiver stored %+v, want the event and the body of the request", first)
	}
	if said := fmt.Sprint(first.Header); strings.Contains(said, "somebody") ||
		!strings.Contains(said, webhooksig.Header) {
		t.Errorf("the receiver stored the header %s, want it complete except for credentials", said)
	}
}

// Accounts see and clear only their own requests and set only their own response status. A guessed URL
// belongs to no account.
func TestReceiversAreIsolatedByAccount(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.post(t, "acc_a", "of a", nil)
	s.post(t, "acc_b", "of b", nil)
	if err := s.AnswerWith("acc_a", http.StatusInternalServerError); err != nil {
		t.Fatal(err)
	}
	if got := s.post(t, "acc_a", "of a", nil); got != http.StatusInternalServerError {
		t.Errorf("the receiver of a responded with %d, want the configured 500", got)
	}
	if got := s.post(t, "acc_b", "of b", nil); got != http.StatusOK {
		t.Errorf("the receiver of b responded with %d, want 200, because only a configured another status", got)
	}
	s.Clear("acc_a")
	if of := s.list(t, "acc_a", RequestQuery{}); len(of.Requests) != 0 || of.Answer != http.StatusInternalServerError {
		t.Errorf("after clearing its requests, a sees %+v", of)
	}
	of := s.list(t, "acc_b", RequestQuery{})
	if len(of.Requests) != 2 || of.Answer != http.StatusOK {
		t.Errorf("b sees %d requests and the status %d, want its two and 200", len(of.Requests), of.Answer)
	}
	for _, r := range of.Requests {
		if string(r.Body) != "of b" {
			t.Errorf("b sees the body %q", r.Body)
		}
	}
	for _, token := range []string{"", "x", strings.TrimPrefix(s.URL("acc_b"), s.config.BaseURL+Path+"/acc_b/")} {
		if _, err := s.Receive(t.Context(),
			Received{AccountID: "acc_a", Token: token}); fault.KindOf(err) != fault.NotFound {
			t.Errorf("a request with the token %q returned %v, want NotFound", token, err)
		}
	}
	if s.URL("acc_a") == s.URL("acc_b") || newService(t).URL("acc_a") == s.URL("acc_a") {
		t.Error("two accounts, or two installations, have the same receiver")
	}
}

func TestOldRequestsAreEvicted(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.post(t, "acc_b", "the first", nil)
	for i := range Keep + 5 {
		s.post(t, "acc_a", fmt.Sprint(i), nil)
	}
	of := s.list(t, "acc_a", RequestQuery{Limit: MaxLimit})
	if len(of.Requests) != Keep || string(of.Requests[0].Body) != fmt.Sprint(Keep+4) ||
		string(of.Requests[Keep-1].Body) != "5" {
		t.Errorf("after %d requests, %d are held, want the newest %d", Keep+5, len(of.Requests), Keep)
	}
	if got := s.list(t, "acc_b", RequestQuery{}); len(got.Requests) != 1 {
		t.Errorf("many requests of an account evicted those of another: %d of 1 remain", len(got.Requests))
	}
	large := string(bytes.Repeat([]byte("x"), MaxBody))
	for range 2 * maxHeld / MaxBody {
		s.post(t, "acc_b", large, nil)
	}
	weight := 0
	for _, r := range s.held.list {
		weight += r.weight()
	}
	if weight != s.held.weight || weight > maxHeld {
		t.Errorf("the held requests have %d bytes, counted as %d; want at most %d", weight,
			s.held.weight, maxHeld)
	}
}

func TestWaitersSeeTheNextRequest(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.post(t, "acc_a", `{"type":"email.sent"}`, nil)
	after := s.list(t, "acc_a", RequestQuery{}).Requests[0].Number
	found := make(chan ReceiverState, 1)
	go func() {
		got, err := s.List(context.WithoutCancel(t.Context()), "acc_a",
			RequestQuery{After: after, Type: "email.bounced", Wait: MaxWait})
		if err != nil {
			t.Errorf("the wait returned %v", err)
		}
		found <- got
	}()
	s.post(t, "acc_b", `{"type":"email.bounced"}`, nil)
	s.post(t, "acc_a", `{"type":"email.delivered"}`, nil)
	s.post(t, "acc_a", `{"type":"email.bounced"}`, nil)
	if got := <-found; len(got.Requests) != 1 || got.Requests[0].EventType != "email.bounced" ||
		got.Requests[0].AccountID != "acc_a" {
		t.Errorf("waiting for email.bounced returned %+v", got.Requests)
	}
	if got := s.list(t, "acc_a", RequestQuery{Limit: 1}); !got.HasMore {
		t.Error("a page with one of three requests has no more")
	}
	s.Drain()
	if _, err := s.List(t.Context(), "acc_a",
		RequestQuery{After: 1000, Wait: MaxWait}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("waiting during a stop returned %v, want Unavailable", err)
	}
}

func TestInvalidRequestQueryReportsFields(t *testing.T) {
	t.Parallel()
	s := newService(t)
	_, err := s.List(t.Context(), "acc_a", RequestQuery{After: -1, Limit: MaxLimit + 1, Wait: -time.Second,
		Type: "a\nb"})
	var wrong *fault.Error
	if !errors.As(err, &wrong) || len(wrong.Fields) != 4 {
		t.Errorf("four invalid fields returned %v", err)
	}
	for _, status := range []int{0, 100, 199, 301, 600} {
		if err := s.AnswerWith("acc_a", status); fault.KindOf(err) != fault.Invalid {
			t.Errorf("the status %d returned %v, want Invalid", status, err)
		}
	}
}
