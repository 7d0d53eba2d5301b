package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/webhooks"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/idempotency"
	"github.com/postrider/postrider/runtime/page"
)

// WebhookLog is what these operations need of webhooks.
type WebhookLog interface {
	Deliveries(ctx context.Context, accountID, webhookID string, f webhooks.Filter) (page.Page[*ent.WebhookDelivery], error)
	Delivery(ctx context.Context, accountID, deliveryID string) (*ent.WebhookDelivery, error)
	Attempts(ctx context.Context, accountID string, deliveryIDs ...string) (map[string][]*ent.WebhookAttempt, error)
	Body(ctx context.Context, d *ent.WebhookDelivery) (json.RawMessage, error)
	Replay(ctx context.Context, accountID, deliveryID string, keep webhooks.KeepReplay) (*ent.WebhookDelivery, error)
	Recover(ctx context.Context, accountID, webhookID string, in webhooks.Recovery) (webhooks.Recovered, error)
}

var _ WebhookLog = (*webhooks.Service)(nil)

type webhookDelivery struct {
	ID            string            `json:"id" example:"whd_01kf0m4w7he6x8q2v5b3n9c1ta"`
	WebhookID     string            `json:"webhook_id" example:"wh_01kf0m4w7he6x8q2v5b3n9c1ta"`
	EventID       string            `json:"event_id" doc:"The same in each attempt, as Service-Event-Id." example:"evt_01kf0m4w7he6x8q2v5b3n9c1ta"`
	EventType     string            `json:"event_type" example:"email.bounced"`
	State         string            `json:"state" enum:"pending,delivered,failed"`
	AttemptCount  int               `json:"attempt_count" doc:"All that were begun."`
	NextAttemptAt optionalTimestamp `json:"next_attempt_at" doc:"null when no more is to come."`
	Replays       int               `json:"replays" doc:"How often it was queued again."`
	StatusCode    *int              `json:"status_code" doc:"Of the latest answer; null when there was none."`
	Error         *string           `json:"error" doc:"Why the latest attempt had no answer." example:"no answer within 10s"`
	CreatedAt     timestamp         `json:"created_at"`
	SettledAt     optionalTimestamp `json:"settled_at"`
}

type webhookAttempt struct {
	Number     int               `json:"number" doc:"From 1, as Service-Delivery-Attempt."`
	StartedAt  timestamp         `json:"started_at"`
	FinishedAt optionalTimestamp `json:"finished_at" doc:"null while it runs."`
	Outcome    *string           `json:"outcome" doc:"null while it runs. unknown: it was cut off, and whether the endpoint has heard it is not known." enum:"delivered,failed,unknown"`
	StatusCode *int              `json:"status_code"`
	Error      *string           `json:"error" doc:"What happened instead of an answer."`
	Response   string            `json:"response" doc:"The first 4 KiB of the answer's body."`
	RemoteAddr *string           `json:"remote_addr" example:"203.0.113.7:443"`
	DurationMS *int              `json:"duration_ms"`
}

// webhookDeliveryDetail has what the list leaves out.
type webhookDeliveryDetail struct {
	webhookDelivery

	Body     webhookBody      `json:"body" doc:"What is sent; null when the event was erased."`
	Attempts []webhookAttempt `json:"attempts" nullable:"false"`
}

// webhookBody is a delivery's body as it is sent.
type webhookBody json.RawMessage

// MarshalJSON implements json.Marshaler.
func (b webhookBody) MarshalJSON() ([]byte, error) {
	if b == nil {
		return []byte("null"), nil
	}
	return b, nil
}

// Schema implements huma.SchemaProvider.
func (webhookBody) Schema(r huma.Registry) *huma.Schema {
	s := testEvent{}.Schema(r)
	s.Nullable = true
	return s
}

type webhookDeliveryAnswer struct {
	Delivery webhookDeliveryDetail `json:"delivery"`
}

type webhookReplayAnswer struct {
	Delivery webhookDelivery `json:"delivery"`
}

type webhookDeliveryList struct {
	Deliveries []webhookDelivery `json:"deliveries" nullable:"false"`
	HasMore    bool              `json:"has_more"`
	NextCursor *string           `json:"next_cursor" doc:"Give it as cursor to get the next page; null on the last."`
}

type webhookRecovered struct {
	Recovered int  `json:"recovered" doc:"Deliveries that were queued."`
	HasMore   bool `json:"has_more" doc:"There are more than one request queues: send it again."`
}

type webhookDeliveryQuery struct {
	ID     string `path:"id" doc:"Id of the webhook endpoint." example:"wh_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"25" doc:"How many to return."`
	Cursor string `query:"cursor" doc:"next_cursor of the page before; opaque. Left out: the newest."`
	State  string `query:"state" enum:"pending,delivered,failed" doc:"Only those in this state."`
}

type webhookDeliveryID struct {
	ID string `path:"id" doc:"Id of the delivery." example:"whd_01kf0m4w7he6x8q2v5b3n9c1ta"`
}

func (in *webhookDeliveryID) check() error {
	if !id.Is(id.WebhookDelivery, in.ID) {
		return fault.Missing("webhook delivery", shown(in.ID))
	}
	return nil
}

type webhookLogEdge struct {
	api   *API
	log   WebhookLog
	store Idempotency
}

// WebhookDeliveries makes the routes of what was delivered to webhook endpoints.
func WebhookDeliveries(service WebhookLog, store Idempotency) Routes {
	return Routes{name: "webhook deliveries", add: func(a *API) {
		e := &webhookLogEdge{api: a, log: service, store: store}
		register(a, operation{
			method: http.MethodGet, path: "/webhooks/{id}/deliveries", id: "listWebhookDeliveries", tag: tagWebhooks, needs: accounts.Read,
			summary: "List the deliveries to a webhook endpoint", description: "Newest first, of the last 30 days.",
			example:  map[string]any{"deliveries": []any{webhookDeliveryExample()}, "has_more": false, "next_cursor": nil},
			problems: []int{http.StatusNotFound},
		}, e.list)
		register(a, operation{
			method: http.MethodGet, path: "/webhook-deliveries/{id}", id: "getWebhookDelivery", tag: tagWebhooks, needs: accounts.Read,
			summary: "Retrieve a webhook delivery", description: "With what is sent and every attempt.",
			example: map[string]any{"delivery": webhookDetailExample()}, problems: []int{http.StatusNotFound},
		}, e.get)
		add(a, operation{
			method: http.MethodPost, path: "/webhook-deliveries/{id}/replay", id: "replayWebhookDelivery", tag: tagWebhooks, needs: accounts.Write, idempotent: true,
			summary: "Replay a webhook delivery",
			description: "Queues it again, whatever became of it, with all five attempts before it and the same event id. 409 while it is still on its way, when the endpoint is " +
				"switched off or deleted, and when the event was erased.",
			answer:  reflect.TypeFor[webhookReplayAnswer](),
			example: map[string]any{"delivery": webhookDeliveryExample()}, problems: []int{http.StatusNotFound, http.StatusConflict},
		}, e.replay)
		add(a, operation{
			method: http.MethodPost, path: "/webhooks/{id}/recover", id: "recoverWebhook", tag: tagWebhooks, needs: accounts.Write, idempotent: true,
			summary: "Bring a webhook endpoint what it has missed",
			description: "Queues the events since a time, of the last 30 days, that the endpoint subscribes to and has not got: deliveries that failed and, unless `only_failed` is true, " +
				"events for which none was made because it was switched off. Nothing is queued twice. 409 while the endpoint is switched off.",
			body: &requestBody{description: "From when on.", schema: "RecoverWebhook", examples: map[string]any{
				"outage": map[string]any{"since": "2026-01-15T09:00:00Z", "until": "2026-01-15T12:00:00Z"}}},
			answer:  reflect.TypeFor[webhookRecovered](),
			example: map[string]any{"recovered": 42, "has_more": false}, problems: []int{http.StatusNotFound, http.StatusConflict},
		}, e.recover)
		a.describeBody("RecoverWebhook", closed(map[string]*huma.Schema{
			"since":       {Type: huma.TypeString, Format: "date-time", Description: "Events from then on; 30 days back at most."},
			"until":       {Type: huma.TypeString, Format: "date-time", Nullable: true, Description: "Events until then; left out: until now."},
			"only_failed": {Type: huma.TypeBoolean, Nullable: true, Default: false, Description: "Only what was tried and failed."},
		}, "since"))
	}}
}

// orNull is null for what is stored as an empty string.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func newWebhookDelivery(d *ent.WebhookDelivery) webhookDelivery {
	return webhookDelivery{ID: d.ID, WebhookID: d.WebhookID, EventID: d.EventID, EventType: d.EventType, State: string(d.State), AttemptCount: d.Attempts,
		NextAttemptAt: optionalTimestamp{d.DueAt}, Replays: d.Replays, StatusCode: d.StatusCode, Error: orNull(d.Error), CreatedAt: timestamp(d.CreatedAt),
		SettledAt: optionalTimestamp{d.SettledAt}}
}

func newWebhookAttempt(t *ent.WebhookAttempt) webhookAttempt {
	out := webhookAttempt{Number: t.Number, StartedAt: timestamp(t.StartedAt), FinishedAt: optionalTimestamp{t.FinishedAt}, StatusCode: t.StatusCode,
		Error: orNull(t.Error), Response: t.Response, RemoteAddr: orNull(t.RemoteAddr), DurationMS: t.DurationMs}
	if t.Outcome != nil {
		out.Outcome = orNull(string(*t.Outcome))
	}
	return out
}

func (e *webhookLogEdge) list(ctx context.Context, c *call, in *webhookDeliveryQuery) (*webhookDeliveryList, error) {
	if err := (&webhookID{ID: in.ID}).check(); err != nil {
		return nil, err
	}
	found, err := e.log.Deliveries(ctx, c.AccountID, in.ID, webhooks.Filter{Request: page.Request{Limit: in.Limit, Cursor: in.Cursor}, State: in.State})
	if err != nil {
		return nil, err
	}
	out := webhookDeliveryList{Deliveries: []webhookDelivery{}, HasMore: found.HasMore, NextCursor: nextCursor(found.NextCursor)}
	for _, d := range found.Items {
		out.Deliveries = append(out.Deliveries, newWebhookDelivery(d))
	}
	return &out, nil
}

func (e *webhookLogEdge) get(ctx context.Context, c *call, in *webhookDeliveryID) (*webhookDeliveryAnswer, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	found, err := e.log.Delivery(ctx, c.AccountID, in.ID)
	if err != nil {
		return nil, err
	}
	attempts, err := e.log.Attempts(ctx, c.AccountID, in.ID)
	if err != nil {
		return nil, err
	}
	body, err := e.log.Body(ctx, found)
	if err != nil {
		return nil, err
	}
	out := webhookDeliveryDetail{webhookDelivery: newWebhookDelivery(found), Body: webhookBody(body), Attempts: []webhookAttempt{}}
	for _, t := range attempts[found.ID] {
		out.Attempts = append(out.Attempts, newWebhookAttempt(t))
	}
	return &webhookDeliveryAnswer{out}, nil
}

func (e *webhookLogEdge) replay(ctx context.Context, in *webhookDeliveryID) (*stored, error) {
	c := callOf(ctx)
	if err := in.check(); err != nil {
		return nil, e.api.fail(ctx, c.requestID, err)
	}
	answer := func(d *ent.WebhookDelivery) (idempotency.Answer, error) {
		return success(webhookReplayAnswer{newWebhookDelivery(d)})
	}
	return e.api.once(ctx, e.store, c, "POST "+Prefix+"/webhook-deliveries/"+in.ID+"/replay", func(claim *idempotency.Claim) (idempotency.Answer, error) {
		var keep webhooks.KeepReplay
		if claim != nil {
			keep = func(ctx context.Context, tx idempotency.Execer, d *ent.WebhookDelivery) error {
				kept, err := answer(d)
				if err != nil {
					return err
				}
				return e.store.Keep(ctx, tx, claim, kept)
			}
		}
		queued, err := e.log.Replay(ctx, c.AccountID, in.ID, keep)
		if err != nil {
			return idempotency.Answer{}, err
		}
		return answer(queued)
	})
}

func (e *webhookLogEdge) recover(ctx context.Context, in *webhookID) (*stored, error) {
	c := callOf(ctx)
	recovery, err := decodeRecovery(c)
	if err == nil {
		err = in.check()
	}
	if err != nil {
		return nil, e.api.fail(ctx, c.requestID, err)
	}
	answer := func(done webhooks.Recovered) (idempotency.Answer, error) {
		return success(webhookRecovered{Recovered: done.Count, HasMore: done.HasMore})
	}
	return e.api.once(ctx, e.store, c, "POST "+Prefix+"/webhooks/"+in.ID+"/recover", func(claim *idempotency.Claim) (idempotency.Answer, error) {
		if claim != nil {
			recovery.Keep = func(ctx context.Context, tx idempotency.Execer, done webhooks.Recovered) error {
				kept, err := answer(done)
				if err != nil {
					return err
				}
				return e.store.Keep(ctx, tx, claim, kept)
			}
		}
		done, err := e.log.Recover(ctx, c.AccountID, in.ID, recovery)
		if err != nil {
			return idempotency.Answer{}, err
		}
		return answer(done)
	})
}

func decodeRecovery(c *call) (r webhooks.Recovery, err error) {
	body, err := parseObject(c.body)
	if err != nil {
		return r, err
	}
	given := false
	d := newDecoder()
	d.object("", body, []field{
		{name: "since", decode: func(path string, v value) { given = true; r.Since, _ = d.time(path, v) }},
		{name: "until", decode: func(path string, v value) {
			if at, ok := d.time(path, v); ok {
				r.Until = &at
			}
		}},
		{name: "only_failed", decode: func(path string, v value) { r.OnlyFailed = d.boolean(path, v) }},
	})
	if !given {
		d.refuse("since", "is required")
	}
	return r, d.wrong.Err()
}

func webhookDeliveryExample() map[string]any {
	return map[string]any{"id": "whd_01kf0m4w7he6x8q2v5b3n9c1ta", "webhook_id": "wh_01kf0m4w7he6x8q2v5b3n9c1ta", "event_id": "evt_01kf0m4w7he6x8q2v5b3n9c1ta",
		"event_type": "email.bounced", "state": "pending", "attempt_count": 1, "next_attempt_at": "2026-01-15T09:30:15.000Z", "replays": 0, "status_code": nil,
		"error": "no answer within 10s", "created_at": "2026-01-15T09:30:00.000Z", "settled_at": nil}
}

func webhookDetailExample() map[string]any {
	out := webhookDeliveryExample()
	out["body"] = map[string]any{"type": "contact.unsubscribed", "created_at": "2026-01-15T09:30:00.000Z", "data": map[string]any{"email": "bob@example.net"}}
	out["event_type"] = "contact.unsubscribed"
	out["attempts"] = []any{map[string]any{"number": 1, "started_at": "2026-01-15T09:30:00.000Z", "finished_at": "2026-01-15T09:30:10.000Z", "outcome": "failed",
		"status_code": nil, "error": "no answer within 10s", "response": "", "remote_addr": "203.0.113.7:443", "duration_ms": 10000}}
	return out
}
