package model

import "github.com/postrider/postrider/ent"

// WebhookDelivery is a delivery on the page that it was read with.
type WebhookDelivery struct {
	*ent.WebhookDelivery

	// Page gives the attempts of all deliveries of the page, by delivery id. It asks once,
	// however often and from however many goroutines it is called.
	Page func() (map[string][]*ent.WebhookAttempt, error)
	// Endpoints gives the endpoints of the page, likewise.
	Endpoints func() (map[string]*ent.Webhook, error)
}
