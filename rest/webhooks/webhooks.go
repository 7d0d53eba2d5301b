package webhooks

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/webhooks"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/rest/events"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
	"github.com/postrider/postrider/runtime/work/event"
)

// Service is the part of webhooks that these operations use.
type Service interface {
	Create(ctx context.Context, accountID string, in webhooks.NewEndpoint) (*ent.Webhook, secret.String, error)
	List(ctx context.Context, accountID string, r page.Request) (page.Page[*ent.Webhook], error)
	Get(ctx context.Context, accountID, webhookID string) (*ent.Webhook, error)
	Update(ctx context.Context, accountID, webhookID string, c webhooks.EndpointChange) (*ent.Webhook, error)
	Delete(ctx context.Context, accountID, webhookID string) error
	RotateSecret(ctx context.Context, accountID, webhookID string,
		keep webhooks.StoreResponse) (*ent.Webhook, secret.String, error)
	Events(endpoint *ent.Webhook) []string
}

var _ Service = (*webhooks.Service)(nil)

const tagWebhooks = "Webhooks"

type webhookRecord struct {
	ID             string                     `json:"id" doc:"The ID of the webhook endpoint." example:"wh_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Mode           string                     `json:"mode,omitempty" enum:"test" doc:"Present only in test mode."`
	URL            string                     `json:"url" doc:"The URL that receives the POST requests." example:"https://example.com/hooks"`
	Description    string                     `json:"description" doc:"Your note about the endpoint; empty if there is none." example:"Order service"`
	Events         []string                   `json:"events" nullable:"false" doc:"The event types that the endpoint receives."`
	Filter         wire.Optional[eventFilter] `json:"filter" doc:"Which events of these types the endpoint receives; null for all."`
	Headers        map[string]string          `json:"headers" nullable:"false" doc:"The header fields that each request contains in addition. Their values are shown as ********."`
	Enabled        bool                       `json:"enabled" doc:"Whether events are delivered to the endpoint."`
	DisabledAt     wire.OptionalTime          `json:"disabled_at" doc:"When the endpoint was disabled. null while it is enabled."`
	DisabledReason *string                    `json:"disabled_reason" doc:"null if enabled. caller: you disabled it. gone: it responded with 410. failing: its last 30 deliveries failed." example:"failing"`
	RateLimit      *int                       `json:"rate_limit" doc:"Deliveries per second across all processes; null if unlimited." example:"20"`
	CreatedAt      wire.Time                  `json:"created_at" doc:"When the endpoint was created."`
	UpdatedAt      wire.Time                  `json:"updated_at" doc:"When the endpoint was last changed."`
}

type eventFilter struct {
	DomainIDs     []string    `json:"domain_ids" nullable:"false" doc:"Events of these domains, and of email that they send or receive; empty for all."`
	TemplateIDs   []string    `json:"template_ids" nullable:"false" doc:"Events of email from these templates; empty for all."`
	AutomationIDs []string    `json:"automation_ids" nullable:"false" doc:"Events of runs of these automations, and of email that they send; empty for all."`
	Tags          []tagFilter `json:"tags" nullable:"false" doc:"Events of email with one of these tags; empty for all."`
}

type tagFilter struct {
	Name  string  `json:"name" doc:"The name of the tag."`
	Value *string `json:"value" doc:"The value of the tag; null for any value."`
}

type webhookAnswer struct {
	Webhook webhookRecord `json:"webhook" doc:"The webhook endpoint."`
}

type newWebhookAnswer struct {
	Webhook webhookRecord `json:"webhook" doc:"The webhook endpoint."`
	Secret  string        `json:"secret" doc:"The secret that signs deliveries. It is shown only once." example:"whsec_Zk3v9QpA…"`
}

var endpoint = api.Noun{Name: "webhook", About: "ID of the webhook endpoint.", Example: "wh_01kf0m4w7he6x8q2v5b3n9c1ta",
	Is: func(word string) bool { return id.Is(id.Webhook, word) }}

type edge struct {
	hooks Service
	offer event.Offer // events that the document describes
}

// Routes returns the routes of the resource webhooks, without their deliveries. The offer decides which events the
// document describes.
func Routes(service Service, offer event.Offer) api.Routes {
	return api.NewRoutes("webhooks", func(a *api.API) {
		e := &edge{hooks: service, offer: offer}
		g := a.Tag(tagWebhooks, "Your endpoints, which receive events as signed POST requests, and the log of their "+
			"deliveries. "+describeRetries())
		a.Describe(func(d *huma.OpenAPI) { events.Webhooks(d, tagWebhooks, describeRetries(), offer) })
		one := map[string]any{"webhook": webhookExample()}
		withSecret := map[string]any{"webhook": webhookExample(),
			"secret": "whsec_Zk3v9QpA1mW5rT8yB2nC4xE6uH7jK0sLd3fG9aVqIo0="}
		api.OnceBody(g, api.Operation{
			Path: "/webhooks", ID: "createWebhook", Needs: rights.Write,
			Summary: "Create a webhook endpoint",
			Description: "Creates a webhook endpoint. The response contains the secret that signs deliveries, which " +
				"is shown only once. The URL must be `https` and lead to a public address. An account can have up " +
				"to 50 endpoints. With a `filter`, the endpoint receives only the events that match every list of it that is " +
				"not empty; an event matches a list if it matches one entry. Events without the attribute, such as " +
				"`suppression.added` for `domain_ids`, do not match. A response stored under an Idempotency-Key is encrypted.",
			Body: &api.Body{About: "The endpoint.", Examples: map[string]any{
				"all":  map[string]any{"url": "https://example.com/hooks"},
				"some": map[string]any{"url": "https://example.com/hooks", "events": []any{"email.bounced", "email.complained"}, "rate_limit": 20},
				"filtered": map[string]any{"url": "https://example.com/hooks", "description": "Order service",
					"filter":  map[string]any{"domain_ids": []any{exampleDomain}, "tags": []any{map[string]any{"name": "kind", "value": "receipt"}}},
					"headers": map[string]any{"Authorization": "Bearer 4fQ0vWc2"}}}},
			Example: withSecret, Problems: []int{http.StatusConflict}, Secret: true, Private: true,
		}, e.newBody, e.createEndpoint)
		api.List(g, api.Operation{
			Path: "/webhooks", ID: "listWebhooks", Needs: rights.Read,
			Summary: "List webhook endpoints", Description: "Lists webhook endpoints, newest first.",
			Example: webhookExample(),
		}, api.Plural{Member: "webhooks", Schema: "WebhookList"}, e.hooks.List, e.toRecord)
		api.Get(g, api.Operation{
			Path: "/webhooks/{id}", ID: "getWebhook", Needs: rights.Read,
			Summary: "Retrieve a webhook endpoint", Description: "Returns a webhook endpoint without its secret.",
			Example: one, Of: endpoint,
		}, e.hooks.Get, e.toAnswer)
		api.HandleBody(g, api.Operation{
			Method: http.MethodPatch, Path: "/webhooks/{id}", ID: "updateWebhook", Needs: rights.Write,
			Stores:  api.StoresNothing,
			Summary: "Change a webhook endpoint",
			Description: "Updates the fields that you send. Omitted fields keep their value. While `enabled` is " +
				"false, no deliveries are created or attempted. Pending deliveries continue once it is true again, " +
				"and `POST /webhooks/{id}/recover` queues the missed events.",
			Body: &api.Body{About: "The fields to change.",
				Examples: map[string]any{"off": map[string]any{"enabled": false}}},
			Example: one, Problems: []int{http.StatusNotFound}, Of: endpoint, Private: true,
		}, e.changeBody, e.updateEndpoint)
		api.Delete(g, api.Operation{
			Path: "/webhooks/{id}", ID: "deleteWebhook", Needs: rights.Write,
			Summary: "Delete a webhook endpoint", Description: "Deletes a webhook endpoint. Its pending deliveries " +
				"are not sent.", Of: endpoint,
		}, e.hooks.Delete)
		api.Once(g, api.Operation{
			Path: "/webhooks/{id}/rotate-secret", ID: "rotateWebhookSecret", Needs: rights.Write,
			Stores:  api.StoresNothing,
			Summary: "Rotate the secret of a webhook endpoint",
			Description: "Creates a new secret. For 24 hours, deliveries are signed with both the new and the " +
				"previous secret: `Service-Signature` and `webhook-signature` then have two `v1`. Any older secret " +
				"stops working immediately. A response stored under an Idempotency-Key is encrypted.",
			Example: withSecret, Problems: []int{http.StatusNotFound}, Secret: true, Of: endpoint,
		}, e.rotateSecret)
	})
}

// describeRetries describes the retry schedule of deliveries.
func describeRetries() string {
	waits := webhooks.Retries()
	words := make([]string, len(waits))
	for i, wait := range waits {
		words[i] = fmt.Sprintf("%d", int(wait.Seconds()))
	}
	last := len(words) - 1
	return fmt.Sprintf("A delivery that does not get a 2xx response within ten seconds is retried after %s and %s "+
		"seconds: %d attempts in total. It can be replayed for 30 days.", strings.Join(words[:last], ", "), words[last],
		len(words)+1)
}

func (e *edge) newBody(in *webhooks.NewEndpoint) body.Object {
	return body.Object{Name: "CreateWebhook", Fields: []body.Field{
		{Name: "url", Type: urlField(&in.URL), Need: body.Required, About: aboutURL, Example: "https://example.com/hooks"},
		{Name: "events", Type: eventTypes(e.offer)(&in.Events), About: "The event types that the endpoint " +
			"receives, at least one. Defaults to all, including types of later versions."},
		{Name: "description", Type: descriptionField(&in.Description), About: aboutDescription},
		{Name: "filter", Type: body.Pointer(&in.Filter, filterBody), About: "Which events of these types the endpoint " +
			"receives. Defaults to all."},
		{Name: "headers", Type: body.Texts(&in.Headers), About: aboutHeaders + " Defaults to none.",
			Example: map[string]any{"Authorization": "Bearer 4fQ0vWc2"}},
		{Name: "rate_limit", Type: body.Pointer(&in.RateLimit, rateLimit(1)), About: "Deliveries per second across all " +
			"processes. Defaults to unlimited."},
	}}
}

func (e *edge) changeBody(c *webhooks.EndpointChange) body.Object {
	return body.Object{Name: "UpdateWebhook", Change: true, Fields: []body.Field{
		{Name: "url", Type: body.Pointer(&c.URL, urlField), About: aboutURL, Example: "https://example.com/hooks"},
		{Name: "events", Type: body.Pointer(&c.Events, eventTypes(e.offer)), About: "The event types that the endpoint " +
			"receives, at least one. `null` means all, including types of later versions.",
			Null: func() { c.Events = &[]string{} }},
		{Name: "description", Type: body.Pointer(&c.Description, descriptionField), About: aboutDescription + " `null` clears it.",
			Null: func() { c.Description = new(string) }},
		{Name: "filter", Type: body.Pointer(&c.Filter, filterBody), About: "Which events of these types the endpoint " +
			"receives. It replaces the whole filter; `null` means all.", Null: func() { c.Filter = &shape.WebhookFilter{} }},
		{Name: "headers", Type: body.Pointer(&c.Headers, body.Texts), About: aboutHeaders + " They replace all " +
			"fields; a value of `********` keeps the current one. If the host of `url` changes, send every value " +
			"again. `null` removes all.", Null: func() { c.Headers = &map[string]string{} }},
		{Name: "enabled", Type: body.Pointer(&c.Enabled, body.Boolean), About: "Whether events are delivered to the endpoint."},
		{Name: "rate_limit", Type: body.Pointer(&c.RateLimit, rateLimit(0)), About: "Deliveries per second across " +
			"all processes; 0 means unlimited."},
	}}
}

const (
	aboutURL         = "The URL that receives the POST requests: `https`, without user name and fragment."
	aboutDescription = "A note about the endpoint, at most 500 bytes."
	aboutHeaders     = "Up to 10 header fields that each request contains in addition, such as `Authorization`, of at most " +
		"4 KiB together. They are encrypted and never returned. Fields that Postrider sets, such as `Host` and " +
		"`webhook-id`, are refused."

	exampleDomain = "dom_01kf0m4w7he6x8q2v5b3n9c1ta"
)

func descriptionField(to *string) body.TextType {
	return body.Text(to).Length(0, webhooks.MaxDescription)
}

func filterBody(f *shape.WebhookFilter) body.Object {
	return body.Object{Name: "WebhookFilterInput", Fields: []body.Field{
		{Name: "domain_ids", Type: body.List(&f.DomainIDs, body.Text).Count(0, webhooks.MaxFilterEntries),
			About: "Domains. Matches their own events, and those of email that they send or receive.", Example: []any{exampleDomain}},
		{Name: "template_ids", Type: body.List(&f.TemplateIDs, body.Text).Count(0, webhooks.MaxFilterEntries),
			About: "Templates. Matches events of email from them.", Example: []any{"tpl_01kf0m4w7he6x8q2v5b3n9c1ta"}},
		{Name: "automation_ids", Type: body.List(&f.AutomationIDs, body.Text).Count(0, webhooks.MaxFilterEntries),
			About: "Automations. Matches events of their runs, and of email that they send.", Example: []any{"aut_01kf0m4w7he6x8q2v5b3n9c1ta"}},
		{Name: "tags", Type: body.List(&f.Tags, tagFilterBody).Count(0, webhooks.MaxFilterEntries),
			About: "Tags. Matches events of email with one of them."},
	}}
}

func tagFilterBody(t *shape.TagFilter) body.Object {
	return body.Object{Name: "WebhookTagFilterInput", Fields: []body.Field{
		{Name: "name", Type: body.Text(&t.Name).Length(1, webhooks.MaxTagFilter), Need: body.Required, About: "The name of the tag."},
		{Name: "value", Type: body.Text(&t.Value).Length(0, webhooks.MaxTagFilter), About: "The value of the tag. Defaults to any value."},
	}}
}

func urlField(to *string) body.TextType { return body.Text(to).Length(0, 2048).Format("uri") }

func eventTypes(offer event.Offer) func(*[]string) body.Type {
	return func(to *[]string) body.Type { return someEvents{body.List(to, eventType(offer)).Count(1, 0), to} }
}

// someEvents refuses an empty list, which could mean no events or all.
type someEvents struct {
	body.ListType[string, body.Type]

	to *[]string
}

// Read implements body.Type.
func (s someEvents) Read(d *body.Decoder, path string, v body.Value) {
	s.ListType.Read(d, path, v)
	if len(*s.to) == 0 {
		d.Refuse(path, "must have at least one event type; omit the field for all types")
	}
}

func eventType(offer event.Offer) func(*string) body.Type {
	return func(to *string) body.Type { return body.Choice(to, offer.Types()...) }
}

func rateLimit(least int) func(*int) body.Type {
	return func(to *int) body.Type { return body.Integer(to).AtLeast(least).UpTo(webhooks.MaxRateLimit) }
}

func (e *edge) toRecord(w *ent.Webhook) webhookRecord {
	return webhookRecord{ID: w.ID, Mode: event.ModeOf(w.AccountID), URL: w.URL, Description: w.Description, Events: wire.List(e.hooks.Events(w)),
		Filter: newEventFilter(w.Filter), Headers: webhooks.MaskedHeaders(w), Enabled: w.Enabled,
		DisabledReason: wire.OrNull(w.DisabledReason), DisabledAt: wire.OptionalTime{At: w.DisabledAt},
		RateLimit: w.RateLimit,
		CreatedAt: wire.Time(w.CreatedAt), UpdatedAt: wire.Time(w.UpdatedAt)}
}

func newEventFilter(f *shape.WebhookFilter) wire.Optional[eventFilter] {
	if f == nil {
		return wire.Optional[eventFilter]{}
	}
	out := &eventFilter{DomainIDs: wire.List(f.DomainIDs), TemplateIDs: wire.List(f.TemplateIDs),
		AutomationIDs: wire.List(f.AutomationIDs), Tags: make([]tagFilter, len(f.Tags))}
	for i, t := range f.Tags {
		out.Tags[i] = tagFilter{Name: t.Name, Value: wire.OrNull(t.Value)}
	}
	return wire.FromPointer(out)
}

func (e *edge) toAnswer(w *ent.Webhook) webhookAnswer { return webhookAnswer{e.toRecord(w)} }

func (e *edge) secretAnswer(w *ent.Webhook, token secret.String) newWebhookAnswer {
	return newWebhookAnswer{Webhook: e.toRecord(w), Secret: token.Reveal()}
}

// storeSecretAnswer stores a response that contains a secret.
func (e *edge) storeSecretAnswer(keep api.StoreResponse) webhooks.StoreResponse {
	return func(ctx context.Context, tx idempotency.Execer, w *ent.Webhook, token secret.String) error {
		return keep(ctx, tx, e.secretAnswer(w, token))
	}
}

func (e *edge) createEndpoint(ctx context.Context, c *api.Call, _ *api.None, in webhooks.NewEndpoint,
	keep api.StoreResponse) (out newWebhookAnswer, err error) {
	in.Keep = e.storeSecretAnswer(keep)
	made, token, err := e.hooks.Create(ctx, c.AccountID, in)
	if err != nil {
		return out, err
	}
	return e.secretAnswer(made, token), nil
}

func (e *edge) updateEndpoint(ctx context.Context, c *api.Call, in *api.Item,
	change webhooks.EndpointChange) (webhookAnswer, error) {
	return api.As(e.toAnswer)(e.hooks.Update(ctx, c.AccountID, in.ID, change))
}

func (e *edge) rotateSecret(ctx context.Context, c *api.Call, in *api.Item,
	keep api.StoreResponse) (out newWebhookAnswer, err error) {
	rotated, token, err := e.hooks.RotateSecret(ctx, c.AccountID, in.ID, e.storeSecretAnswer(keep))
	if err != nil {
		return out, err
	}
	return e.secretAnswer(rotated, token), nil
}

func webhookExample() map[string]any {
	return map[string]any{"id": "wh_01kf0m4w7he6x8q2v5b3n9c1ta", "url": "https://example.com/hooks",
		"description": "Order service", "events": []any{"email.bounced", "email.complained"},
		"filter": map[string]any{"domain_ids": []any{exampleDomain}, "template_ids": []any{}, "automation_ids": []any{},
			"tags": []any{map[string]any{"name": "kind", "value": "receipt"}}},
		"headers": map[string]any{"Authorization": "********"},
		"enabled": true, "disabled_at": nil, "disabled_reason": nil, "rate_limit": 20,
		"created_at": "2026-01-15T09:30:00.000Z", "updated_at": "2026-01-15T09:30:00.000Z"}
}
