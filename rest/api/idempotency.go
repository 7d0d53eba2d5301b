package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// Idempotency stores responses by the caller's Idempotency-Key.
type Idempotency interface {
	Begin(ctx context.Context, accountID, operation, key string,
		canonicalBody []byte) (*idempotency.Claim, *idempotency.Response, error)
	Lookup(ctx context.Context, claim *idempotency.Claim) (*idempotency.Response, error)
	Keep(ctx context.Context, tx idempotency.Execer, claim *idempotency.Claim, answer idempotency.Response) error
	Replay(ctx context.Context, claim *idempotency.Claim) (*idempotency.Response, error)
	Record(ctx context.Context, claim *idempotency.Claim, answer idempotency.Response) (idempotency.Response, error)
}

var _ Idempotency = (*idempotency.Store)(nil)

// stored is a response whose bytes are stored, so that a replay is identical byte for byte.
type stored struct {
	Status      int
	ContentType string `header:"Content-Type" hidden:"true"`
	Replayed    string `header:"Idempotent-Replayed"`
	Body        []byte
}

func storedAnswer(a idempotency.Response) *stored {
	s := &stored{Status: a.Status, ContentType: jsonType, Body: a.Body}
	if a.Replayed {
		s.Replayed = "true"
	}
	return s
}

// idempotencyKey returns the header, or "". The store validates its format.
func idempotencyKey(header http.Header) (string, error) {
	values := header.Values(idempotency.Header)
	switch {
	case len(values) == 0:
		return "", nil
	case len(values) > 1 || values[0] == "":
		return "", fault.InvalidField(idempotency.Header, "must be a single key of 1 to 255 printable ASCII "+
			"characters")
	default:
		return values[0], nil
	}
}

// keeper stores responses, and encrypts those that contain a secret.
type keeper struct {
	Idempotency

	box Sealer
}

func (k keeper) storeFor(c *Call, secret bool) Idempotency {
	if secret {
		return sealAnswers(k, c)
	}
	return k.Idempotency
}

// replay returns the response of the first request with the key.
func (c *Call) replay(ctx context.Context, store Idempotency, claim *idempotency.Claim) (*stored, error) {
	winner, err := store.Replay(ctx, claim)
	if err != nil {
		return nil, c.Fail(ctx, err)
	}
	winner.Replayed = true
	return storedAnswer(*winner), nil
}

// runOnce runs an operation, or replays the response of an earlier request with the same key. run stores a
// successful response under the claim, in the transaction of its effect. Errors are not stored. If an identical
// request was faster and succeeded, its response replaces the error, because it may have caused the error.
func (c *Call) runOnce(ctx context.Context, store Idempotency, form *idempotency.Form,
	run func(*idempotency.Claim) (idempotency.Response, error)) (*stored, error) {
	claim, earlier, err := c.claimKey(ctx, store, form)
	if err != nil {
		return nil, c.Fail(ctx, err)
	}
	if earlier != nil {
		earlier.Replayed = true
		return storedAnswer(*earlier), nil
	}
	answer, err := run(claim)
	if errors.Is(err, idempotency.ErrTaken) {
		return c.replay(ctx, store, claim)
	}
	if err == nil {
		return storedAnswer(answer), nil
	}
	refusal := c.Fail(ctx, err)
	if claim == nil || refusal.Status >= http.StatusInternalServerError ||
		refusal.Status == http.StatusTooManyRequests {
		return nil, refusal
	}
	winner, err := store.Lookup(ctx, claim)
	switch {
	case err != nil:
		return nil, c.Fail(ctx, err)
	case winner == nil:
		return nil, refusal
	}
	winner.Replayed = true
	return storedAnswer(*winner), nil
}

// claimKey claims the key of the call, if it has one, or returns the response that is stored under it. A missing body
// equals an empty one.
func (c *Call) claimKey(ctx context.Context, store Idempotency,
	form *idempotency.Form) (*idempotency.Claim, *idempotency.Response, error) {
	if c.idempotencyKey == "" {
		return nil, nil, nil
	}
	given := c.body
	if compared, is := ctx.Value(comparedKey{}).([]byte); is {
		given = compared
	}
	if len(given) == 0 {
		given = []byte("{}")
	}
	canonical, err := idempotency.CanonicalBody(given, form)
	if err != nil {
		return nil, nil, fault.Invalidf("The body is not valid JSON").WithCause(err)
	}
	return store.Begin(ctx, cmp.Or(c.AccountID, c.Caller.ID()), c.operation, c.idempotencyKey, canonical)
}

type comparedKey struct{}

// WithComparedBody returns a context in which another JSON body is compared for the Idempotency-Key of the
// request. An edge that translates requests needs it if the translation depends on the time.
func WithComparedBody(ctx context.Context, body []byte) context.Context {
	return context.WithValue(ctx, comparedKey{}, body)
}

// EncodeAnswer returns the successful response of an operation, to be stored under its key.
func EncodeAnswer(of any) (idempotency.Response, error) {
	encoded, err := wire.Marshal(of)
	return idempotency.Response{Status: http.StatusOK, Body: encoded}, err
}

// Record stores the response of work that happens outside of any transaction, and returns the response that is stored.
func (c *Call) Record(ctx context.Context, claim *idempotency.Claim, of any) (idempotency.Response, error) {
	answer, err := EncodeAnswer(of)
	if err != nil || claim == nil {
		return answer, err
	}
	return c.api.answers.Record(ctx, claim, answer)
}
