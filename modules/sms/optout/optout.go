package optout

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/sms/link"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Params are the dependencies of New.
type Params struct {
	fx.In

	DB      *db.DB
	Box     *secret.Box
	Logger  *slog.Logger
	Workers *worker.Metrics `optional:"true"`
}

// Service stores opt-outs. It is safe for concurrent use.
type Service struct {
	db      *db.DB
	numbers hasher
	tasks   *worker.Tasks // rehashes numbers after a key rotation
}

// New returns a new Service. Nothing runs until Start.
func New(p Params) *Service {
	return &Service{db: p.DB, numbers: hasher{p.Box.DeriveEach("sms numbers")},
		tasks: worker.NewTasks(p.Logger, p.Workers)}
}

// Hash returns the hash of a number for a new row.
func (s *Service) Hash(number string) []byte { return s.numbers.newHash(number) }

// Hashes returns all hashes under which a number may be stored.
func (s *Service) Hashes(number string) [][]byte { return s.numbers.allHashes(number) }

// hasher computes the hashes used to look up numbers.
type hasher struct {
	keys [][]byte // the first key hashes new rows; lookups try all keys
}

func (h hasher) newHash(number string) []byte { return h.hashWith(h.keys[0], number) }

func (h hasher) allHashes(number string) [][]byte {
	each := make([][]byte, 0, len(h.keys))
	for _, key := range h.keys {
		each = append(each, h.hashWith(key, number))
	}
	return each
}

func (hasher) hashWith(key []byte, number string) []byte {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(number)) // hash.Hash.Write never fails
	return mac.Sum(nil)
}

const optedOutSQL = `SELECT EXISTS (SELECT FROM sms_opt_outs WHERE account_id = ANY($1::text[]) AND number_hash = ANY($2::bytea[]))`

// Has reports whether a number has opted out of messages from an account. If own is false, the message goes
// through the operator's provider, and a number that replied STOP to that provider has opted out of all
// accounts that use it.
func (s *Service) Has(ctx context.Context, from db.Execer, accountID, number string, own bool) (bool, error) {
	of := []string{accountID}
	if !own {
		of = append(of, link.OperatorName)
	}
	out, err := db.One(ctx, from, db.Value[bool], optedOutSQL, db.Array(of), db.Array(s.numbers.allHashes(number)))
	if err != nil {
		return false, fmt.Errorf("look up an opt-out: %w", err)
	}
	return out, nil
}

const (
	optOutSQL = `INSERT INTO sms_opt_outs (account_id, number_hash, number, reason, created_at) VALUES ($1, $2, $3, $4, now()) ON CONFLICT (account_id, number_hash) DO NOTHING`
	optInSQL  = `DELETE FROM sms_opt_outs WHERE account_id = $1 AND number_hash = ANY($2::bytea[])`
)

// The reasons of opt-outs.
const (
	ByReply    = "reply"
	ByProvider = "provider"
)

// Add opts a number out of an account's messages. It does not change an existing opt-out.
func (s *Service) Add(ctx context.Context, on db.Execer, accountID, number, reason string) error {
	if _, err := on.ExecContext(ctx, optOutSQL, accountID, s.numbers.newHash(number), number, reason); err != nil {
		return fmt.Errorf("opt a number out: %w", err)
	}
	return nil
}

// Remove removes the opt-out of a number.
func (s *Service) Remove(ctx context.Context, accountID, number string) error {
	if _, err := s.db.SQL.ExecContext(ctx, optInSQL, accountID, db.Array(s.numbers.allHashes(number))); err != nil {
		return fmt.Errorf("opt a number in: %w", err)
	}
	return nil
}

// After the master key is rotated, rows with a known number are rehashed with the first key. An erased number
// is found as long as its key is configured.
const (
	passSQL = `SELECT id, number, number_hash FROM sms_opt_outs WHERE id > $1 AND number IS NOT NULL ORDER BY id LIMIT $2`
	moveSQL = `UPDATE sms_opt_outs o SET number_hash = $2 WHERE o.id = $1 AND NOT EXISTS (SELECT FROM sms_opt_outs h WHERE h.account_id = o.account_id AND h.number_hash = $2)`
)

const passBatch = 500

var passRetry = worker.Backoff{Min: time.Minute, Max: time.Hour}

// Start starts rehashing if older keys are configured.
func (s *Service) Start() {
	if len(s.numbers.keys) == 1 {
		return
	}
	s.tasks.Start(worker.Task{Name: "rehashing of numbers", Retry: passRetry,
		Step: func(ctx context.Context) (time.Duration, error) {
			if err := s.Rehash(ctx); err != nil {
				return passRetry.Max, err
			}
			return worker.UntilWoken, nil
		}})
}

// Stop waits until ctx ends for the rehashing.
func (s *Service) Stop(ctx context.Context) { s.tasks.Stop(ctx) }

// Rehash rehashes the rows of known numbers with the first key.
func (s *Service) Rehash(ctx context.Context) error {
	type row struct {
		id     int64
		number string
		hash   []byte
	}
	for after := int64(0); ; {
		rows, err := db.All(ctx, s.db.SQL, func(r *row) []any { return []any{&r.id, &r.number, &r.hash} }, passSQL,
			after, passBatch)
		if err != nil {
			return fmt.Errorf("rehash numbers: %w", err)
		}
		for _, r := range rows {
			after = r.id
			if fresh := s.numbers.newHash(r.number); !hmac.Equal(fresh, r.hash) {
				if _, err := s.db.SQL.ExecContext(ctx, moveSQL, r.id, fresh); err != nil {
					return fmt.Errorf("rehash numbers: %w", err)
				}
			}
		}
		if len(rows) < passBatch {
			return nil
		}
	}
}
