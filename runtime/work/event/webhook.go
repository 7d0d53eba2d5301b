package event

// DisabledWebhook is the payload of webhook.disabled.
type DisabledWebhook struct {
	WebhookID string `json:"webhook_id" doc:"The ID of the endpoint."`
	URL       string `json:"url" doc:"The URL of the endpoint."`
	Reason    string `json:"reason" doc:"gone: it responded 410. failing: its last 30 deliveries failed."`
}

// SubjectID returns the endpoint.
func (w DisabledWebhook) SubjectID() string { return w.WebhookID }

func sampleDisabledWebhook() DisabledWebhook {
	return DisabledWebhook{WebhookID: "wh_01kf0m4w7he6x8q2v5b3n9c1ta", URL: "https://app.example.com/hooks",
		Reason: "failing"}
}
