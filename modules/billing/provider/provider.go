package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/stripe/stripe-go/v86"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
)

// timeout is how long one exchange may take.
const timeout = 5 * time.Second

// PlanKey is the name of a product's metadata that says which plan it is.
const PlanKey = "postrider_plan"

// Client asks Stripe. Safe for concurrent use.
type Client struct{ stripe *stripe.Client }

// New makes a client. Nothing is dialled yet.
func New(key secret.String, url string) *Client {
	client := &http.Client{Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	backend := stripe.GetBackendWithConfig(stripe.APIBackend, &stripe.BackendConfig{
		HTTPClient: client, URL: stripe.String(url), MaxNetworkRetries: stripe.Int64(0), EnableTelemetry: new(false),
		LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
	})
	return &Client{stripe.NewClient(key.Reveal(), stripe.WithBackends(&stripe.Backends{API: backend, Connect: backend, Uploads: backend, MeterEvents: backend}))}
}

// Kind says what an error of Stripe means.
type Kind int

// The kinds.
const (
	Away    Kind = iota // not reached, too slow, busy, or broken: try again
	Refused             // the key is not accepted, or may not
	Missing             // there is no such object
	Wrong               // the request cannot succeed
)

// KindOf tells what an error of this package means.
func KindOf(err error) Kind {
	var said *stripe.Error
	if !errors.As(err, &said) {
		return Away
	}
	switch status := said.HTTPStatusCode; {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return Refused
	case status == http.StatusNotFound:
		return Missing
	case status == http.StatusTooManyRequests, status == http.StatusConflict, status >= 500:
		return Away
	default:
		return Wrong
	}
}

// Words are what Stripe says of an error, for the log and the operator.
func Words(err error) string {
	var said *stripe.Error
	if errors.As(err, &said) {
		return fmt.Sprintf("%d %s %s %s", said.HTTPStatusCode, said.Type, said.Code, said.Msg)
	}
	return err.Error()
}

// Duplicate tells whether a meter event was refused because it was told before.
func Duplicate(err error) bool {
	var said *stripe.Error
	if !errors.As(err, &said) || said.HTTPStatusCode != http.StatusBadRequest {
		return false
	}
	return said.Code == "duplicate_meter_event" || alreadyTold.MatchString(said.Msg)
}

// Upstream is what a caller is told when Stripe did not do what was asked.
func Upstream(err error) error {
	if err == nil {
		return nil
	}
	f := &fault.Error{Kind: fault.Upstream, Code: fault.CodeUpstream, Message: "The payment provider does not answer; nothing was changed here. Try again"}
	if kind := KindOf(err); kind == Wrong || kind == Missing {
		f.Message = "The payment provider has refused: " + Words(err)
	}
	return f.Because(err)
}

func at(unix int64) *time.Time {
	if unix == 0 {
		return nil
	}
	t := time.Unix(unix, 0).UTC()
	return &t
}

// once gives parameters of a write that is done once for a key, however often it is sent.
func once(key string) stripe.Params { return stripe.Params{IdempotencyKey: stripe.String(key)} }

// all collects every page of a list.
func all[T, R any](ctx context.Context, list *stripe.V1List[T], as func(T) R) (out []R, err error) {
	for one, err := range list.All(ctx) {
		if err != nil {
			return nil, err
		}
		out = append(out, as(one))
	}
	return out, nil
}
