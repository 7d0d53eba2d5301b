package rest

import (
	"context"
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
	"github.com/postrider/postrider/runtime/secret"
)

// WebhookService is what these operations need of webhooks.
type WebhookService interface {
	Create(ctx context.Context, accountID string, in webhooks.NewEndpoint) (*ent.Webhook, secret.String, error)
	List(ctx context.Context, accountID string, r page.Request) (page.Page[*ent.Webhook], error)
	Get(ctx context.Context, accountID, webhookID string) (*ent.Webhook, error)
	Update(ctx context.Context, accountID, webhookID string, c webhooks.Change) (*ent.Webhook, error)
	Delete(ctx context.Context, accountID, webhookID string) error
	RotateSecret(ctx context.Context, accountID, webhookID string, keep webhooks.Keep) (*ent.Webhook, secret.String, error)
	Events(endpoint *ent.Webhook) []string
}

var _ WebhookService = (*webhooks.Service)(nil)

const tagWebhooks = "Webhooks"

type webhookRecord struct {
	ID             string            `json:"id" example:"wh_01kf0m4w7he6x8q2v5b3n9c1ta"`
	URL            string            `json:"url" example:"https://example.com/hooks"`
	Events         []string          `json:"events" nullable:"false" doc:"The event types that it gets."`
	Enabled        bool              `json:"enabled"`
	DisabledAt     optionalTimestamp `json:"disabled_at"`
	DisabledReason *string           `json:"disabled_reason" doc:"null while it is enabled. caller: you switched it off; gone: it answered 410; failing: its last 30 deliveries failed." example:"failing"`
	RateLimit      *int              `json:"rate_limit" doc:"Deliveries per second, over all processes; null: no limit." example:"20"`
	CreatedAt      timestamp         `json:"created_at"`
	UpdatedAt      timestamp         `json:"updated_at"`
}

type webhookAnswer struct {
	Webhook webhookRecord `json:"webhook"`
}

type newWebhookAnswer struct {
	Webhook webhookRecord `json:"webhook"`
	Secret  string        `json:"secret" doc:"Signs the deliveries. Shown this once." example:"whsec_Zk3v9QpA…"`
}

type webhookList struct {
	Webhooks   []webhookRecord `json:"webhooks" nullable:"false"`
	HasMore    bool            `json:"has_more"`
	NextCursor *string         `json:"next_cursor" doc:"Give it as cursor to get the next page; null on the last."`
}

type webhookID struct {
	ID string `path:"id" doc:"Id of the webhook endpoint." example:"wh_01kf0m4w7he6x8q2v5b3n9c1ta"`
}

func (in *webhookID) check() error {
	if !id.Is(id.Webhook, in.ID) {
		return fault.Missing("webhook", shown(in.ID))
	}
	return nil
}

type webhookEdge struct {
	api   *API
	hooks WebhookService
	store Idempotency
	box   Sealer
}

// Webhooks makes the routes of the resource webhooks, without what was delivered.
func Webhooks(service WebhookService, store Idempotency, box Sealer) Routes {
	return Routes{name: "webhooks", add: func(a *API) {
		e := &webhookEdge{api: a, hooks: service, store: store, box: box}
		a.describeTag(tagWebhooks, "Endpoints of yours that are told what happens, over signed POST requests, and the log of what they were told.")
		one := map[string]any{"webhook": webhookExample()}
		withSecret := map[string]any{"webhook": webhookExample(), "secret": "whsec_Zk3v9QpA1mW5rT8yB2nC4xE6uH7jK0sLd3fG9aVqIo"}
		add(a, operation{
			method: http.MethodPost, path: "/webhooks", id: "createWebhook", tag: tagWebhooks, needs: accounts.Write, idempotent: true,
			summary: "Create a webhook endpoint",
			description: "The answer has the secret that signs its deliveries, this once. The URL must be `https` and lead to a public address. An account can have 50. Under an " +
				"Idempotency-Key the answer is kept encrypted.",
			body: &requestBody{description: "The endpoint.", schema: "CreateWebhook", examples: map[string]any{
				"all":  map[string]any{"url": "https://example.com/hooks"},
				"some": map[string]any{"url": "https://example.com/hooks", "events": []any{"email.bounced", "email.complained"}, "rate_limit": 20}}},
			answer: reflect.TypeFor[newWebhookAnswer](), example: withSecret, problems: []int{http.StatusConflict},
		}, e.create)
		a.describeBody("CreateWebhook", webhookSchema(false))
		register(a, operation{
			method: http.MethodGet, path: "/webhooks", id: "listWebhooks", tag: tagWebhooks, needs: accounts.Read,
			summary: "List webhook endpoints", description: "Newest first.",
			example: map[string]any{"webhooks": []any{webhookExample()}, "has_more": false, "next_cursor": nil},
		}, e.list)
		register(a, operation{
			method: http.MethodGet, path: "/webhooks/{id}", id: "getWebhook", tag: tagWebhooks, needs: accounts.Read,
			summary: "Retrieve a webhook endpoint", description: "Without its secret.", example: one, problems: []int{http.StatusNotFound},
		}, e.get)
		register(a, operation{
			method: http.MethodPatch, path: "/webhooks/{id}", id: "updateWebhook", tag: tagWebhooks, needs: accounts.Write,
			summary: "Change a webhook endpoint",
			description: "A field that is left out stays as it is. While `enabled` is false nothing is delivered and no deliveries are made; what was waiting goes on when it is true " +
				"again, and what was missed is brought by `POST /webhooks/{id}/recover`.",
			body: &requestBody{description: "What to change, at least one field.", schema: "UpdateWebhook",
				examples: map[string]any{"off": map[string]any{"enabled": false}}},
			example: one, problems: []int{http.StatusNotFound},
		}, e.update)
		a.describeBody("UpdateWebhook", webhookSchema(true))
		register(a, operation{
			method: http.MethodDelete, path: "/webhooks/{id}", id: "deleteWebhook", tag: tagWebhooks, needs: accounts.Write,
			summary: "Delete a webhook endpoint", description: "What waits for it is not delivered any more.",
			example: map[string]any{"ok": true}, problems: []int{http.StatusNotFound},
		}, e.delete)
		add(a, operation{
			method: http.MethodPost, path: "/webhooks/{id}/rotate-secret", id: "rotateWebhookSecret", tag: tagWebhooks, needs: accounts.Write, idempotent: true,
			summary: "Rotate the secret of a webhook endpoint",
			description: "For 24 hours deliveries are signed with the new secret and the one before it: `Service-Signature` then has two `v1`. A secret before those ends at once. " +
				"Under an Idempotency-Key the answer is kept encrypted.",
			answer: reflect.TypeFor[newWebhookAnswer](), example: withSecret, problems: []int{http.StatusNotFound},
		}, e.rotate)
	}}
}

func webhookSchema(change bool) *huma.Schema {
	least, longest := 1.0, 2048
	most := float64(webhooks.MaxRateLimit)
	types := []any{}
	for _, name := range publicEvents() {
		types = append(types, name)
	}
	fields := map[string]*huma.Schema{
		"url": {Type: huma.TypeString, Format: "uri", MaxLength: &longest, Description: "Where to POST: `https`, without user name and fragment.", Examples: []any{"https://example.com/hooks"}},
		"events": {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString, Enum: types},
			Description: "The event types that it gets; left out or empty is all, those that come in later versions too."},
		"rate_limit": {Type: huma.TypeInteger, Minimum: &least, Maximum: &most, Description: "Deliveries per second, over all processes; left out: no limit."},
	}
	if !change {
		for _, name := range []string{"events", "rate_limit"} {
			fields[name].Nullable = true
		}
		return closed(fields, "url")
	}
	none, one := 0.0, 1
	fields["events"].Description = "The event types that it gets; empty is all."
	fields["rate_limit"].Minimum, fields["rate_limit"].Description = &none, "Deliveries per second, over all processes; 0: no limit."
	fields["enabled"] = &huma.Schema{Type: huma.TypeBoolean, Description: "Whether it is delivered to."}
	s := closed(fields)
	s.MinProperties = &one
	return s
}

func (e *webhookEdge) record(w *ent.Webhook) webhookRecord {
	out := webhookRecord{ID: w.ID, URL: w.URL, Events: listed(e.hooks.Events(w)), Enabled: w.Enabled, DisabledAt: optionalTimestamp{w.DisabledAt}, RateLimit: w.RateLimit,
		CreatedAt: timestamp(w.CreatedAt), UpdatedAt: timestamp(w.UpdatedAt)}
	if w.DisabledReason != "" {
		out.DisabledReason = &w.DisabledReason
	}
	return out
}

func (e *webhookEdge) answer(w *ent.Webhook, err error) (*webhookAnswer, error) {
	if err != nil {
		return nil, err
	}
	return &webhookAnswer{e.record(w)}, nil
}

// secretly runs a change whose answer shows a secret. Under a key the answer is kept,
// sealed, in the transaction of the change.
func (e *webhookEdge) secretly(store Idempotency, claim *idempotency.Claim,
	change func(webhooks.Keep) (*ent.Webhook, secret.String, error)) (idempotency.Answer, error) {
	answer := func(w *ent.Webhook, token secret.String) (idempotency.Answer, error) {
		return success(newWebhookAnswer{Webhook: e.record(w), Secret: token.Reveal()})
	}
	var keep webhooks.Keep
	if claim != nil {
		keep = func(ctx context.Context, tx idempotency.Execer, w *ent.Webhook, token secret.String) error {
			kept, err := answer(w, token)
			if err != nil {
				return err
			}
			return store.Keep(ctx, tx, claim, kept)
		}
	}
	w, token, err := change(keep)
	if err != nil {
		return idempotency.Answer{}, err
	}
	return answer(w, token)
}

func (e *webhookEdge) create(ctx context.Context, _ *none) (*stored, error) {
	c := callOf(ctx)
	body, err := parseObject(c.body)
	if err != nil {
		return nil, e.api.fail(ctx, c.requestID, err)
	}
	store := sealAnswers(e.store, e.box, c)
	return e.api.once(ctx, store, c, "POST "+Prefix+"/webhooks", func(claim *idempotency.Claim) (idempotency.Answer, error) {
		var in webhooks.NewEndpoint
		d := newDecoder()
		d.object("", body, []field{
			{name: "url", decode: d.into(&in.URL)},
			{name: "events", decode: func(path string, v value) { in.Events = d.texts(path, v) }},
			{name: "rate_limit", decode: func(path string, v value) {
				if n, ok := d.integer(path, v); ok {
					in.RateLimit = &n
				}
			}},
		})
		if in.URL == "" {
			d.refuse("url", "is required")
		}
		if err := d.wrong.Err(); err != nil {
			return idempotency.Answer{}, err
		}
		return e.secretly(store, claim, func(keep webhooks.Keep) (*ent.Webhook, secret.String, error) {
			in.Keep = keep
			return e.hooks.Create(ctx, c.AccountID, in)
		})
	})
}

// texts reads an array of strings.
func (d *decoder) texts(path string, v value) []string {
	if !d.expect(path, v, kindArray) {
		return nil
	}
	list := []string{}
	for at, item := range d.items(path, v) {
		text, _ := d.text(at, item)
		list = append(list, text)
	}
	return list
}

func (e *webhookEdge) list(ctx context.Context, c *call, in *pageInput) (*webhookList, error) {
	found, err := e.hooks.List(ctx, c.AccountID, page.Request{Limit: in.Limit, Cursor: in.Cursor})
	if err != nil {
		return nil, err
	}
	out := webhookList{Webhooks: []webhookRecord{}, HasMore: found.HasMore, NextCursor: nextCursor(found.NextCursor)}
	for _, w := range found.Items {
		out.Webhooks = append(out.Webhooks, e.record(w))
	}
	return &out, nil
}

func (e *webhookEdge) get(ctx context.Context, c *call, in *webhookID) (*webhookAnswer, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	return e.answer(e.hooks.Get(ctx, c.AccountID, in.ID))
}

func (e *webhookEdge) update(ctx context.Context, c *call, in *webhookID) (*webhookAnswer, error) {
	body, err := parseObject(c.body)
	if err != nil {
		return nil, err
	}
	change, err := decodeWebhookChange(body)
	if err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	return e.answer(e.hooks.Update(ctx, c.AccountID, in.ID, change))
}

func decodeWebhookChange(body value) (change webhooks.Change, err error) {
	d := newDecoder()
	d.refuseNull = true
	d.object("", body, []field{
		{name: "url", decode: func(path string, v value) {
			if text, ok := d.text(path, v); ok {
				change.URL = &text
			}
		}},
		{name: "events", decode: func(path string, v value) {
			list := d.texts(path, v)
			change.Events = &list
		}},
		{name: "enabled", decode: func(path string, v value) {
			on := d.boolean(path, v)
			change.Enabled = &on
		}},
		{name: "rate_limit", decode: func(path string, v value) {
			if n, ok := d.integer(path, v); ok {
				change.RateLimit = &n
			}
		}},
	})
	if err := d.wrong.Err(); err != nil {
		return change, err
	}
	if change == (webhooks.Change{}) {
		return change, fault.Invalidf("The body changes nothing: give at least one of url, events, enabled and rate_limit")
	}
	return change, nil
}

func (e *webhookEdge) delete(ctx context.Context, c *call, in *webhookID) (*okAnswer, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	if err := e.hooks.Delete(ctx, c.AccountID, in.ID); err != nil {
		return nil, err
	}
	return &okAnswer{OK: true}, nil
}

func (e *webhookEdge) rotate(ctx context.Context, in *webhookID) (*stored, error) {
	c := callOf(ctx)
	if err := in.check(); err != nil {
		return nil, e.api.fail(ctx, c.requestID, err)
	}
	store := sealAnswers(e.store, e.box, c)
	return e.api.once(ctx, store, c, "POST "+Prefix+"/webhooks/"+in.ID+"/rotate-secret", func(claim *idempotency.Claim) (idempotency.Answer, error) {
		return e.secretly(store, claim, func(keep webhooks.Keep) (*ent.Webhook, secret.String, error) {
			return e.hooks.RotateSecret(ctx, c.AccountID, in.ID, keep)
		})
	})
}

func webhookExample() map[string]any {
	return map[string]any{"id": "wh_01kf0m4w7he6x8q2v5b3n9c1ta", "url": "https://example.com/hooks", "events": []any{"email.bounced", "email.complained"},
		"enabled": true, "disabled_at": nil, "disabled_reason": nil, "rate_limit": 20, "created_at": "2026-01-15T09:30:00.000Z", "updated_at": "2026-01-15T09:30:00.000Z"}
}
