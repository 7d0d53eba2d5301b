package handover

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"github.com/postrider/postrider/modules/sms/provider"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
)

// result is the outcome of a claim.
type result struct {
	provider.SendResult

	provider string
	own      bool
	begun    bool // an attempt was stored
	lost     bool // the claim had ended; nothing is stored
	took     time.Duration
}

// Codes of messages for which no request was made.
const (
	CodeSuppressed = "suppressed"  // the recipient replied STOP
	CodeExpired    = "expired"     // no provider accepted the message within 4 hours
	CodeNoProvider = "no_provider" // the provider was removed
	CodeSuspended  = "account_suspended"
	CodeInternal   = "internal"
)

// How long a message waits when no attempt can be made.
const (
	SuspendedPause = 5 * time.Minute // while the account is suspended
	waitDefect     = 10 * time.Second
)

// waits are the pauses before the second, third, … attempt.
var waits = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour}

// retryPause returns how long a message waits after its n-th attempt.
func retryPause(n int, asked time.Duration) time.Duration {
	return max(waits[min(max(n, 1), len(waits))-1], asked)
}

func failWith(code, sentence string) result {
	return result{SendResult: provider.SendResult{Outcome: provider.Failed, Code: code, Reason: sentence}}
}

func retryLater(code, sentence string, wait time.Duration) result {
	return result{SendResult: provider.SendResult{Outcome: provider.Temporary, Code: code, Reason: sentence,
		Wait: wait}}
}

// submitMessage submits one message.
func (s *Service) submitMessage(ctx context.Context, j *job, lease *worker.Lease) (r result) {
	defer s.finish(j)
	begun := false
	defer func() {
		if cause := recover(); cause != nil {
			s.log.ErrorContext(ctx, "cannot submit a text message", telemetry.KeySMSID, j.ID, telemetry.KeyError, cause)
			if r = retryLater(CodeInternal, "internal", waitDefect); begun {
				r = result{SendResult: provider.SendResult{Outcome: provider.Unknown, Code: CodeInternal,
					Reason: "the request was interrupted within this service; the provider may have sent the message"},
					begun: true}
			}
		}
	}()
	route, err := s.account.Route(ctx, j.accountID)
	if err != nil {
		s.log.WarnContext(ctx, "cannot use the provider of an account", telemetry.KeyAccountID, j.accountID,
			telemetry.KeyError, err)
		return retryLater(provider.CodeSettings, "the provider cannot be used with its current settings", waitDefect)
	}
	if stop := s.checkBeforeRequest(ctx, j, route); stop != nil {
		return *stop
	}
	if lease != nil && !lease.IsValid() {
		return result{lost: true}
	}
	number, err := s.beginAttempt(ctx, j, route)
	if err != nil {
		return result{lost: true} // the lease expires and a later claim takes the message
	}
	begun = true
	started := time.Now()
	submitting, cancel := context.WithTimeout(ctx, provider.Timeout)
	answer := route.Provider.Submit(submitting, j.Message)
	cancel()
	if answer.Outcome == provider.Temporary {
		answer.Wait = retryPause(number, answer.Wait)
	}
	if answer.Outcome == provider.Unknown && route.Provider.IsIdempotent() {
		answer.Outcome, answer.Wait = provider.Temporary, retryPause(number, 0)
	}
	r = result{SendResult: answer, provider: route.Provider.Name(), own: route.Own, begun: true,
		took: time.Since(started)}
	s.logAttempt(ctx, j, r, number)
	return r
}

// checkBeforeRequest returns the result of a claim that ends without a request, or nil if the request may be
// made.
func (s *Service) checkBeforeRequest(ctx context.Context, j *job, route Route) *result {
	end := func(r result) *result { return &r }
	repeatable := route.Provider != nil && route.Provider.IsIdempotent() && route.Since.Before(j.cutOff)
	if !j.cutOff.IsZero() && (!repeatable || j.expired) {
		return end(result{SendResult: provider.SendResult{Outcome: provider.Unknown, Code: provider.CodeNoAnswer,
			Reason: "this service stopped during the request; the provider may have sent the message"}})
	}
	if j.expired {
		return end(failWith(CodeExpired, "no provider accepted the message in time"))
	}
	if route.Provider == nil {
		return end(failWith(CodeNoProvider, "the account no longer has an SMS provider"))
	}
	suspended, err := s.account.IsSuspended(ctx, j.accountID)
	if err != nil {
		return end(result{lost: true})
	}
	if suspended {
		return end(retryLater(CodeSuspended, "the account is suspended", SuspendedPause))
	}
	out, err := s.account.OptedOut(ctx, j.accountID, j.To, route.Own)
	if err != nil {
		return end(result{lost: true})
	}
	if out {
		return end(failWith(CodeSuppressed, "the recipient replied STOP"))
	}
	return nil
}

var errLost = errors.New("the claim of the text message has ended")

// beginSQL stores the attempt if the claim is still valid, and returns its number. It closes interrupted
// attempts that may be repeated.
var beginSQL = db.Compile(`
WITH ours AS (
	UPDATE sms_messages SET attempts = attempts + 1, provider = @provider, own_provider = @own
	WHERE id = @id AND fence = @fence AND due_at > now() + @margin * interval '1 microsecond' RETURNING id, account_id, attempts, fence
), closed AS (
	UPDATE sms_attempts a SET outcome = 'unknown', finished_at = now() FROM ours WHERE a.message_id = ours.id AND a.outcome IS NULL
)
INSERT INTO sms_attempts (message_id, account_id, number, fence, provider, started_at, error, node)
SELECT id, account_id, attempts, fence, @provider, clock_timestamp(), '', NULLIF(@node::int, 0) FROM ours
RETURNING number`)

// beginAttempt commits the attempt. If it fails, no request may be made.
func (s *Service) beginAttempt(ctx context.Context, j *job, route Route) (number int, err error) {
	number, err = db.One(ctx, s.db.Hot, db.Value[int], beginSQL.Text,
		beginSQL.Args(db.Arg("provider", route.Provider.Name()), db.Arg("own", route.Own),
			db.Arg("id", j.ID), db.Arg("fence", j.fence),
			db.Arg("margin", (provider.Timeout+5*time.Second).Microseconds()),
			db.Arg("node", s.node.ID()))...)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, errLost
	}
	if err != nil {
		return 0, fmt.Errorf("begin to submit a text message: %w", err)
	}
	return number, nil
}

// logAttempt logs the attempt as one wide event, without the number and the text.
func (s *Service) logAttempt(ctx context.Context, j *job, r result, number int) {
	level := slog.LevelInfo
	if r.Outcome != provider.Sent && r.Outcome != provider.Delivered {
		level = slog.LevelWarn
	}
	s.log.Log(ctx, level, "sms attempt", telemetry.KeyAccountID, j.accountID, telemetry.KeySMSID, j.ID,
		telemetry.KeyProvider, r.provider, telemetry.KeyAttempt, number,
		telemetry.KeyOutcome, r.Outcome, telemetry.KeyStatus, r.Status, telemetry.KeyCode, r.Code,
		telemetry.KeyDuration, r.took, telemetry.KeyError, withoutNumbers(r.Reason))
}

var digits = regexp.MustCompile(`\+?[0-9][0-9 ().-]{3,}[0-9]`)

// withoutNumbers removes numbers from a provider's error message, which may contain the recipient.
func withoutNumbers(text string) string { return digits.ReplaceAllString(text, "…") }
