package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/web/webhooksig"
)

// Keep is the maximum number of requests held per account; maxHeld is the maximum number of bytes for all
// accounts.
const (
	Keep    = 100
	maxHeld = 16 << 20
)

// overhead is a generous estimate of a request's size without its body and header.
const overhead = 1 << 10

// CapturedRequest is one incoming request. It is immutable once stored.
type CapturedRequest struct {
	Number     int64 // from 1, in the order of arrival
	AccountID  string
	ReceivedAt time.Time
	Header     []HeaderField // name of the header field
	Body       []byte
	EventID    string
	EventType  string
	Attempt    int    // 0 if the request does not contain it
	WebhookID  string // endpoint whose secret signed it; empty if unsigned or invalid
	Unsigned   string // why the signature is invalid; empty if it is valid
	Status     int    // status of our response
}

// HeaderField is a header field.
type HeaderField struct{ Name, Value string }

// secretFields may contain credentials of people who call the receiver manually; webhooks contain none of
// them.
var secretFields = []string{"Authorization", "Cookie", "Proxy-Authorization"}

func newRequest(in Received, now time.Time) *CapturedRequest {
	r := &CapturedRequest{AccountID: in.AccountID, ReceivedAt: now, Body: in.Body,
		EventID: in.Header.Get("Service-Event-Id")}
	r.Attempt, _ = strconv.Atoi(in.Header.Get("Service-Delivery-Attempt")) // 0 if it is not a number
	var event struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(in.Body, &event); err == nil {
		r.EventType = event.Type
	}
	for _, name := range slices.Sorted(maps.Keys(in.Header)) {
		if slices.Contains(secretFields, name) {
			continue
		}
		for _, value := range in.Header[name] {
			r.Header = append(r.Header, HeaderField{name, strings.ToValidUTF8(value, "\uFFFD")})
		}
	}
	return r
}

// signer returns the endpoint whose secret signed a request, or the reason why there is none.
func (s *Service) signer(ctx context.Context, in Received) (webhookID, unsigned string) {
	signature := in.Header.Get(webhooksig.Header)
	switch {
	case signature == "":
		return "", "The header " + webhooksig.Header + " is missing"
	case s.signatures == nil:
		return "", "Webhooks are disabled, so there is no secret to verify the signature with"
	}
	webhookID, err := s.signatures.SignedBy(ctx, in.AccountID, pathOf(in.AccountID, in.Token), signature, in.Body)
	switch {
	case err == nil:
		return webhookID, ""
	case errors.Is(err, webhooksig.ErrMalformed):
		return "", "The header " + webhooksig.Header + " has no time or no v1 signature"
	case errors.Is(err, webhooksig.ErrTime):
		return "", "The signature's time is more than five minutes from now"
	case errors.Is(err, webhooksig.ErrMismatch):
		return "", "The signature does not match this body and the secret of the endpoint"
	case fault.KindOf(err) == fault.NotFound:
		return "", "No endpoint has this URL, so there is no secret to verify the signature with"
	}
	s.log.ErrorContext(ctx, "cannot verify the signature of a webhook", telemetry.KeyError, err)
	return "", "The signature cannot be verified at the moment"
}

// weight returns a request's share of maxHeld.
func (r *CapturedRequest) weight() int {
	n := overhead + len(r.Body)
	for _, f := range r.Header {
		n += len(f.Name) + len(f.Value)
	}
	return n
}

// held is a list of requests, oldest first. The zero value is empty.
type held struct {
	list   []*CapturedRequest
	last   int64 // number of the newest request ever stored
	weight int
}

// add stores a request, and evicts the oldest of its account beyond Keep, and of all accounts beyond
// maxHeld.
func (h *held) add(r *CapturedRequest) {
	h.last++
	r.Number = h.last
	h.list = append(h.list, r)
	h.weight += r.weight()
	n := 0
	for _, one := range h.list {
		if one.AccountID == r.AccountID {
			n++
		}
	}
	h.drop(func(one *CapturedRequest) bool {
		over := one != r && (one.AccountID == r.AccountID && n > Keep || h.weight > maxHeld)
		if over && one.AccountID == r.AccountID {
			n--
		}
		return over
	})
}

// drop removes the requests for which forget returns true. It is called for each, oldest first.
func (h *held) drop(forget func(*CapturedRequest) bool) {
	h.list = slices.DeleteFunc(h.list, func(r *CapturedRequest) bool {
		if !forget(r) {
			return false
		}
		h.weight -= r.weight()
		return true
	})
}

func (h *held) newest() iter.Seq2[int, *CapturedRequest] { return slices.Backward(h.list) }
