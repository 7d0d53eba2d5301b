package provider

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/stripe/stripe-go/v86"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
)

// timeout limits one exchange.
const timeout = 5 * time.Second

// PlanKey is the metadata key that contains the plan of a product.
const PlanKey = "postrider_plan"

// Client calls Stripe. It is safe for concurrent use.
type Client struct {
	backend stripe.Backend
	key     secret.String
}

// New returns a new Client. It does not connect.
func New(key secret.String, url string) *Client {
	client := &http.Client{Timeout: timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	backend := stripe.GetBackendWithConfig(stripe.APIBackend, &stripe.BackendConfig{
		HTTPClient: client, URL: stripe.String(url), MaxNetworkRetries: stripe.Int64(0), EnableTelemetry: new(false),
		LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
	})
	return &Client{backend, key}
}

// ErrorKind classifies an error of Stripe.
type ErrorKind int

// The kinds of errors.
const (
	Unavailable ErrorKind = iota // unreachable, too slow, overloaded or broken: retry
	Refused                      // the key is rejected or lacks a permission
	Missing                      // the object does not exist
	Wrong                        // the request cannot succeed
)

// KindOf returns the kind of an error of this package.
func KindOf(err error) ErrorKind {
	var said *stripe.Error
	if !errors.As(err, &said) {
		return Unavailable
	}
	switch status := said.HTTPStatusCode; {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return Refused
	case status == http.StatusNotFound:
		return Missing
	case status == http.StatusTooManyRequests, status == http.StatusConflict, status >= 500:
		return Unavailable
	default:
		return Wrong
	}
}

// ErrorMessage returns Stripe's error message, for the log and the operator.
func ErrorMessage(err error) string {
	var said *stripe.Error
	if errors.As(err, &said) {
		return fmt.Sprintf("%d %s %s %s", said.HTTPStatusCode, said.Type, said.Code, said.Msg)
	}
	return err.Error()
}

// Duplicate reports whether Stripe rejected a meter event because it already has it.
func Duplicate(err error) bool {
	var said *stripe.Error
	if !errors.As(err, &said) || said.HTTPStatusCode != http.StatusBadRequest {
		return false
	}
	return said.Code == "duplicate_meter_event" || alreadyTold.MatchString(said.Msg)
}

// Upstream returns the error for a caller whose request Stripe did not execute.
func Upstream(err error) error {
	if err == nil {
		return nil
	}
	f := &fault.Error{Kind: fault.Upstream, Code: fault.CodeUpstream,
		Message: "The payment provider does not answer, and nothing was changed here. Try again."}
	if kind := KindOf(err); kind == Wrong || kind == Missing {
		f.Message = "The payment provider rejected the request: " + ErrorMessage(err)
	}
	return f.WithCause(err)
}

func timeOf(unix int64) *time.Time {
	if unix == 0 {
		return nil
	}
	t := time.Unix(unix, 0).UTC()
	return &t
}

// idempotentParams returns the parameters of a write that takes effect once per key, however often it is sent.
func idempotentParams(key string) stripe.Params {
	return stripe.Params{IdempotencyKey: stripe.String(key)}
}
