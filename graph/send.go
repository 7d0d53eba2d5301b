package graph

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/graph/generated"
	"github.com/postrider/postrider/graph/inquiry"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
)

// mutationCosts lets a request make about ten of the changes that the REST API carries out.
func mutationCosts(c *generated.ComplexityRoot) {
	byID := func(child int, _ string) int { return changeCost + child }
	withKey := func(child int, _ string, _ *string) int { return changeCost + child }
	c.Mutation.CancelEmail, c.Mutation.RemoveSuppression, c.Mutation.ReplayWebhookDelivery = byID, byID, withKey
	c.Mutation.RescheduleEmail = func(child int, _ string, _ time.Time) int { return changeCost + child }
	c.Mutation.SendEmail = func(child int, _ model.SendEmailInput, _ *string) int { return changeCost + child }
	c.Mutation.CheckEmail = func(child int, _ model.SendEmailInput, _ bool) int { return changeCost + child }
	c.Mutation.AddSuppression = func(child int, _ string, _, _ *string) int { return changeCost + child }
}

// sendEmail sends an email with POST /emails.
func (r *Resolver) sendEmail(ctx context.Context, in model.SendEmailInput,
	key *string) (*model.SendEmailResult, error) {
	var sent struct {
		ID         string   `json:"id"`
		Status     string   `json:"status"`
		Suppressed []string `json:"suppressed_recipients"`
	}
	_, header, err := r.callREST(ctx, restCall{needs: rights.Send, method: http.MethodPost, path: "/emails", key: key,
		body: in}, &sent)
	if err != nil {
		return nil, err
	}
	return &model.SendEmailResult{ID: sent.ID, Status: email.Status(sent.Status),
		SuppressedRecipients: append([]string{}, sent.Suppressed...),
		Replayed:             header.Get("Idempotent-Replayed") == "true"}, nil
}

// maxCheckResponse is more than a check returns: two bodies of 5 MB each, and findings.
const maxCheckResponse = 24 << 20

// checkEmail checks an email with POST /emails/check.
func (r *Resolver) checkEmail(ctx context.Context, in model.SendEmailInput,
	resolveLinks bool) (*model.CheckEmailResult, error) {
	var checked struct {
		Check struct {
			Preview struct {
				Subject string `json:"subject"`
			} `json:"preview"`
			Suppressed []string              `json:"suppressed_recipients"`
			Findings   []*model.EmailFinding `json:"findings"`
		} `json:"check"`
	}
	call := restCall{needs: rights.Send, method: http.MethodPost, path: "/emails/check", body: in, limit: maxCheckResponse}
	if resolveLinks {
		call.query = url.Values{"resolve_links": {"true"}}
	}
	if _, _, err := r.callREST(ctx, call, &checked); err != nil {
		return nil, err
	}
	for _, f := range checked.Check.Findings {
		f.Severity = model.FindingSeverity(strings.ToUpper(string(f.Severity)))
	}
	return &model.CheckEmailResult{Subject: checked.Check.Preview.Subject,
		SuppressedRecipients: append([]string{}, checked.Check.Suppressed...),
		Findings:             checked.Check.Findings}, nil
}

// readSentEmail returns the email of a result, or nil if the caller cannot read it: the result of an earlier request
// may be about a domain that the API key does not include.
func (r *Resolver) readSentEmail(ctx context.Context, emailID string) (*model.Email, error) {
	caller, err := inquiry.Authorize(ctx, rights.ReadSent)
	if err == nil {
		var found *model.Email
		if found, err = r.findEmail(ctx, caller, emailID); err == nil {
			return found, nil
		}
	}
	if fault.KindOf(err) == fault.Forbidden || fault.KindOf(err) == fault.NotFound {
		return nil, nil
	}
	return nil, err
}

// updateEmail reschedules or cancels an email with PATCH /emails/{id}.
func (r *Resolver) updateEmail(ctx context.Context, emailID string, change map[string]any) (*model.Email, error) {
	caller, _, err := r.callREST(ctx, restCall{needs: rights.Write, method: http.MethodPatch, path: "/emails/*",
		id: emailID, body: change}, nil)
	if err != nil {
		return nil, err
	}
	return r.findEmail(ctx, caller, emailID)
}
