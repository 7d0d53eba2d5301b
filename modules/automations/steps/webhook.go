package steps

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/expression"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/modules/automations/proof"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/modules/automations/simulation"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/web/egress"
)

// maxCaptured is the maximum number of response bytes that a step keeps.
const maxCaptured = 16 << 10

// postWaits are the pauses before failed requests are retried.
var postWaits = []time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 3 * time.Hour}

var _ = registerEffect(definition.Webhook, func(s *services) effect { return webhookEffect{s} })

type webhookEffect struct{ *services }

func (e webhookEffect) check(ctx context.Context, c StepCheck) error {
	if e.config.Targets == nil {
		return nil
	}
	ctx, cancel := context.WithDeadline(ctx, c.LookUntil)
	defer cancel()
	if problem := e.config.Targets.Problem(ctx, c.Step.URL); problem != "" {
		c.Report("url", problem)
	}
	return nil
}

func (webhookEffect) preview(
	_ context.Context, _ accounts.Caller, _ string, m machine.Effect, outcome string,
) (simulation.EffectResult, error) {
	p := m.(*machine.WebhookRequest) //nolint:forcetypeassert // rendered by this type
	out := simulation.EffectResult{Preview: p,
		Result: machine.Result{Status: machine.StatusDone, Output: map[string]any{"http_status": int64(200)}}}
	if p.Capture {
		out.Result.Output["body"] = nil
	}
	if outcome == simulation.OutcomeError {
		out.Result = machine.Result{Status: machine.StatusFailed, Error: "webhook_failed: " + p.URL +
			" cannot be reached (simulated)"}
	}
	return out, nil
}

// perform makes the request of a webhook step.
func (e webhookEffect) perform(ctx context.Context, t *claimedRun) result {
	p := t.outcome.Effect.(*machine.WebhookRequest) //nolint:forcetypeassert // rendered by this type
	if id.IsTestTenant(t.AccountID) {               // the receiver could not distinguish the request from a real one
		out, err := e.preview(ctx, accounts.Caller{}, "", p, "")
		if err != nil {
			return t.recordDefect()
		}
		return result{settlement: t.settleAfter(ctx, out.Result)}
	}
	status, body, err := e.request(ctx, t, p)
	switch {
	case errors.Is(err, egress.ErrRefused):
		return t.recordFailure(ctx, "webhook_refused", p.URL+" has an address that is not public")
	case err == nil && status >= 200 && status < 300:
		output := map[string]any{"http_status": int64(status)}
		if p.Capture {
			output["body"] = body
		}
		return result{settlement: t.settleAfter(ctx, machine.Result{Status: machine.StatusDone, Output: output})}
	}
	const code = "webhook_failed"
	reason := fmt.Sprintf("%s answered %d", p.URL, status)
	if err != nil {
		reason = p.URL + " cannot be reached"
	}
	if again := err != nil || status == http.StatusTooManyRequests || status >= 500; again &&
		t.Claims <= len(postWaits) {
		return t.recordBlocked(runs.Blocker{Code: code, Message: reason, Counted: true}, postWaits[t.Claims-1])
	}
	return t.recordFailure(ctx, code, reason)
}

// request makes one request, signed like deliveries to webhook endpoints. All tries of the step use the same
// Idempotency-Key.
func (e webhookEffect) request(ctx context.Context, t *claimedRun,
	p *machine.WebhookRequest) (status int, captured any, err error) {
	r, err := http.NewRequestWithContext(ctx, p.Method, p.URL, bytes.NewReader(p.Body))
	if err != nil {
		return 0, nil, err
	}
	for _, header := range p.Headers {
		r.Header.Set(header.Name, header.Value)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "Postrider-Automations/1")
	repeated := t.Run.ID + "/" + t.definition().Key
	r.Header.Set("Idempotency-Key", repeated)
	e.prover.Sign(r.Header, t.AccountID, repeated, time.Now(), p.Body)
	r.Header.Set(proof.CauseHeader, e.prover.Cause(t.AccountID, t.Run.ID, t.Depth))
	response, err := e.config.Client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	kept, err := io.ReadAll(io.LimitReader(response.Body, maxCaptured+1))
	if closeErr := response.Body.Close(); err == nil {
		err = closeErr
	}
	if p.Capture && len(kept) <= maxCaptured {
		if value, decodeErr := expression.DecodeAny(kept); decodeErr == nil {
			captured = value
		}
	}
	return response.StatusCode, captured, err
}
