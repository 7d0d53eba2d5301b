package webhooks

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/rest/emails"
	"github.com/postrider/postrider/rest/events"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/work/event"
)

// EmailReader is the part of sending that test events use.
type EmailReader interface {
	Get(ctx context.Context, accountID, emailID string) (*ent.Email, error)
}

var _ EmailReader = (*records.Service)(nil)

// Delivery queues the delivery of a fact to the account's endpoints that subscribe to its type, or to one endpoint, and
// returns the IDs of the deliveries.
type Delivery interface {
	Deliver(ctx context.Context, accountID string, fact event.Fact) ([]string, error)
	DeliverTo(ctx context.Context, accountID, webhookID string, fact event.Fact) ([]string, error)
}

// testEventAnswer contains the event in the form of a delivery's body.
type testEventAnswer struct {
	Event      testEvent `json:"event" doc:"The event, as endpoints receive it."`
	Deliveries []string  `json:"deliveries" nullable:"false" doc:"IDs of the queued deliveries. Empty if no endpoint subscribes to the type."`
}

type testEvent struct {
	Type      string    `json:"type"`
	CreatedAt wire.Time `json:"created_at"`
	Data      wire.JSON `json:"data"`
}

// Schema implements huma.SchemaProvider. The events of the catalog describe the fields.
func (testEvent) Schema(huma.Registry) *huma.Schema { return events.DeliveredSchema() }

type testEventEdge struct {
	emails   EmailReader
	delivery Delivery // nil if webhooks are not delivered
	offer    event.Offer
}

// TestEventRoutes returns the route POST /emails/test. Without webhook deliveries nothing is queued.
func TestEventRoutes(reader EmailReader, delivery Delivery, offer event.Offer) api.Routes {
	return api.NewRoutes("test events", func(a *api.API) {
		a.Describe(func(d *huma.OpenAPI) { events.Describe(d, offer) })
		e := &testEventEdge{emails: reader, delivery: delivery, offer: offer}
		g := a.Tag(emails.Tag, "")
		api.HandleBody(g, api.Operation{
			Method: http.MethodPost, Path: "/emails/test", ID: "testEvent", Needs: rights.Write,
			Summary: "Create a test event",
			Description: "Builds the body of an event, with sample values or those of one of your emails, and " +
				"queues its delivery to the endpoints that subscribe to the type, or to `webhook_id`, unless `deliver` is false. The " +
				"email itself does not change. `GET /webhook-deliveries/{id}` returns the state of a delivery.",
			Body: &api.Body{About: "The event to build.", Examples: map[string]any{
				"sample": map[string]any{"event": "email.bounced"},
				"email":  map[string]any{"event": "email.delivered", "email_id": "msg_01kf0m4w7he6x8q2v5b3n9c1ta", "deliver": false}}},
			Example: testEventExample(), Problems: []int{http.StatusNotFound, http.StatusConflict},
		}, e.describeBody, e.createTestEvent)
	})
}

func testEventExample() map[string]any {
	return map[string]any{"event": map[string]any{"type": "email.delivered", "created_at": "2026-01-15T09:30:01.250Z",
		"data": map[string]any{
			"email_id": "msg_01kf0m4w7he6x8q2v5b3n9c1ta", "from": "Ada <ada@example.com>",
			"to": []any{"bob@example.net"}, "cc": []any{}, "subject": "Your receipt",
			"status": "delivered", "email_status": "delivered",
			"tags": []any{map[string]any{"name": "kind", "value": "receipt"}}, "created_at": "2026-01-15T09:30:00Z", "recipient": "bob@example.net",
		}}, "deliveries": []any{}}
}

// testEventRequest is the requested test event.
type testEventRequest struct {
	entry     event.Entry
	name      string
	emailID   string
	webhookID string
	deliver   bool
}

func (e *testEventEdge) describeBody(in *testEventRequest) body.Object {
	in.deliver = true
	return body.Object{Name: "TestEvent", Fields: []body.Field{
		{Name: "event", Type: eventType(e.offer)(&in.name), Need: body.RequiredByService, About: "The type of the event."},
		{Name: "email_id", Type: body.Text(&in.emailID),
			Example: "msg_01kf0m4w7he6x8q2v5b3n9c1ta",
			About: "ID of an email whose values fill the payload. Accepted for email events and " +
				"`contact.unsubscribed`."},
		{Name: "webhook_id", Type: body.Text(&in.webhookID),
			Example: "wh_01kf0m4w7he6x8q2v5b3n9c1ta",
			About:   "ID of the only endpoint to deliver to. Defaults to all endpoints that subscribe to the type."},
		{Name: "deliver", Type: body.Boolean(&in.deliver), Default: true, About: "Whether to deliver the event. If " +
			"false, the payload is only built."},
	}, Check: func(d *body.Decoder) { in.checkOffer(d, e.offer) }}
}

func (in *testEventRequest) checkOffer(d *body.Decoder, offer event.Offer) {
	entry, known := event.Lookup(event.Type(in.name))
	in.entry = entry
	one := "one of " + strings.Join(offer.Types(), ", ")
	switch {
	case in.name == "":
		d.Refuse("event", "is required: %s", one)
	case !known:
		d.Refuse("event", "must be %s", one)
	case offer.Refusal(entry.Type) != "":
		d.Refuse("event", "%s", offer.Refusal(entry.Type))
	case in.emailID != "" && !aboutEmail(entry):
		d.Refuse("email_id", "cannot be combined with %s, which is not about a sent email", in.name)
	}
}

func aboutEmail(e event.Entry) bool {
	switch e.Sample.(type) {
	case event.Email, event.Unsubscribe:
		return true
	}
	return false
}

func (e *testEventEdge) createTestEvent(ctx context.Context, c *api.Call, _ *api.None,
	in testEventRequest) (out testEventAnswer, err error) {
	payload := in.entry.Sample
	if in.emailID != "" {
		if !id.Is(id.Email, in.emailID) {
			return out, fault.NoSuch("email", body.PrintableName(in.emailID))
		}
		email, err := e.emails.Get(ctx, c.AccountID, in.emailID)
		if err != nil {
			return out, err
		}
		payload = fromEmail(payload, email)
	}
	fact := event.New(c.AccountID, in.entry.Type, time.Now(), payload)
	out = testEventAnswer{Event: testEvent{Type: string(fact.Type), CreatedAt: wire.Time(fact.CreatedAt),
		Data: wire.JSON(fact.Data)}, Deliveries: []string{}}
	if in.deliver && e.delivery != nil {
		queued, err := e.deliver(ctx, c.AccountID, in.webhookID, fact)
		if err != nil {
			return out, err
		}
		out.Deliveries = wire.List(queued)
	}
	return out, nil
}

// deliver queues the delivery to one endpoint, or to those that subscribe to the type.
func (e *testEventEdge) deliver(ctx context.Context, accountID, webhookID string,
	fact event.Fact) ([]string, error) {
	switch {
	case webhookID == "":
		return e.delivery.Deliver(ctx, accountID, fact)
	case !id.Is(id.Webhook, webhookID):
		return nil, fault.NoSuch("webhook", body.PrintableName(webhookID))
	}
	return e.delivery.DeliverTo(ctx, accountID, webhookID, fact)
}

// fromEmail copies the fields of an email into a sample. Fields of the event itself, such as the status and
// the reason of a bounce, keep their sample values.
func fromEmail(sample event.Payload, email *ent.Email) event.Payload {
	recipient := ""
	for _, to := range slices.Concat(email.To, email.Cc, email.Bcc) {
		recipient = bareAddress(to)
		break
	}
	switch p := sample.(type) {
	case event.Email:
		p.EmailID, p.From, p.To, p.CC, p.Subject = email.ID, email.From, wire.List(email.To), wire.List(email.Cc),
			email.Subject
		p.Tags, p.CreatedAt = wire.List(email.Tags), event.NewTime(email.CreatedAt)
		if p.Recipient != "" {
			p.Recipient = recipient
		}
		if len(p.SuppressedRecipients) > 0 {
			p.SuppressedRecipients = []string{recipient}
		}
		return p
	case event.Unsubscribe:
		p.Email, p.EmailID = recipient, &email.ID
		return p
	}
	return sample
}

// bareAddress returns the address between the angle brackets of a stored address.
func bareAddress(shown string) string {
	if open := strings.LastIndexByte(shown, '<'); open >= 0 && strings.HasSuffix(shown, ">") {
		return shown[open+1 : len(shown)-1]
	}
	return shown
}
