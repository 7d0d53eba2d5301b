package webhooks

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/predicate"
	"github.com/postrider/postrider/ent/webhook"
	"github.com/postrider/postrider/ent/webhookattempt"
	"github.com/postrider/postrider/ent/webhookdelivery"
	"github.com/postrider/postrider/ent/webhookwork"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/storage/timeseries"
	"github.com/postrider/postrider/runtime/work/event"
)

// Filter narrows the deliveries of an endpoint. Empty fields match everything.
type Filter struct {
	page.Request

	State        string     // pending, delivered, failed
	Event        string     // such as email.bounced
	Since, Until *time.Time // bounds of the event's time: Since inclusive, Until exclusive
}

// oldestID returns the smallest delivery id that may still be read. In a table split by month, expired rows
// remain until their month is dropped.
func oldestID() string { return id.Since(id.WebhookDelivery, time.Now().Add(-deleteAfter)) }

// Deliveries returns one page of the deliveries to an endpoint of the account, newest events first. It returns
// NotFound or Invalid.
func (s *Service) Deliveries(ctx context.Context, accountID, webhookID string,
	f Filter) (page.Page[*ent.WebhookDelivery], error) {
	if _, err := s.Get(ctx, accountID, webhookID); err != nil {
		return page.Page[*ent.WebhookDelivery]{}, err
	}
	query, err := s.queryDeliveries(accountID, webhookID, f)
	if err != nil {
		return page.Page[*ent.WebhookDelivery]{}, err
	}
	found, err := page.ReadNewest(ctx, s.cursors,
		page.List{Name: "webhook deliveries/" + webhookID, AccountID: accountID},
		f.Request, query,
		func(d *ent.WebhookDelivery) string { return d.ID })
	if err != nil {
		return found, err
	}
	return found, s.countRunning(ctx, found.Items...)
}

func (s *Service) queryDeliveries(accountID, webhookID string, f Filter) (*ent.WebhookDeliveryQuery, error) {
	query := s.db.Ent.WebhookDelivery.Query().Where(webhookdelivery.WebhookID(webhookID),
		webhookdelivery.AccountID(accountID), webhookdelivery.IDGTE(oldestID()))
	if f.State != "" {
		if webhookdelivery.StateValidator(webhookdelivery.State(f.State)) != nil {
			return nil, fault.InvalidField("state", "must be pending, delivered or failed")
		}
		query.Where(ofState(webhookdelivery.State(f.State), webhookID))
	}
	if f.Event != "" {
		if err := fault.CheckTexts(map[string]string{"event": f.Event}); err != nil {
			return nil, err
		}
		query.Where(webhookdelivery.EventType(f.Event))
	}
	if f.Since != nil && f.Until != nil && !f.Since.Before(*f.Until) {
		return nil, fault.InvalidField("since", "must be before the end")
	}
	if f.Since != nil {
		query.Where(webhookdelivery.IDGTE(id.Since(id.WebhookDelivery, *f.Since)))
	}
	if f.Until != nil {
		query.Where(webhookdelivery.IDLT(id.Since(id.WebhookDelivery, *f.Until)))
	}
	return query, nil
}

// ofState returns the condition for a state. The rare states failed and pending have small indexes of their
// own.
func ofState(state webhookdelivery.State, webhookID string) predicate.WebhookDelivery {
	is := webhookdelivery.StateEQ(state)
	switch state {
	case webhookdelivery.StateFailed:
		return webhookdelivery.And(is, webhookdelivery.FailedNotNil())
	case webhookdelivery.StatePending:
		return webhookdelivery.And(is, func(s *entsql.Selector) {
			s.Where(entsql.P(func(b *entsql.Builder) {
				b.Ident(s.C(webhookdelivery.FieldID)).WriteString(` IN (SELECT id FROM webhook_works WHERE webhook_id = `).
					Arg(webhookID).WriteString(` UNION ALL SELECT unnest(delivery_ids) FROM webhook_claims)`)
			}))
		})
	default:
		return is
	}
}

// CountDeliveries counts the deliveries that match a filter, up to the limit most.
func (s *Service) CountDeliveries(ctx context.Context, accountID, webhookID string, f Filter, most int) (int, error) {
	query, err := s.queryDeliveries(accountID, webhookID, f)
	if err != nil {
		return 0, err
	}
	found, err := query.Limit(most).IDs(ctx)
	return len(found), err
}

// countRunning adds unfinished attempts, which only the work rows count.
func (s *Service) countRunning(ctx context.Context, rows ...*ent.WebhookDelivery) error {
	var waiting []string
	for _, d := range rows {
		if d.State == webhookdelivery.StatePending {
			waiting = append(waiting, d.ID)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	work, err := s.db.Ent.WebhookWork.Query().Where(webhookwork.IDIn(waiting...)).All(ctx)
	if err != nil {
		return fmt.Errorf("read webhook work: %w", err)
	}
	attempts := make(map[string]int, len(work))
	for _, w := range work {
		attempts[w.ID] = w.Attempts
	}
	if len(work) < len(waiting) {
		running, err := s.firstAttempts(ctx, rows[0].AccountID, waiting)
		if err != nil {
			return err
		}
		for _, a := range running {
			attempts[a.DeliveryID] = a.Number
		}
	}
	for _, d := range rows {
		d.Attempts = max(d.Attempts, attempts[d.ID])
	}
	return nil
}

// Delivery returns one delivery. Its endpoint may have been deleted.
func (s *Service) Delivery(ctx context.Context, accountID, deliveryID string) (*ent.WebhookDelivery, error) {
	found, err := s.db.Ent.WebhookDelivery.Query().
		Where(webhookdelivery.ID(deliveryID), webhookdelivery.AccountID(accountID), webhookdelivery.IDGTE(oldestID())).
		Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, fault.NoSuch("webhook delivery", deliveryID)
	case err != nil:
		return nil, fmt.Errorf("get webhook delivery: %w", err)
	}
	return found, s.countRunning(ctx, found)
}

// Attempts returns the attempts of the account's deliveries, oldest first, keyed by delivery id.
func (s *Service) Attempts(ctx context.Context, accountID string,
	deliveryIDs ...string) (map[string][]*ent.WebhookAttempt, error) {
	rows, err := s.db.Ent.WebhookAttempt.Query().
		Where(webhookattempt.DeliveryIDIn(deliveryIDs...), webhookattempt.AccountID(accountID)).
		Order(ent.Asc(webhookattempt.FieldDeliveryID), ent.Asc(webhookattempt.FieldFence)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("list webhook attempts: %w", err)
	}
	found := make(map[string][]*ent.WebhookAttempt, len(deliveryIDs))
	for _, row := range rows {
		found[row.DeliveryID] = append(found[row.DeliveryID], row)
	}
	if len(found) == len(deliveryIDs) {
		return found, nil
	}
	running, err := s.firstAttempts(ctx, accountID, deliveryIDs)
	for _, a := range running {
		if found[a.DeliveryID] == nil {
			found[a.DeliveryID] = []*ent.WebhookAttempt{a}
		}
	}
	return found, err
}

// Body returns the exact bytes that are sent to the endpoint, or nil if the event was erased.
func (s *Service) Body(ctx context.Context, d *ent.WebhookDelivery) (json.RawMessage, error) {
	const dataSQL = `
SELECT coalesce(d.data, f.data)::text, d.event_created_at FROM webhook_deliveries d
LEFT JOIN facts f ON f.id = d.event_id AND f.account_id = d.account_id WHERE d.id = $1 AND d.account_id = $2`
	type stored struct {
		data []byte
		at   time.Time
	}
	found, err := db.One(ctx, s.db.SQL, func(x *stored) []any { return []any{&x.data, &x.at} }, dataSQL, d.ID,
		d.AccountID)
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && found.data == nil:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read webhook body: %w", err)
	}
	return event.Encode(d.AccountID, "", event.Type(d.EventType), found.at, found.data)
}

// DeliveriesOfEvents returns the account's deliveries of the given events, oldest first, keyed by event id.
func (s *Service) DeliveriesOfEvents(ctx context.Context, accountID string,
	eventIDs ...string) (map[string][]*ent.WebhookDelivery, error) {
	rows, err := s.db.Ent.WebhookDelivery.Query().Where(webhookdelivery.EventIDIn(eventIDs...),
		webhookdelivery.AccountID(accountID), webhookdelivery.IDGTE(oldestID())).Order(webhookdelivery.ByID()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read webhook deliveries: %w", err)
	}
	found := make(map[string][]*ent.WebhookDelivery, len(eventIDs))
	for _, row := range rows {
		found[row.EventID] = append(found[row.EventID], row)
	}
	return found, nil
}

const latestAmong = 10_000

const (
	latestSQL = `
SELECT d.webhook_id, d.id FROM unnest($1::text[]) w, LATERAL (
	SELECT webhook_id, id FROM (SELECT webhook_id, id, state FROM webhook_deliveries WHERE webhook_id = w AND account_id = $2 AND id >= $6 ORDER BY id DESC LIMIT $5) of
	 WHERE $3 = '' OR state = $3 ORDER BY id DESC LIMIT $4) d`
	ofSubjectsSQL = `
SELECT f.subject_id, d.id FROM facts f JOIN webhook_deliveries d ON d.event_id = f.id AND d.account_id = f.account_id AND d.id >= $3
 WHERE f.subject_id = ANY($1) AND f.account_id = $2 ORDER BY d.id`
)

// Latest returns the latest deliveries to each of the account's given endpoints, newest first, keyed by
// endpoint id: at most `most` per endpoint, and only those in state unless it is empty. It searches only the
// latest 10,000 deliveries of each endpoint, because none of them may be in that state.
func (s *Service) Latest(ctx context.Context, accountID, state string, most int,
	webhookIDs ...string) (map[string][]*ent.WebhookDelivery, error) {
	found, err := s.deliveriesBy(ctx, accountID, latestSQL, db.Array(webhookIDs), accountID, state, most, latestAmong,
		oldestID())
	for _, list := range found {
		slices.SortFunc(list, func(x, y *ent.WebhookDelivery) int { return strings.Compare(y.ID, x.ID) })
	}
	return found, err
}

// DeliveriesOfSubjects returns the account's deliveries of events about the given subjects, oldest first, keyed
// by subject id.
func (s *Service) DeliveriesOfSubjects(ctx context.Context, accountID string,
	subjectIDs ...string) (map[string][]*ent.WebhookDelivery, error) {
	return s.deliveriesBy(ctx, accountID, ofSubjectsSQL, db.Array(subjectIDs), accountID, oldestID())
}

// deliveriesBy reads the deliveries that a statement selects, grouped by the key in its first column.
func (s *Service) deliveriesBy(ctx context.Context, accountID, query string,
	args ...any) (map[string][]*ent.WebhookDelivery, error) {
	type link struct{ of, id string }
	links, err := db.All(ctx, s.db.SQL, func(l *link) []any { return []any{&l.of, &l.id} }, query, args...)
	if err != nil || len(links) == 0 {
		return nil, err
	}
	by, ids := make(map[string]string, len(links)), make([]string, len(links))
	for i, l := range links {
		by[l.id], ids[i] = l.of, l.id
	}
	rows, err := s.db.Ent.WebhookDelivery.Query().
		Where(webhookdelivery.IDIn(ids...), webhookdelivery.AccountID(accountID)).Order(webhookdelivery.ByID()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read webhook deliveries: %w", err)
	}
	if err := s.countRunning(ctx, rows...); err != nil {
		return nil, err
	}
	out := map[string][]*ent.WebhookDelivery{}
	for _, row := range rows {
		out[by[row.ID]] = append(out[by[row.ID]], row)
	}
	return out, nil
}

// DeliveryCounts counts the deliveries of the events of a period.
type DeliveryCounts struct {
	Deliveries int64
	Succeeded  int64 // got a 2xx response
	Failed     int64 // used all attempts
	Attempts   int64 // finished

	// median and 95th percentile of the time from the event to the 2xx response; 0: no such response
	Half, Most time.Duration
}

// EndpointFigures contains the counts of one endpoint.
type EndpointFigures struct {
	Webhook *ent.Webhook
	Figures DeliveryCounts
}

// DeliveryStatistics is the result of QueryStatistics. Periods without deliveries are included.
type DeliveryStatistics struct {
	Totals    DeliveryCounts
	Buckets   []timeseries.Bucket[DeliveryCounts]
	Endpoints []EndpointFigures // oldest first
}

// longestRange is slightly longer than the retention of deliveries.
const longestRange = 31 * 24 * time.Hour

// figuresSQL counts by endpoint, by period and in total. A key that does not apply is empty or -1.
const figuresSQL = `
SELECT coalesce(webhook_id, ''), coalesce(period, -1), count(*), count(*) FILTER (WHERE state = 'delivered'), count(*) FILTER (WHERE state = 'failed'), coalesce(sum(attempts), 0)::bigint,
	coalesce(percentile_disc(0.5) WITHIN GROUP (ORDER BY took), 0)::float8, coalesce(percentile_disc(0.95) WITHIN GROUP (ORDER BY took), 0)::float8
  FROM (SELECT webhook_id, width_bucket(id, $5::text[] COLLATE "C") - 1 AS period, state, attempts,
		CASE WHEN state = 'delivered' THEN greatest(extract(epoch FROM settled_at - event_created_at), 0) END AS took
	  FROM webhook_deliveries WHERE webhook_id = ANY($1) AND account_id = $2 AND id >= $3 AND id < $4) d
 GROUP BY GROUPING SETS ((webhook_id), (period), ())`

// QueryStatistics returns delivery statistics of the account's endpoints for events in a range of at most 31 days: in
// total, by period and by endpoint. With a webhook id it covers only that endpoint. It returns NotFound or
// Invalid.
func (s *Service) QueryStatistics(ctx context.Context, accountID, webhookID string,
	q timeseries.Query) (DeliveryStatistics, error) {
	wrong := fault.Fields{}
	if q.Range.Until.Sub(q.Range.Since) > longestRange {
		wrong.Add("range", "must span at most 31 days")
	}
	axis := q.Axis(wrong, 0)
	if err := wrong.Err(); err != nil {
		return DeliveryStatistics{}, err
	}
	var a DeliveryStatistics
	query := s.db.Ent.Webhook.Query().Where(webhook.AccountID(accountID)).Order(webhook.ByID())
	if webhookID != "" {
		if _, err := s.Get(ctx, accountID, webhookID); err != nil {
			return a, err
		}
		query.Where(webhook.ID(webhookID))
	}
	endpoints, err := query.All(ctx)
	if err != nil {
		return a, fmt.Errorf("read webhook statistics: %w", err)
	}
	ids := make([]string, len(endpoints))
	for i, w := range endpoints {
		ids[i] = w.ID
	}
	type row struct {
		id     string
		period int
		DeliveryCounts
	}
	starts := make([]string, len(axis.Starts))
	for i, at := range axis.Starts {
		starts[i] = id.Since(id.WebhookDelivery, at)
	}
	var found []row
	err = s.db.Read(ctx, func(on *ent.Client) (err error) {
		found, err = db.All(ctx, on, func(r *row) []any {
			return []any{&r.id, &r.period, &r.Deliveries, &r.Succeeded, &r.Failed, &r.Attempts, (*seconds)(&r.Half),
				(*seconds)(&r.Most)}
		}, figuresSQL, db.Array(ids), accountID, starts[0], id.Since(id.WebhookDelivery, axis.End), db.Array(starts))
		return err
	})
	if err != nil {
		return a, fmt.Errorf("read webhook statistics: %w", err)
	}
	a.Buckets = timeseries.Buckets[DeliveryCounts](axis)
	by := map[string]DeliveryCounts{}
	for _, r := range found {
		switch {
		case r.period >= 0:
			a.Buckets[r.period].Figures = r.DeliveryCounts
		case r.id != "":
			by[r.id] = r.DeliveryCounts
		default:
			a.Totals = r.DeliveryCounts
		}
	}
	for _, w := range endpoints {
		a.Endpoints = append(a.Endpoints, EndpointFigures{w, by[w.ID]})
	}
	return a, nil
}

// seconds scans a number of seconds.
type seconds time.Duration

// Scan implements sql.Scanner.
func (s *seconds) Scan(value any) error {
	n, is := value.(float64)
	if !is {
		return fmt.Errorf("%v is not a number of seconds", value)
	}
	*s = seconds(n * float64(time.Second))
	return nil
}
