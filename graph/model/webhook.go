package model

import "github.com/postrider/postrider/ent"

// Webhook is an endpoint on the page that it was read with.
type Webhook struct {
	*ent.Webhook

	// Latest gives the latest deliveries to the endpoints of the page, by the endpoint's id. It asks
	// once for each number and state.
	Latest func(first int, state string) (map[string][]*WebhookDelivery, error)
}

// WebhookDelivery is a delivery on the page that it was read with.
type WebhookDelivery struct {
	*ent.WebhookDelivery

	// Page gives the attempts of all deliveries of the page, by delivery id. It asks once,
	// however often and from however many goroutines it is called.
	Page func() (map[string][]*ent.WebhookAttempt, error)
	// Endpoints gives the endpoints of the page, likewise.
	Endpoints func() (map[string]*Webhook, error)
}
