package webhooks

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/webhooks"
	"github.com/postrider/postrider/modules/webhooks/post"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/rest/events"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/event"
)

// Log is the part of webhooks that these operations use.
type Log interface {
	Deliveries(ctx context.Context, accountID, webhookID string,
		f webhooks.Filter) (page.Page[*ent.WebhookDelivery], error)
	Delivery(ctx context.Context, accountID, deliveryID string) (*ent.WebhookDelivery, error)
	Attempts(ctx context.Context, accountID string, deliveryIDs ...string) (map[string][]*ent.WebhookAttempt, error)
	Body(ctx context.Context, d *ent.WebhookDelivery) (json.RawMessage, error)
	Replay(ctx context.Context, accountID, deliveryID string,
		keep webhooks.StoreReplayResponse) (*ent.WebhookDelivery, error)
	Recover(ctx context.Context, accountID, webhookID string, in webhooks.Recovery) (webhooks.RecoveryResult, error)
}

var _ Log = (*webhooks.Service)(nil)

// WebhookDelivery is a delivery in a list. It is exported because the document only includes the fields of embedded
// structs with exported types.
type WebhookDelivery struct {
	ID            string            `json:"id" doc:"The ID of the delivery." example:"whd_01kf0m4w7he6x8q2v5b3n9c1ta"`
	WebhookID     string            `json:"webhook_id" doc:"The ID of the webhook endpoint." example:"wh_01kf0m4w7he6x8q2v5b3n9c1ta"`
	EventID       string            `json:"event_id" doc:"The event ID, the same in each attempt (header Service-Event-Id)." example:"evt_01kf0m4w7he6x8q2v5b3n9c1ta"`
	EventType     string            `json:"event_type" doc:"The type of the event." example:"email.bounced"`
	State         string            `json:"state" enum:"pending,delivered,failed" doc:"The state of the delivery."`
	AttemptCount  int               `json:"attempt_count" doc:"Number of attempts that were started."`
	NextAttemptAt wire.OptionalTime `json:"next_attempt_at" doc:"When the next attempt is due. null if none is."`
	Replays       int               `json:"replays" doc:"Number of times the delivery was replayed."`
	StatusCode    *int              `json:"status_code" doc:"HTTP status of the latest response; null if there was none."`
	Error         *string           `json:"error" doc:"Why the latest attempt got no response." example:"no answer within 10s"`
	CreatedAt     wire.Time         `json:"created_at" doc:"When the delivery was queued."`
	SettledAt     wire.OptionalTime `json:"settled_at" doc:"When the delivery succeeded or failed permanently. null while it is pending."`
}

type webhookAttempt struct {
	Number     int               `json:"number" doc:"Number of the attempt, starting at 1 (header Service-Delivery-Attempt)."`
	StartedAt  wire.Time         `json:"started_at" doc:"When the attempt started."`
	FinishedAt wire.OptionalTime `json:"finished_at" doc:"When the attempt ended. null if it is running."`
	Outcome    *string           `json:"outcome" doc:"null if running. unknown: interrupted, so the endpoint may or may not have received the event." enum:"delivered,failed,unknown"`
	StatusCode *int              `json:"status_code" doc:"The HTTP status of the response. null if there was no response."`
	Error      *string           `json:"error" doc:"Why there was no response."`
	Response   string            `json:"response" doc:"The first 4 KiB of the response body."`
	Headers    []shape.Header    `json:"response_headers" nullable:"false" doc:"Up to 16 header fields of the response, at most 2 KiB. The values of cookies and credentials are not stored."`
	RemoteAddr *string           `json:"remote_addr" doc:"The address that the request was sent to. null if no connection was made." example:"203.0.113.7:443"`
	DurationMS *int              `json:"duration_ms" doc:"How long the attempt took, in milliseconds. null while it runs."`
}

// webhookDeliveryDetail has the fields that the list omits.
type webhookDeliveryDetail struct {
	WebhookDelivery

	Body     webhookBody      `json:"body" doc:"The request body. null if the event was erased."`
	Attempts []webhookAttempt `json:"attempts" nullable:"false" doc:"The attempts, oldest first."`
}

// webhookBody is the body of a delivery, exactly as it is sent.
type webhookBody json.RawMessage

// MarshalJSON implements json.Marshaler.
func (b webhookBody) MarshalJSON() ([]byte, error) {
	if b == nil {
		return []byte("null"), nil
	}
	return b, nil
}

// Schema implements huma.SchemaProvider.
func (webhookBody) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{events.DeliveredSchema(), {Type: "null"}}}
}

type webhookDeliveryAnswer struct {
	Delivery webhookDeliveryDetail `json:"delivery" doc:"The delivery, with its attempts."`
}

type webhookReplayAnswer struct {
	Delivery WebhookDelivery `json:"delivery" doc:"The delivery that was queued again."`
}

type webhookRecovered struct {
	Recovered int  `json:"recovered" doc:"Number of deliveries that were queued."`
	HasMore   bool `json:"has_more" doc:"Whether more deliveries remain. Send the request again."`
}

// deliveryQuery selects a page of the deliveries to an endpoint.
type deliveryQuery struct {
	api.Item
	api.Page

	State string `query:"state" enum:"pending,delivered,failed" doc:"Return only deliveries in this state."`
}

var delivery = api.Noun{Name: "webhook delivery", About: "ID of the delivery.",
	Example: "whd_01kf0m4w7he6x8q2v5b3n9c1ta",
	Is:      func(word string) bool { return id.Is(id.WebhookDelivery, word) }}

type logEdge struct{ log Log }

// DeliveryRoutes returns the routes for webhook deliveries.
func DeliveryRoutes(service Log) api.Routes {
	return api.NewRoutes("webhook deliveries", func(a *api.API) {
		e := &logEdge{log: service}
		g := a.Tag(tagWebhooks, "")
		api.ListBy(g, api.Operation{
			Path: "/webhooks/{id}/deliveries", ID: "listWebhookDeliveries", Needs: rights.Read,
			Summary: "List the deliveries to a webhook endpoint", Description: "Lists the deliveries of the last 30 " +
				"days to an endpoint, newest event first.",
			Example:  webhookDeliveryExample(),
			Problems: []int{http.StatusNotFound}, Of: endpoint,
		}, api.Plural{Member: "deliveries", Schema: "WebhookDeliveryList"}, e.listDeliveries, newWebhookDelivery)
		api.Handle(g, api.Operation{
			Method: http.MethodGet, Path: "/webhook-deliveries/{id}", ID: "getWebhookDelivery", Needs: rights.Read,
			Summary: "Retrieve a webhook delivery", Description: "Returns a webhook delivery with its request body " +
				"and all attempts.",
			Example: map[string]any{"delivery": webhookDetailExample()}, Problems: []int{http.StatusNotFound},
			Of: delivery,
		}, e.getDelivery)
		api.Once(g, api.Operation{
			Path: "/webhook-deliveries/{id}/replay", ID: "replayWebhookDelivery", Needs: rights.Write,
			Stores:  api.StoresNothing,
			Summary: "Replay a webhook delivery",
			Description: "Queues a delivery again, whatever its outcome, with five new attempts and the same event " +
				"ID. Fails with 409 if the delivery is still in progress, the endpoint is disabled or deleted, or " +
				"the event was erased.",
			Example:  map[string]any{"delivery": webhookDeliveryExample()},
			Problems: []int{http.StatusNotFound, http.StatusConflict}, Of: delivery,
		}, e.replayDelivery)
		api.OnceBody(g, api.Operation{
			Path: "/webhooks/{id}/recover", ID: "recoverWebhook", Needs: rights.Write, Stores: api.StoresNothing,
			Summary: "Recover missed webhook deliveries",
			Description: "Queues events of the last 30 days that the endpoint subscribes to and has not received " +
				"since a given time: failed deliveries and, unless `only_failed` is true, events without a delivery " +
				"because the endpoint was disabled. No event is queued twice. Fails with 409 while the endpoint is " +
				"disabled.",
			Body: &api.Body{About: "The time range to recover.", Examples: map[string]any{
				"outage": map[string]any{"since": "2026-01-15T09:00:00Z", "until": "2026-01-15T12:00:00Z"}}},
			Example:  map[string]any{"recovered": 42, "has_more": false},
			Problems: []int{http.StatusNotFound, http.StatusConflict}, Of: endpoint,
		}, recoveryBody, e.recoverDeliveries)
	})
}

func recoveryBody(r *webhooks.Recovery) body.Object {
	return body.Object{Name: "RecoverWebhook", Fields: []body.Field{
		{Name: "since", Type: body.Time(&r.Since), Need: body.Required, About: "Recover events from this time on, " +
			"at most 30 days ago."},
		{Name: "until", Type: body.Pointer(&r.Until, body.Time), About: "Recover events before this time. Defaults to now."},
		{Name: "only_failed", Type: body.Boolean(&r.OnlyFailed), Default: false, About: "Whether to recover only failed deliveries."},
	}}
}

func newWebhookDelivery(d *ent.WebhookDelivery) WebhookDelivery {
	return WebhookDelivery{ID: d.ID, WebhookID: d.WebhookID, EventID: d.EventID, EventType: d.EventType,
		State: string(d.State), AttemptCount: d.Attempts,
		NextAttemptAt: wire.OptionalTime{At: d.DueAt}, Replays: d.Replays, StatusCode: d.StatusCode,
		Error: wire.OrNull(d.Error), CreatedAt: wire.Time(d.CreatedAt),
		SettledAt: wire.OptionalTime{At: d.SettledAt}}
}

func newWebhookAttempt(t *ent.WebhookAttempt) webhookAttempt {
	out := webhookAttempt{Number: t.Number, StartedAt: wire.Time(t.StartedAt),
		FinishedAt: wire.OptionalTime{At: t.FinishedAt}, StatusCode: t.StatusCode,
		Error: wire.OrNull(t.Error), Response: t.Response, Headers: post.ParseHeaders(t.ResponseHeaders),
		RemoteAddr: wire.OrNull(t.RemoteAddr),
		DurationMS: t.DurationMs}
	if t.Outcome != nil {
		out.Outcome = wire.OrNull(string(*t.Outcome))
	}
	return out
}

func (e *logEdge) listDeliveries(ctx context.Context, c *api.Call,
	in *deliveryQuery) (page.Page[*ent.WebhookDelivery], error) {
	return e.log.Deliveries(ctx, c.AccountID, in.ID, webhooks.Filter{Request: in.Request(), State: in.State})
}

func (e *logEdge) getDelivery(ctx context.Context, c *api.Call, in *api.Item) (out webhookDeliveryAnswer, err error) {
	found, err := e.log.Delivery(ctx, c.AccountID, in.ID)
	if err != nil {
		return out, err
	}
	attempts, err := e.log.Attempts(ctx, c.AccountID, in.ID)
	if err != nil {
		return out, err
	}
	sent, err := e.log.Body(ctx, found)
	if err != nil {
		return out, err
	}
	return webhookDeliveryAnswer{webhookDeliveryDetail{WebhookDelivery: newWebhookDelivery(found),
		Body:     webhookBody(sent),
		Attempts: wire.ListOf(attempts[found.ID], newWebhookAttempt)}}, nil
}

func newReplayAnswer(d *ent.WebhookDelivery) webhookReplayAnswer {
	return webhookReplayAnswer{newWebhookDelivery(d)}
}

func (e *logEdge) replayDelivery(ctx context.Context, c *api.Call, in *api.Item,
	keep api.StoreResponse) (webhookReplayAnswer, error) {
	return api.As(newReplayAnswer)(e.log.Replay(ctx, c.AccountID, in.ID, api.AdaptStore(keep, newReplayAnswer)))
}

func newRecovered(done webhooks.RecoveryResult) webhookRecovered {
	return webhookRecovered{Recovered: done.Count, HasMore: done.HasMore}
}

func (e *logEdge) recoverDeliveries(ctx context.Context, c *api.Call, in *api.Item, r webhooks.Recovery,
	keep api.StoreResponse) (webhookRecovered, error) {
	r.Keep = api.AdaptStore(keep, newRecovered)
	return api.As(newRecovered)(e.log.Recover(ctx, c.AccountID, in.ID, r))
}

func webhookDeliveryExample() map[string]any {
	return map[string]any{"id": "whd_01kf0m4w7he6x8q2v5b3n9c1ta", "webhook_id": "wh_01kf0m4w7he6x8q2v5b3n9c1ta",
		"event_id":   "evt_01kf0m4w7he6x8q2v5b3n9c1ta",
		"event_type": "email.bounced", "state": "pending", "attempt_count": 1, "next_attempt_at": "2026-01-15T09:30:15.000Z", "replays": 0, "status_code": nil,
		"error": "no answer within 10s", "created_at": "2026-01-15T09:30:00.000Z", "settled_at": nil}
}

func webhookDetailExample() map[string]any {
	sample, _ := event.Lookup(event.ContactUnsubscribed)
	out := webhookDeliveryExample()
	out["body"] = map[string]any{"type": "contact.unsubscribed", "created_at": "2026-01-15T09:30:00.000Z",
		"data": sample.Sample}
	out["event_type"] = "contact.unsubscribed"
	out["status_code"], out["error"] = 503, nil
	out["attempts"] = []any{map[string]any{"number": 1, "started_at": "2026-01-15T09:30:00.000Z",
		"finished_at": "2026-01-15T09:30:00.120Z", "outcome": "failed", "status_code": 503, "error": nil,
		"response":         "Try again later.",
		"response_headers": []any{map[string]any{"name": "Retry-After", "value": "30"}},
		"remote_addr":      "203.0.113.7:443", "duration_ms": 120}}
	return out
}
