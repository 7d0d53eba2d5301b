package model

import (
	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/webhooks"
)

// Webhook is an endpoint on the page that it was read with.
type Webhook struct {
	*ent.Webhook

	// Latest returns the latest deliveries to the endpoints of the page, by endpoint ID. It loads them once
	// for each number and state.
	Latest func(first int, state string) (map[string][]*WebhookDelivery, error)
}

// WebhookDelivery is a delivery on the page that it was read with.
type WebhookDelivery struct {
	*ent.WebhookDelivery

	// Page returns the attempts of all deliveries of the page, by delivery ID. It loads them once, however
	// often and from however many goroutines it is called.
	Page func() (map[string][]*ent.WebhookAttempt, error)
	// Summaries returns the summaries of the page by delivery ID, and loads them once.
	Summaries func() (map[string]webhooks.Summary, error)
	// Endpoints returns the endpoints of the page and loads them once.
	Endpoints func() (map[string]*Webhook, error)
}
