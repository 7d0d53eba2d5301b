package resend

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/postrider/postrider/rest/compat"
)

func webhookRoutes() []compat.Route {
	return []compat.Route{
		{Method: http.MethodPost, Path: "/webhooks", Handle: addWebhook},
		{Method: http.MethodGet, Path: "/webhooks", Handle: listWebhooks},
		{Method: http.MethodGet, Path: "/webhooks/{id}", Handle: getWebhook},
		{Method: http.MethodPatch, Path: "/webhooks/{id}", Handle: updateWebhook},
		{Method: http.MethodDelete, Path: "/webhooks/{id}", Handle: removeItem("webhooks", "webhook")},
		{Method: http.MethodPost, Path: "/webhooks/{id}/signing-secret/rotate", Handle: rotateSecret},
		{Method: http.MethodGet, Path: "/webhooks/{id}/events", Handle: listDeliveries},
		{Method: http.MethodGet, Path: "/webhooks/{id}/events/{event}", Handle: getDelivery},
		{Method: http.MethodPost, Path: "/webhooks/{id}/events/{event}/replay", Handle: replayDelivery},
		{Method: http.MethodGet, Path: "/webhooks/{id}/events/{event}/attempts", Handle: listAttempts},
	}
}

// renamed maps the event types that have a different name at Resend.
var renamed = map[string]string{"domain.created": "domain.added"}

// ownEvents converts event types to our names.
func ownEvents(names []string) ([]string, error) {
	out := []string{}
	for _, name := range names {
		if strings.HasPrefix(name, "contact.") {
			return nil, compat.Unsupported("Contacts (the event " + name + ") are")
		}
		if own := renamed[name]; own != "" {
			name = own
		}
		out = append(out, name)
	}
	return out, nil
}

// theirEvents converts event types to Resend's names.
func theirEvents(names []string) []string {
	out := []string{}
	for _, name := range names {
		out = append(out, theirEvent(name))
	}
	return out
}

func theirEvent(name string) string {
	for theirs, ours := range renamed {
		if name == ours {
			return theirs
		}
	}
	return name
}

// webhook is an endpoint of our own API.
type webhook struct {
	ID        string   `json:"id"`
	URL       string   `json:"url"`
	Enabled   bool     `json:"enabled"`
	Events    []string `json:"events"`
	CreatedAt string   `json:"created_at"`
}

type newWebhook struct {
	Webhook webhook `json:"webhook"`
	Secret  string  `json:"secret"`
}

type shownWebhook struct {
	Object    string   `json:"object,omitempty"`
	ID        string   `json:"id"`
	Endpoint  string   `json:"endpoint"`
	Status    string   `json:"status"`
	Events    []string `json:"events"`
	CreatedAt string   `json:"created_at"`
}

func (w webhook) show(object string) shownWebhook {
	out := shownWebhook{Object: object, ID: w.ID, Endpoint: w.URL, Status: "disabled", Events: theirEvents(w.Events),
		CreatedAt: w.CreatedAt}
	if w.Enabled {
		out.Status = "enabled"
	}
	return out
}

type webhookInput struct {
	Endpoint *string  `json:"endpoint"`
	Events   []string `json:"events"`
	Status   *string  `json:"status"`
}

// translate converts the fields to the format of our own API.
func (in webhookInput) translate() (map[string]any, error) {
	body := map[string]any{}
	if in.Endpoint != nil {
		body["url"] = *in.Endpoint
	}
	if in.Events != nil {
		events, err := ownEvents(in.Events)
		if err != nil {
			return nil, err
		}
		body["events"] = events
	}
	if in.Status != nil {
		if *in.Status != "enabled" && *in.Status != "disabled" {
			return nil, compat.Invalid("status", "must be one of enabled, disabled")
		}
		body["enabled"] = *in.Status == "enabled"
	}
	return body, nil
}

func addWebhook(c *compat.Call) (*compat.Response, error) {
	var in webhookInput
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	body, err := in.translate()
	if err != nil {
		return nil, err
	}
	if in.Status != nil {
		return nil, compat.Invalid("status", "cannot be set when the webhook is created; update it afterwards")
	}
	var made newWebhook
	if err := c.Do(compat.Request{Method: http.MethodPost, Path: "/webhooks", Body: body,
		Key: c.Header("Idempotency-Key")}, &made); err != nil {
		return nil, err
	}
	return &compat.Response{Status: http.StatusCreated, Body: made.show()}, nil
}

// show returns the responses to creating and rotating, the only ones that contain the secret.
func (w newWebhook) show() any {
	return map[string]string{"object": "webhook", "id": w.Webhook.ID, "signing_secret": w.Secret}
}

func listWebhooks(c *compat.Call) (*compat.Response, error) {
	return answerList(c, compat.ListRequest{Path: "/webhooks", Member: "webhooks", Name: "webhooks"},
		func(w webhook) string { return w.ID }, nil, func(w webhook) shownWebhook { return w.show("") })
}

func getWebhook(c *compat.Call) (*compat.Response, error) {
	var found struct {
		Webhook webhook `json:"webhook"`
	}
	if err := c.Do(compat.Request{Method: http.MethodGet, Path: joinPath("webhooks", c.Param("id"))},
		&found); err != nil {
		return nil, err
	}
	return compat.OK(struct {
		shownWebhook
		// Postrider shows a secret only once, when it is created.
		SigningSecret *string `json:"signing_secret"`
	}{found.Webhook.show("webhook"), nil})
}

func updateWebhook(c *compat.Call) (*compat.Response, error) {
	var in webhookInput
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	body, err := in.translate()
	if err != nil {
		return nil, err
	}
	id := c.Param("id")
	if err := c.Do(compat.Request{Method: http.MethodPatch, Path: joinPath("webhooks", id), Body: body},
		nil); err != nil {
		return nil, err
	}
	return compat.OK(object{Object: "webhook", ID: id})
}

func rotateSecret(c *compat.Call) (*compat.Response, error) {
	var made newWebhook
	if err := c.Do(compat.Request{Method: http.MethodPost, Path: joinPath("webhooks", c.Param("id"), "rotate-secret"),
		Key: c.Header("Idempotency-Key")}, &made); err != nil {
		return nil, err
	}
	return compat.OK(made.show())
}

// delivery is a delivery of our own API. Its ID is the ID of the event at Resend.
type delivery struct {
	ID            string          `json:"id"`
	WebhookID     string          `json:"webhook_id"`
	EventType     string          `json:"event_type"`
	State         string          `json:"state"`
	AttemptCount  int             `json:"attempt_count"`
	CreatedAt     string          `json:"created_at"`
	NextAttemptAt *string         `json:"next_attempt_at"`
	Body          json.RawMessage `json:"body"`
	Attempts      []struct {
		Number     int    `json:"number"`
		StatusCode *int   `json:"status_code"`
		Response   string `json:"response"`
		StartedAt  string `json:"started_at"`
	} `json:"attempts"`
}

func (d delivery) status() string {
	switch {
	case d.State == "delivered":
		return "success"
	case d.State == "pending" && d.AttemptCount > 0:
		return "attempting"
	}
	return d.State
}

type shownDelivery struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	CreatedAt string `json:"created_at"`
	Status    string `json:"status"`
}

func (d delivery) show() shownDelivery {
	return shownDelivery{ID: d.ID, Type: theirEvent(d.EventType), CreatedAt: d.CreatedAt, Status: d.status()}
}

func listDeliveries(c *compat.Call) (*compat.Response, error) {
	id := c.Param("id")
	return answerList(c, compat.ListRequest{Path: joinPath("webhooks", id, "deliveries"), Member: "deliveries",
		Name: "webhook deliveries/" + id}, func(d delivery) string { return d.ID }, nil, delivery.show)
}

// findDelivery reads the delivery in the path, if it belongs to the endpoint.
func findDelivery(c *compat.Call) (delivery, error) {
	var found struct {
		Delivery delivery `json:"delivery"`
	}
	err := c.Do(compat.Request{Method: http.MethodGet, Path: joinPath("webhook-deliveries", c.Param("event"))}, &found)
	if err == nil && found.Delivery.WebhookID != c.Param("id") {
		err = compat.NotFound("webhook event")
	}
	return found.Delivery, err
}

func getDelivery(c *compat.Call) (*compat.Response, error) {
	d, err := findDelivery(c)
	if err != nil {
		return nil, err
	}
	return compat.OK(struct {
		Object string `json:"object"`
		shownDelivery
		NextAttemptAt *string         `json:"next_attempt_at"`
		Payload       json.RawMessage `json:"payload"`
	}{"webhook_event", d.show(), d.NextAttemptAt, d.Body})
}

func replayDelivery(c *compat.Call) (*compat.Response, error) {
	d, err := findDelivery(c)
	if err != nil {
		return nil, err
	}
	if err := c.Do(compat.Request{Method: http.MethodPost, Path: joinPath("webhook-deliveries", d.ID, "replay"),
		Key: c.Header("Idempotency-Key")}, nil); err != nil {
		return nil, err
	}
	return compat.OK(object{Object: "webhook_event", ID: d.ID})
}

type shownAttempt struct {
	ID             string `json:"id"`
	HTTPStatusCode int    `json:"http_status_code"`
	Response       string `json:"response"`
	SentAt         string `json:"sent_at"`
}

func listAttempts(c *compat.Call) (*compat.Response, error) {
	l, err := readPage(c, compat.ListRequest{})
	if err != nil {
		return nil, err
	}
	d, err := findDelivery(c)
	if err != nil {
		return nil, err
	}
	out := list[shownAttempt]{Object: "list", Data: []shownAttempt{}}
	passed := l.After == ""
	for i := len(d.Attempts) - 1; i >= 0; i-- {
		a := d.Attempts[i]
		shown := shownAttempt{ID: d.ID + "_" + strconv.Itoa(a.Number), Response: a.Response, SentAt: a.StartedAt}
		if a.StatusCode != nil {
			shown.HTTPStatusCode = *a.StatusCode
		}
		switch {
		case !passed:
			passed = shown.ID == l.After
		case len(out.Data) == l.Limit:
			out.HasMore = true
		default:
			out.Data = append(out.Data, shown)
		}
	}
	return compat.OK(out)
}
