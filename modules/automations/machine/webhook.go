package machine

import (
	"encoding/json"
	"fmt"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/expression"
)

var _ = registerType(definition.Webhook, webhookStep{})

type webhookStep struct{ effectStep }

// WebhookRequest is the request of a webhook step.
type WebhookRequest struct {
	URL, Method string
	Headers     []shape.Header
	Body        []byte // JSON body
	Capture     bool
}

func (webhookStep) texts(s *definition.Step) []source {
	var body any
	if len(s.Body) == 0 || json.Unmarshal(s.Body, &body) != nil {
		return nil
	}
	return findLiquid("body", body)
}

func (webhookStep) render(t *texts, s *definition.Step) (Effect, error) {
	post := &WebhookRequest{URL: s.URL, Method: s.Method, Headers: s.Headers, Capture: s.Capture}
	if post.Method == "" {
		post.Method = "POST"
	}
	if len(s.Body) == 0 {
		return post, nil
	}
	body, err := expression.DecodeAny(s.Body)
	if err != nil {
		return nil, fmt.Errorf("body: %w", err)
	}
	filled, err := t.fillValue("body", body)
	if err != nil {
		return nil, err
	}
	post.Body, err = json.Marshal(filled)
	return post, err
}
