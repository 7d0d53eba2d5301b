package alerts

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// maxAge is the age above which an event causes no alert, for example after the module was disabled for a week.
const maxAge = 24 * time.Hour

// NewConsumer returns the consumer that turns events of a team into alerts to its members.
func NewConsumer() bus.Consumer {
	return bus.Consumer{Group: "alerts", Handle: handleFact, Types: []event.Type{event.WebhookDisabled,
		event.DomainTemporaryFailure, event.DomainFailed, event.DomainLost, event.AccountRateExceeded,
		event.DomainDeliverabilityDegraded}}
}

// teamAlert is an alert to the members of a team.
type teamAlert struct {
	topic Topic
	kind  Kind
	names map[string]string // values of the email, and the path of the page that it links to
}

// handleFact queues the alert about an event. Every event is a change to a worse state, and the object must have
// recovered before it can happen again, so each occurrence causes one alert.
func handleFact(ctx context.Context, tx db.Execer, fact event.Fact) error {
	if time.Since(fact.CreatedAt) > maxAge {
		return nil
	}
	a, err := newTeamAlert(fact)
	if err != nil {
		return fmt.Errorf("alert about %s: %w", fact.ID, err)
	}
	return addTeamAlert(ctx, tx, fact, a)
}

func newTeamAlert(fact event.Fact) (teamAlert, error) {
	switch fact.Type {
	case event.WebhookDisabled:
		return newWebhookAlert(fact)
	case event.AccountRateExceeded:
		return newRateAlert(fact)
	case event.DomainDeliverabilityDegraded:
		return newDegradationAlert(fact)
	}
	var d event.Domain
	if err := json.Unmarshal(fact.Data, &d); err != nil {
		return teamAlert{}, err
	}
	kind := map[event.Type]Kind{event.DomainTemporaryFailure: DomainBroken, event.DomainFailed: DomainFailed,
		event.DomainLost: DomainLost}[fact.Type]
	return teamAlert{Domains, kind, map[string]string{"domain": d.Name, "path": "/domains/" + d.DomainID}}, nil
}

func newWebhookAlert(fact event.Fact) (teamAlert, error) {
	var d event.DisabledWebhook
	if err := json.Unmarshal(fact.Data, &d); err != nil {
		return teamAlert{}, err
	}
	kind := EndpointFailing
	if d.Reason == "gone" {
		kind = EndpointGone
	}
	names := map[string]string{"path": "/webhooks/" + d.WebhookID}
	if at, err := url.Parse(d.URL); err == nil {
		names["host"] = at.Hostname()
	}
	return teamAlert{Webhooks, kind, names}, nil
}

func newRateAlert(fact event.Fact) (teamAlert, error) {
	var d event.ExceededRate
	if err := json.Unmarshal(fact.Data, &d); err != nil {
		return teamAlert{}, err
	}
	kind := BounceRate
	if d.Rate == event.ComplaintRate {
		kind = ComplaintRate
	}
	return teamAlert{Rates, kind, map[string]string{"share": formatPercent(d.Share), "limit": formatPercent(d.Limit),
		"path": "/statistics"}}, nil
}

func newDegradationAlert(fact event.Fact) (teamAlert, error) {
	var d event.Degradation
	if err := json.Unmarshal(fact.Data, &d); err != nil {
		return teamAlert{}, err
	}
	kind := MailRefused
	if d.Problem == event.MailDeferred {
		kind = MailDeferred
	}
	return teamAlert{Deliverability, kind, map[string]string{"domain": d.Name, "provider": d.Provider,
		"share": formatPercent(d.Share), "previous": formatPercent(d.PreviousShare), "cause": d.Cause,
		"path": "/domains/" + d.DomainID + "?tab=deliverability"}}, nil
}

// formatPercent formats a share with at most two digits after the point.
func formatPercent(share float64) string {
	return strconv.FormatFloat(float64(int64(share*10000+0.5))/100, 'f', -1, 64) + "%"
}

// addTeamAlertSQL queues an alert for each member whose role allows acting on it and who has not switched off the
// topic. A person gets at most $7 alerts of a kind per day and team, however many objects break together.
const addTeamAlertSQL = `
INSERT INTO security_alerts (user_id, email, kind, names, due_at, attempts, created_at)
SELECT u.id, u.email, $2::text, $3::jsonb || jsonb_build_object('name', u.name, 'team', a.name), now(), 0, now()
  FROM memberships m JOIN users u ON u.id = m.user_id AND u.disabled_at IS NULL JOIN accounts a ON a.id = m.account_id
 WHERE m.account_id = $1 AND m.role = ANY ($4::text[]) AND NOT coalesce(m.muted_alerts ? $5::text, false)
   AND NOT EXISTS (SELECT FROM security_alerts b WHERE b.user_id = u.id AND b.kind = $2 AND b.names->>'event' = $6::text)
   AND (SELECT count(*) FROM security_alerts b WHERE b.user_id = u.id AND b.kind = $2 AND b.names->>'account' = $1
		AND b.created_at > now() - interval '1 day') < $7`

func addTeamAlert(ctx context.Context, tx db.Execer, fact event.Fact, a teamAlert) error {
	names := map[string]string{"account": fact.AccountID, "topic": string(a.topic), "event": fact.ID}
	maps.Copy(names, a.names)
	encoded, err := json.Marshal(names)
	if err != nil {
		return err
	}
	n, err := db.Exec(ctx, tx, addTeamAlertSQL, fact.AccountID, string(a.kind), string(encoded),
		db.Array(a.topic.roles()), string(a.topic), fact.ID, mailsADay)
	if err != nil || n == 0 {
		return err
	}
	return db.Notify(ctx, tx, Channel)
}
