package bodies

import (
	"context"
	"time"
)

// Move is a claimed move, for tests that act as the worker.
type Move = move

// Result is the result of a move.
type Result = result

// Key returns the key of the object.
func (m move) Key() string { return m.key }

// ClaimMoves claims due moves.
func (s *Service) ClaimMoves(ctx context.Context) ([]Move, error) {
	return s.claimMoves(ctx, moveBatch, time.Minute)
}

// Do runs moves as the worker does.
func (s *Service) Do(ctx context.Context, moves []Move) (results []Result) {
	for _, m := range moves {
		r := Result{Job: m}
		var err error
		switch {
		case m.used:
			r.Value.outcome = removed
		case m.remove:
			r.Value.outcome = removed
			err = s.callStore(ctx, m, func() error { return s.objects.Delete(ctx, m.key) })
		default:
			r.Value, err = s.upload(ctx, m)
		}
		if err != nil {
			r.Value = movedBody{outcome: failed, err: err}
		}
		results = append(results, r)
	}
	return results
}

// SettleMoves stores the results of moves.
func (s *Service) SettleMoves(ctx context.Context, results []Result) error {
	return s.settleMoves(ctx, results)
}

// Outcomes describes the results in words.
func Outcomes(results []Result) (all []string) {
	for _, r := range results {
		all = append(all, string(r.Value.outcome))
	}
	return all
}

// Walk creates the moves of all existing emails.
func (s *Service) Walk(ctx context.Context) error {
	if err := s.beginWalk(ctx); err != nil {
		return err
	}
	for {
		looked, _, err := s.walkPage(ctx, time.Now().Add(time.Second), walkPage)
		if err != nil || looked == 0 {
			return err
		}
	}
}

// Step runs one step of the walk, as its task does.
func (s *Service) Step(ctx context.Context) (time.Duration, error) { return s.walkStep(ctx) }
