package apilog

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
)

// erasure is an erasure that must be repeated, because other processes may still have older requests in their
// buffers.
type erasure struct {
	accountID string
	words     []string
	at        time.Time
}

const repeatAfter = 5 * time.Second

// Erase deletes the requests of an account that contain an address in their path or bodies, ignoring case. It
// runs immediately, and again after every process has stored its buffer.
func (s *Service) Erase(ctx context.Context, accountID, address string) (deleted int64, err error) {
	return s.eraseNow(ctx, accountID, address, url.QueryEscape(address), url.PathEscape(address))
}

// EraseUser deletes the requests of an account that contain a user id as a value.
func (s *Service) EraseUser(ctx context.Context, accountID, userID string) (deleted int64, err error) {
	return s.eraseNow(ctx, accountID, quoteJSON(userID))
}

func (s *Service) eraseNow(ctx context.Context, accountID string, words ...string) (deleted int64, err error) {
	for i := range words {
		words[i] = strings.ToLower(words[i])
	}
	e := erasure{accountID, words, time.Now().Add(repeatAfter)}
	s.pending.Lock()
	s.again = append(s.again, e)
	s.pending.Unlock()
	if err := s.Flush(ctx); err != nil { // requests that cannot be stored are lost, so they need no erasure
		return 0, err
	}
	return s.erase(ctx, e)
}

// repeatErasures repeats the erasures that are due.
func (s *Service) repeatErasures(ctx context.Context, now time.Time) error {
	s.pending.Lock()
	var due, later []erasure
	for _, e := range s.again {
		if e.at.After(now) {
			later = append(later, e)
		} else {
			due = append(due, e)
		}
	}
	s.again = later
	s.pending.Unlock()
	for i, e := range due {
		if _, err := s.erase(ctx, e); err != nil {
			s.pending.Lock()
			s.again = append(s.again, due[i:]...)
			s.pending.Unlock()
			return err
		}
	}
	return nil
}

// Each statement examines a range of an account's rows, so that no statement takes long.
const eraseSQL = `
WITH stretch AS (
	SELECT n, lower(path || E'\n' || request_body || E'\n' || response_body) AS said FROM api_requests WHERE account_id = $1 AND n > $2 ORDER BY n LIMIT $3
), gone AS (
	DELETE FROM api_requests r USING stretch WHERE r.account_id = $1 AND r.n = stretch.n
		AND EXISTS (SELECT FROM unnest($4::text[]) AS word WHERE position(word IN stretch.said) > 0) RETURNING 1
)
SELECT coalesce((SELECT max(n) FROM stretch), 0), (SELECT count(*) FROM gone)`

const eraseStretch = 2000

type erasedStretch struct{ last, deleted int64 }

func (e *erasedStretch) columns() []any { return []any{&e.last, &e.deleted} }

func (s *Service) erase(ctx context.Context, e erasure) (deleted int64, err error) {
	for after := int64(0); ; {
		done, err := db.One(ctx, s.db.SQL, (*erasedStretch).columns, eraseSQL, e.accountID, after, eraseStretch,
			db.Array(e.words))
		deleted += done.deleted
		if err != nil {
			return deleted, fmt.Errorf("erase API requests: %w", err)
		}
		if after = done.last; after == 0 {
			return deleted, nil
		}
	}
}
