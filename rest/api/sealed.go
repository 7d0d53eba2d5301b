package api

import (
	"context"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// Sealer encrypts data that must not be readable in the database.
type Sealer interface {
	Seal(plaintext, associatedData []byte) []byte
	Open(sealed, associatedData []byte) ([]byte, error)
}

var _ Sealer = (*secret.Box)(nil)

// sealedAnswers stores responses that contain a secret. A replay must be identical byte for byte, and the secret must
// not be stored in plain text, so the whole response is encrypted for its 24 hours.
type sealedAnswers struct {
	Idempotency

	box     Sealer
	context []byte // binds the response to its request, so that it cannot be decrypted for another one
}

func sealAnswers(k keeper, c *Call) sealedAnswers {
	return sealedAnswers{Idempotency: k.Idempotency, box: k.box,
		context: []byte("idempotency/" + c.AccountID + "/" + c.idempotencyKey)}
}

// Begin decrypts the response to an earlier request.
func (s sealedAnswers) Begin(ctx context.Context, accountID, operation, key string,
	canonical []byte) (*idempotency.Claim, *idempotency.Response, error) {
	claim, earlier, err := s.Idempotency.Begin(ctx, accountID, operation, key, canonical)
	if err != nil || earlier == nil {
		return claim, nil, err
	}
	opened, err := s.open(earlier)
	return nil, opened, err
}

// Keep encrypts and stores a response.
func (s sealedAnswers) Keep(ctx context.Context, tx idempotency.Execer, claim *idempotency.Claim,
	a idempotency.Response) error {
	a.Body = s.box.Seal(a.Body, s.context)
	return s.Idempotency.Keep(ctx, tx, claim, a)
}

// Replay decrypts the response to the first request.
func (s sealedAnswers) Replay(ctx context.Context, claim *idempotency.Claim) (*idempotency.Response, error) {
	winner, err := s.Idempotency.Replay(ctx, claim)
	if err != nil {
		return nil, err
	}
	return s.open(winner)
}

// Lookup decrypts the response to another request, if there is one.
func (s sealedAnswers) Lookup(ctx context.Context, claim *idempotency.Claim) (*idempotency.Response, error) {
	winner, err := s.Idempotency.Lookup(ctx, claim)
	if err != nil || winner == nil {
		return nil, err
	}
	return s.open(winner)
}

func (s sealedAnswers) open(a *idempotency.Response) (*idempotency.Response, error) {
	body, err := s.box.Open(a.Body, s.context)
	if err != nil { // its master key has been removed since
		return nil, fault.Conflictf(fault.CodeConflict, "A request with this Idempotency-Key succeeded, but its "+
			"response can no longer be decrypted").WithCause(err)
	}
	return &idempotency.Response{Status: a.Status, Body: body, Replayed: a.Replayed}, nil
}
