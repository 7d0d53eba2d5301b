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

// result is what came of a claim.
type result struct {
	provider.Answer

	provider string
	own      bool
	begun    bool // an attempt was written down
	lost     bool // the claim had ended; nothing is stored
	took     time.Duration
}

// The codes of messages for which no request was made.
const (
	CodeSuppressed = "suppressed"  // the owner of the number has said STOP
	CodeExpired    = "expired"     // no provider took it in 4 hours
	CodeNoProvider = "no_provider" // there is none any more
	CodeSuspended  = "account_suspended"
	CodeInternal   = "internal"
)

// What a message waits for before it is looked at again, without an attempt.
const (
	SuspendedPause = 5 * time.Minute // until a message of a suspended account is looked at again
	waitDefect     = 10 * time.Second
)

// waits are the pauses after the first, second, … attempt that may be repeated.
var waits = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour}

// pause is how long a message waits after its n-th attempt.
func pause(n int, asked time.Duration) time.Duration {
	return max(waits[min(max(n, 1), len(waits))-1], asked)
}

func refused(code, sentence string) result {
	return result{Answer: provider.Answer{Outcome: provider.Failed, Code: code, Reason: sentence}}
}

func later(code, sentence string, wait time.Duration) result {
	return result{Answer: provider.Answer{Outcome: provider.Temporary, Code: code, Reason: sentence, Wait: wait}}
}

// run hands one message over.
func (s *Service) run(ctx context.Context, j *job, lease *worker.Lease) (r result) {
	defer s.finish(j)
	begun := false
	defer func() {
		if cause := recover(); cause != nil {
			s.log.ErrorContext(ctx, "a text message could not be handed over", telemetry.KeySMSID, j.ID, telemetry.KeyError, cause)
			if r = later(CodeInternal, "internal", waitDefect); begun {
				r = result{Answer: provider.Answer{Outcome: provider.Unknown, Code: CodeInternal, Reason: "the request ended within this service; the provider may have sent the message"}, begun: true}
			}
		}
	}()
	route, err := s.account.Route(ctx, j.accountID)
	if err != nil {
		s.log.WarnContext(ctx, "the provider of an account cannot be used", telemetry.KeyAccountID, j.accountID, telemetry.KeyError, err)
		return later(provider.CodeSettings, "the provider cannot be used as it is set up", waitDefect)
	}
	if stop := s.before(ctx, j, route); stop != nil {
		return *stop
	}
	if lease != nil && !lease.Valid() {
		return result{lost: true}
	}
	number, err := s.begin(ctx, j, route)
	if err != nil {
		return result{lost: true} // the lease ends, and somebody claims it again
	}
	begun = true
	started := time.Now()
	submitting, cancel := context.WithTimeout(ctx, provider.Timeout)
	answer := route.Provider.Submit(submitting, j.Message)
	cancel()
	if answer.Outcome == provider.Temporary {
		answer.Wait = pause(number, answer.Wait)
	}
	if answer.Outcome == provider.Unknown && route.Provider.Idempotent() {
		answer.Outcome, answer.Wait = provider.Temporary, pause(number, 0)
	}
	r = result{Answer: answer, provider: route.Provider.Name(), own: route.Own, begun: true, took: time.Since(started)}
	s.tell(ctx, j, r, number)
	return r
}

// before gives what ends the claim without a request; nil: nothing does.
func (s *Service) before(ctx context.Context, j *job, route Route) *result {
	end := func(r result) *result { return &r }
	repeatable := route.Provider != nil && route.Provider.Idempotent() && route.Since.Before(j.cutOff)
	if !j.cutOff.IsZero() && (!repeatable || j.expired) {
		return end(result{Answer: provider.Answer{Outcome: provider.Unknown, Code: provider.CodeNoAnswer,
			Reason: "this service was stopped during the request; the provider may have sent the message"}})
	}
	if j.expired {
		return end(refused(CodeExpired, "no provider took the message in time"))
	}
	if route.Provider == nil {
		return end(refused(CodeNoProvider, "there is no provider of text messages any more"))
	}
	suspended, err := s.account.Suspended(ctx, j.accountID)
	if err != nil {
		return end(result{lost: true})
	}
	if suspended {
		return end(later(CodeSuspended, "the account is suspended", SuspendedPause))
	}
	out, err := s.account.OptedOut(ctx, j.accountID, j.To, route.Own)
	if err != nil {
		return end(result{lost: true})
	}
	if out {
		return end(refused(CodeSuppressed, "the owner of the number has said STOP"))
	}
	return nil
}

var errLost = errors.New("the claim of a text message has ended")

// beginSQL writes the attempt down if the claim still holds, and tells its number. The attempts that
// were cut off, and that may be repeated, are closed.
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

// begin commits the attempt. Its error says that no request may be made.
func (s *Service) begin(ctx context.Context, j *job, route Route) (number int, err error) {
	number, err = db.One(ctx, s.db.Hot, db.Value[int], beginSQL.Text, beginSQL.Args(db.Arg("provider", route.Provider.Name()), db.Arg("own", route.Own),
		db.Arg("id", j.ID), db.Arg("fence", j.fence), db.Arg("margin", (provider.Timeout+5*time.Second).Microseconds()), db.Arg("node", s.node.ID()))...)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, errLost
	}
	if err != nil {
		return 0, fmt.Errorf("begin to hand over a text message: %w", err)
	}
	return number, nil
}

// tell writes the wide line of an attempt. Neither the number nor the text is in it.
func (s *Service) tell(ctx context.Context, j *job, r result, number int) {
	level := slog.LevelInfo
	if r.Outcome != provider.Sent && r.Outcome != provider.Delivered {
		level = slog.LevelWarn
	}
	s.log.Log(ctx, level, "sms attempt", telemetry.KeyAccountID, j.accountID, telemetry.KeySMSID, j.ID, telemetry.KeyProvider, r.provider, telemetry.KeyAttempt, number,
		telemetry.KeyOutcome, r.Outcome, telemetry.KeyStatus, r.Status, telemetry.KeyCode, r.Code, telemetry.KeyDuration, r.took, telemetry.KeyError, withoutNumbers(r.Reason))
}

var digits = regexp.MustCompile(`\+?[0-9][0-9 ().-]{3,}[0-9]`)

// withoutNumbers hides numbers in the words of a provider, which may repeat whom the message was for.
func withoutNumbers(text string) string { return digits.ReplaceAllString(text, "…") }
