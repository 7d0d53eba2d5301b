package callback

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/sms/link"
	"github.com/postrider/postrider/modules/sms/optout"
	"github.com/postrider/postrider/modules/sms/provider"
	"github.com/postrider/postrider/modules/sms/settings"
	"github.com/postrider/postrider/modules/sms/textmsg"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Params are the dependencies of New.
type Params struct {
	fx.In

	DB       *db.DB
	Settings *settings.Service
	OptOuts  *optout.Service
	Links    link.Links
	Logger   *slog.Logger
}

// Service processes provider callbacks. It is safe for concurrent use.
type Service struct {
	db       *db.DB
	settings *settings.Service
	optOuts  *optout.Service
	links    link.Links
	log      *slog.Logger
}

// New returns a new Service.
func New(p Params) *Service {
	return &Service{db: p.DB, settings: p.Settings, optOuts: p.OptOuts, links: p.Links, log: p.Logger}
}

// ProviderRequest is a request from a provider.
type ProviderRequest struct {
	Token     string
	URI       string // path and query exactly as requested, because Twilio signs them
	Signature string // from Twilio; empty if absent
	Fields    url.Values
}

// errForged returns the error for every forged request.
func errForged() error {
	return &fault.Error{Kind: fault.NotFound, Code: fault.CodeNotFound, Message: "Not found"}
}

// receiptSQL applies a receipt to its message. Delivered overrides every status. Failed does not override
// delivered. Sent replaces only uncertain statuses. A receipt ends any wait for another attempt. An opt-out
// needs the number.
var receiptSQL = db.Compile(`
UPDATE sms_messages SET status = @status, error_code = @code, error = @reason, provider_id = CASE WHEN @provider_id <> '' THEN @provider_id ELSE provider_id END,
	fence = fence + 1, due_at = NULL, sent_at = CASE WHEN @status = 'failed' THEN sent_at ELSE coalesce(sent_at, now()) END, settled_at = coalesce(settled_at, now())
WHERE id = @id AND attempts > 0 AND CASE @status WHEN 'delivered' THEN status <> 'delivered' WHEN 'failed' THEN status IN ('queued', 'sent', 'unknown') ELSE status IN ('queued', 'unknown') END
RETURNING account_id, "to"`)

// Receipt processes the receipt of a message. It returns NotFound for a forged request. A receipt that changes
// nothing is not an error, because providers repeat and reorder receipts.
func (s *Service) Receipt(ctx context.Context, t ProviderRequest) error {
	messageID := s.links.Read(link.ReceiptPath, t.Token)
	if messageID == "" || !id.Is(id.SMS, messageID) {
		return errForged()
	}
	type sender struct {
		accountID, provider string
		own                 bool
	}
	found, err := db.All(ctx, s.db.SQL, func(r *sender) []any { return []any{&r.accountID, &r.provider, &r.own} },
		`SELECT account_id, provider, own_provider FROM sms_messages WHERE id = $1`, messageID)
	if err != nil {
		return fmt.Errorf("look for the message of a receipt: %w", err)
	}
	if len(found) == 0 { // the message was deleted
		return nil
	}
	var r provider.DeliveryReport
	if of := found[0]; of.provider == settings.KindTwilio {
		if err := s.checkSignature(ctx, of.accountID, of.own, t); err != nil {
			return err
		}
		r = provider.ReadTwilioReceipt(t.Fields)
	} else {
		r = provider.ReadReceipt(t.Fields)
	}
	if r.Outcome == "" {
		return nil
	}
	type changed struct{ accountID, to string }
	rows, err := db.All(ctx, s.db.SQL, func(c *changed) []any { return []any{&c.accountID, &c.to} }, receiptSQL.Text,
		receiptSQL.Args(db.Arg("status", string(r.Outcome)),
			db.Arg("code", r.Code), db.Arg("reason", r.Reason), db.Arg("provider_id", r.ProviderID),
			db.Arg("id", messageID))...)
	if err != nil {
		return fmt.Errorf("store a receipt: %w", err)
	}
	s.log.InfoContext(ctx, "sms receipt", telemetry.KeySMSID, messageID, telemetry.KeyAccountID, found[0].accountID,
		telemetry.KeyOutcome, r.Outcome, telemetry.KeyCode, r.Code,
		telemetry.KeyEffective, len(rows) > 0)
	if r.OptedOut && len(rows) > 0 {
		return s.optOuts.Add(ctx, s.db.SQL, rows[0].accountID, rows[0].to, optout.ByProvider)
	}
	return nil
}

// checkSignature rejects a request unless Twilio signed it with the token of the account or of the operator.
func (s *Service) checkSignature(ctx context.Context, accountID string, own bool, t ProviderRequest) error {
	token, err := s.settings.Token(ctx, accountID, own)
	switch {
	case errors.Is(err, settings.ErrSealed):
		return errForged()
	case err != nil:
		return err
	}
	if !provider.VerifySignature(token, s.links.AbsoluteURL(t.URI), t.Fields, t.Signature) {
		return errForged()
	}
	return nil
}

// Reply processes a reply from a recipient. STOP and its synonyms opt the number out of the account's messages,
// or of all messages sent through the operator's provider. START reverts that. The reply itself is not stored.
// It returns NotFound for a forged request.
func (s *Service) Reply(ctx context.Context, t ProviderRequest) error {
	of := s.links.Read(link.ReplyPath, t.Token)
	kind, own := s.settings.Operator().Kind, false
	switch {
	case of == "":
		return errForged()
	case of != link.OperatorName:
		row, err := s.settings.Row(ctx, s.db.SQL, of)
		if err != nil {
			return err
		}
		if row == nil {
			return errForged()
		}
		kind, own = string(row.Provider), true
	}
	r := provider.ReadReply(t.Fields)
	if kind == settings.KindTwilio {
		if err := s.checkSignature(ctx, of, own, t); err != nil {
			return err
		}
		r = provider.ReadTwilioReply(t.Fields)
	}
	from, err := textmsg.Parse(r.From)
	wish := r.Command()
	if err != nil || wish == provider.NoCommand {
		return nil //nolint:nilerr // a reply from a name or a short code cannot opt out
	}
	s.log.InfoContext(ctx, "sms reply", telemetry.KeyAccountID, of, telemetry.KeyReason,
		map[provider.Command]string{provider.Stop: "stop", provider.Start: "start"}[wish])
	if wish == provider.Start {
		return s.optOuts.Remove(ctx, of, from.E164)
	}
	return s.optOuts.Add(ctx, s.db.SQL, of, from.E164, optout.ByReply)
}
