package webhooks

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/webhook"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/web/webhooksig"
)

// Update changes an endpoint. If the endpoint ends up enabled, its pending deliveries continue. Events that it
// missed while disabled are not sent; call Recover for those.
func (s *Service) Update(ctx context.Context, accountID, webhookID string, c EndpointChange) (*ent.Webhook, error) {
	wrong := fault.Fields{}
	if c.URL != nil {
		s.checkAddress(ctx, wrong, *c.URL)
	}
	var events []string
	if c.Events != nil {
		events = s.checkEvents(wrong, *c.Events)
	}
	if c.RateLimit != nil && *c.RateLimit != 0 {
		checkRate(wrong, c.RateLimit)
	}
	if c.Description != nil {
		checkDescription(wrong, *c.Description)
	}
	if c.Headers != nil {
		checkHeaders(wrong, *c.Headers)
	}
	if err := s.checkFilter(ctx, wrong, accountID, c.Filter); err != nil {
		return nil, err
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	var changed *ent.Webhook
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		row, err := lockEndpoint(ctx, tx, accountID, webhookID)
		if err != nil {
			return err
		}
		update := c.applyTo(row, events)
		if err := s.applyHeaders(update, row, c); err != nil {
			return err
		}
		if _, err := update.Save(ctx); err != nil {
			return err
		}
		// Uses the database clock, because failingSQL counts only deliveries settled after this time.
		const stampSQL = `UPDATE webhooks SET updated_at = clock_timestamp(), enabled_at = CASE WHEN enabled AND NOT $3 THEN now() ELSE enabled_at END,
			disabled_at = CASE WHEN enabled THEN NULL WHEN $3 THEN clock_timestamp() ELSE disabled_at END WHERE id = $1 AND account_id = $2`
		if _, err := tx.ExecContext(ctx, stampSQL, webhookID, accountID, row.Enabled); err != nil {
			return err
		}
		changed, err = tx.Webhook.Query().Where(webhook.ID(webhookID), webhook.AccountID(accountID)).Only(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("change webhook: %w", err)
	}
	s.interest.MarkWanted(accountID)
	s.signals.Wake(deliveryChannel)
	return changed.Unwrap(), nil
}

// applyTo builds the update of row. events are the validated event types of c.
func (c EndpointChange) applyTo(row *ent.Webhook, events []string) *ent.WebhookUpdateOne {
	update := row.Update()
	if c.URL != nil {
		update.SetURL(*c.URL)
	}
	if c.Events != nil {
		update.SetEvents(events)
	}
	if c.Description != nil {
		update.SetDescription(*c.Description)
	}
	if c.Filter != nil {
		if filter := orNil(c.Filter); filter != nil {
			update.SetFilter(filter)
		} else {
			update.ClearFilter()
		}
	}
	if c.RateLimit != nil {
		if *c.RateLimit == 0 {
			update.ClearRateLimit()
		} else {
			update.SetRateLimit(*c.RateLimit)
		}
	}
	if c.Enabled != nil && *c.Enabled != row.Enabled {
		if *c.Enabled {
			update.SetEnabled(true).ClearDisabledAt().SetDisabledReason("")
		} else {
			update.SetEnabled(false).SetDisabledAt(row.UpdatedAt).SetDisabledReason(ReasonCaller)
		}
	}
	return update
}

// lockEndpoint locks the endpoint's row until the transaction ends.
func lockEndpoint(ctx context.Context, tx *ent.Tx, accountID, webhookID string) (*ent.Webhook, error) {
	row, err := tx.Webhook.Query().Where(webhook.ID(webhookID), webhook.AccountID(accountID)).ForUpdate().Only(ctx)
	if ent.IsNotFound(err) {
		return nil, fault.NoSuch("webhook", webhookID)
	}
	return row, err
}

// endpointDeleted is the error stored with deliveries whose endpoint was deleted.
const endpointDeleted = "the endpoint has been deleted"

// Delete removes an endpoint and fails its pending deliveries. Its delivery log is kept for 30 days.
func (s *Service) Delete(ctx context.Context, accountID, webhookID string) error {
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		if _, err := lockEndpoint(ctx, tx, accountID, webhookID); err != nil {
			return err
		}
		const endSQL = `
WITH queued AS (
	DELETE FROM webhook_works WHERE webhook_id = $1 RETURNING id
), over AS (
	SELECT id FROM queued UNION SELECT unnest(delivery_ids) FROM webhook_claims
)
UPDATE webhook_deliveries d SET state = 'failed', failed = true, due_at = NULL, settled_at = now(), error = $3
FROM over WHERE d.id = over.id AND d.webhook_id = $1 AND d.account_id = $2 AND d.state = 'pending'`
		if _, err := tx.ExecContext(ctx, endSQL, webhookID, accountID, endpointDeleted); err != nil {
			return err
		}
		_, err := tx.Webhook.Delete().Where(webhook.ID(webhookID), webhook.AccountID(accountID)).Exec(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete webhook: %w", err)
	}
	return nil
}

// rotateSQL keeps the old secret valid for 24 more hours.
const rotateSQL = `
UPDATE webhooks SET previous_secret = secret, previous_secret_until = now() + interval '24 hours', secret = $3, updated_at = clock_timestamp()
WHERE id = $1 AND account_id = $2`

// RotateSecret replaces the secret of an endpoint. The previous secret also signs for 24 hours; the one
// before it stops immediately.
func (s *Service) RotateSecret(ctx context.Context, accountID, webhookID string,
	keep StoreResponse) (*ent.Webhook, secret.String, error) {
	token := secret.New(webhooksig.NewSecret())
	var changed *ent.Webhook
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		if _, err := lockEndpoint(ctx, tx, accountID, webhookID); err != nil {
			return err
		}
		sealed := s.box.Seal([]byte(token.Reveal()), secretContext(webhookID))
		if _, err := tx.ExecContext(ctx, rotateSQL, webhookID, accountID, sealed); err != nil {
			return err
		}
		var err error
		changed, err = tx.Webhook.Query().Where(webhook.ID(webhookID), webhook.AccountID(accountID)).Only(ctx)
		if err != nil || keep == nil {
			return err
		}
		return keep(ctx, tx, changed, token)
	})
	if err != nil {
		return nil, secret.String{}, fmt.Errorf("rotate webhook secret: %w", err)
	}
	return changed.Unwrap(), token, nil
}
