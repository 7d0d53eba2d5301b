package idempotency

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Store looks up and stores responses. It owns the table idempotency_keys.
type Store struct {
	db     Execer
	logger *slog.Logger
	every  time.Duration
	batch  int
	tasks  *worker.Tasks
}

// Params contains the parameters of New.
type Params struct {
	DB         Execer // a pool, not a transaction
	Logger     *slog.Logger
	Workers    *worker.Metrics // may be nil
	SweepEvery time.Duration   // default: 5 minutes
	SweepBatch int             // rows per sweeping transaction; default: 500
}

// New returns a new Store, which deletes expired keys between Start and Stop.
func New(p Params) (*Store, error) {
	if p.DB == nil || p.Logger == nil {
		return nil, errors.New("idempotency: DB and Logger are needed")
	}
	s := &Store{db: p.DB, logger: p.Logger, every: p.SweepEvery, batch: p.SweepBatch,
		tasks: worker.NewTasks(p.Logger, p.Workers)}
	if s.every <= 0 {
		s.every = 5 * time.Minute
	}
	if s.batch <= 0 {
		s.batch = 500
	}
	return s, nil
}

// Begin starts a request of an account for an operation (for example "POST /api/emails", including the id of
// the resource if the path has one). It returns the response to replay if there is one, else the claim under
// which to store the response. For an empty key it returns neither. The error is a fault: a key that is not
// 1-255 printable ASCII characters, or idempotency_conflict for a key used by a different request.
func (s *Store) Begin(ctx context.Context, accountID, operation, key string,
	canonicalBody []byte) (*Claim, *Response, error) {
	if key == "" {
		return nil, nil, nil
	}
	claim, err := newClaim(accountID, operation, key, canonicalBody)
	if err != nil {
		return nil, nil, err
	}
	answer, err := findResponse(ctx, s.db, claim)
	if err != nil || answer != nil {
		return nil, answer, err
	}
	return claim, nil, nil
}

// Replay returns the response of the request that took the claim's key. The error is idempotency_conflict
// if that was a different request.
func (s *Store) Replay(ctx context.Context, c *Claim) (*Response, error) {
	if c == nil {
		return nil, errors.New("replay of a request without an idempotency key")
	}
	answer, err := findResponse(ctx, s.db, c)
	if err == nil && answer == nil {
		// The response expired between the two statements.
		return nil, InProgress()
	}
	return answer, err
}

// Lookup returns the response of another request that has taken the claim's key since Begin, or nil. The
// error is idempotency_conflict if that was a different request.
func (s *Store) Lookup(ctx context.Context, c *Claim) (*Response, error) {
	if c == nil {
		return nil, nil
	}
	return findResponse(ctx, s.db, c)
}

// Record stores the (2xx) response of a request whose effect is not in a transaction of this database. It
// returns the response to send: this one, or that of another request that took the key in the meantime.
func (s *Store) Record(ctx context.Context, c *Claim, a Response) (Response, error) {
	if c == nil {
		return a, nil
	}
	err := c.Store(ctx, s.db, a)
	if errors.Is(err, ErrTaken) {
		winner, err := s.Replay(ctx, c)
		if err != nil {
			return Response{}, err
		}
		return *winner, nil
	}
	if err != nil {
		return Response{}, err
	}
	return a, nil
}

// Sweep deletes one batch of expired keys and returns their number.
func (s *Store) Sweep(ctx context.Context) (int, error) {
	swept, err := db.One(ctx, s.db, db.Value[int], sweepSQL, s.batch)
	if err != nil {
		return 0, fmt.Errorf("sweep idempotency keys: %w", err)
	}
	return swept, nil
}

// Start deletes expired keys in the background until Stop.
func (s *Store) Start(context.Context) error {
	s.tasks.Start(worker.Every("sweep of idempotency keys", s.every, s.sweepAll))
	return nil
}

// Stop stops the sweep and waits for it.
func (s *Store) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	return nil
}

// sweepAll sweeps until a batch is not full.
func (s *Store) sweepAll(ctx context.Context) error {
	for total := 0; ; {
		swept, err := s.Sweep(ctx)
		total += swept
		if err != nil {
			return err
		}
		if swept < s.batch {
			if total > 0 {
				s.logger.DebugContext(ctx, "idempotency keys swept", telemetry.KeyCount, total)
			}
			return nil
		}
	}
}

// Keep is Claim.Store, for callers that use the Store through an interface.
func (s *Store) Keep(ctx context.Context, tx Execer, c *Claim, a Response) error {
	return c.Store(ctx, tx, a)
}
