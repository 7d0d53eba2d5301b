package rest

import (
	"context"
	"errors"
	"net/http"

	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/idempotency"
)

// Idempotency remembers answers by the caller's Idempotency-Key.
type Idempotency interface {
	Begin(ctx context.Context, accountID, operation, key string, canonicalBody []byte) (*idempotency.Claim, *idempotency.Answer, error)
	Lookup(ctx context.Context, claim *idempotency.Claim) (*idempotency.Answer, error)
	Keep(ctx context.Context, tx idempotency.Execer, claim *idempotency.Claim, answer idempotency.Answer) error
	Replay(ctx context.Context, claim *idempotency.Claim) (*idempotency.Answer, error)
}

// IdempotencyRecorder also keeps the answers of work that shares no transaction with
// anything here.
type IdempotencyRecorder interface {
	Idempotency
	Record(ctx context.Context, claim *idempotency.Claim, answer idempotency.Answer) (idempotency.Answer, error)
}

var _ IdempotencyRecorder = (*idempotency.Store)(nil)

// stored is an answer whose bytes are kept, so that a replay is the same octet
// for octet.
type stored struct {
	Status      int
	ContentType string `header:"Content-Type" hidden:"true"`
	Replayed    string `header:"Idempotent-Replayed" doc:"\"true\" when this is the answer that an earlier request with the same Idempotency-Key got." enum:"true"`
	Body        []byte
}

func answered(a idempotency.Answer) *stored {
	s := &stored{Status: a.Status, ContentType: jsonType, Body: a.Body}
	if a.Replayed {
		s.Replayed = "true"
	}
	return s
}

// idempotencyKey reads the header; "" without one. The store checks its form.
func idempotencyKey(header http.Header) (string, error) {
	values := header.Values(idempotency.Header)
	switch {
	case len(values) == 0:
		return "", nil
	case len(values) > 1 || values[0] == "":
		return "", fault.InvalidField(idempotency.Header, "must be one key of 1 to 255 printable ASCII characters")
	default:
		return values[0], nil
	}
}

// replay gives the answer of the request that was first with the key.
func (a *API) replay(ctx context.Context, store Idempotency, c *call, claim *idempotency.Claim) (*stored, error) {
	winner, err := store.Replay(ctx, claim)
	if err != nil {
		return nil, a.fail(ctx, c.requestID, err)
	}
	winner.Replayed = true
	return answered(*winner), nil
}

// once runs an operation, or replays what an earlier request with the same key was
// answered. run keeps its success under the claim, in the transaction of its effect. A
// refusal is kept nowhere; it gives way to the success of an equal request that was
// faster, which may be why this one was refused.
func (a *API) once(ctx context.Context, store Idempotency, c *call, operation string,
	run func(*idempotency.Claim) (idempotency.Answer, error)) (*stored, error) {
	var claim *idempotency.Claim
	if c.idempotencyKey != "" {
		canonical, err := idempotency.Canonical(c.body)
		if err != nil {
			return nil, a.fail(ctx, c.requestID, fault.Invalidf("The body is not valid JSON").Because(err))
		}
		var earlier *idempotency.Answer
		if claim, earlier, err = store.Begin(ctx, c.AccountID, operation, c.idempotencyKey, canonical); err != nil {
			return nil, a.fail(ctx, c.requestID, err)
		}
		if earlier != nil {
			earlier.Replayed = true
			return answered(*earlier), nil
		}
	}
	answer, err := run(claim)
	if errors.Is(err, idempotency.ErrTaken) {
		return a.replay(ctx, store, c, claim)
	}
	if err == nil {
		return answered(answer), nil
	}
	refusal := a.fail(ctx, c.requestID, err)
	if claim == nil || refusal.status >= http.StatusInternalServerError || refusal.status == http.StatusTooManyRequests {
		return nil, refusal
	}
	winner, err := store.Lookup(ctx, claim)
	switch {
	case err != nil:
		return nil, a.fail(ctx, c.requestID, err)
	case winner == nil:
		return nil, refusal
	}
	winner.Replayed = true
	return answered(*winner), nil
}
