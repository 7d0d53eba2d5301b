package mcp

import (
	"context"
	"fmt"
	"time"
)

// webhook is a webhook endpoint.
type webhook struct {
	ID             string   `json:"id"`
	URL            string   `json:"url"`
	Events         []string `json:"events"`
	Enabled        bool     `json:"enabled"`
	DisabledAt     *string  `json:"disabled_at"`
	DisabledReason *string  `json:"disabled_reason" jsonschema:"caller: you disabled it; gone: it responded with 410; failing: its last 30 deliveries failed"`
}

// webhookDelivery is the delivery of one event to one endpoint.
type webhookDelivery struct {
	ID            string  `json:"id"`
	EventID       string  `json:"event_id"`
	EventType     string  `json:"event_type"`
	State         string  `json:"state" jsonschema:"pending, delivered or failed"`
	AttemptCount  int     `json:"attempt_count"`
	NextAttemptAt *string `json:"next_attempt_at"`
	StatusCode    *int    `json:"status_code" jsonschema:"HTTP status of the latest response"`
	Error         *string `json:"error" jsonschema:"Why the latest attempt got no response"`
	CreatedAt     string  `json:"created_at"`
}

// webhookFigures counts deliveries.
type webhookFigures struct {
	Deliveries  int      `json:"deliveries"`
	Succeeded   int      `json:"succeeded"`
	Failed      int      `json:"failed"`
	Attempts    int      `json:"attempts"`
	SuccessRate *ratio   `json:"success_rate"`
	Latency     *latency `json:"latency"`
}

// endpointHealth is an endpoint with its statistics and latest failures.
type endpointHealth struct {
	Webhook  webhook           `json:"webhook"`
	Figures  *webhookFigures   `json:"figures"`
	Failures []webhookDelivery `json:"failures,omitempty" jsonschema:"The latest failed deliveries"`
}

type webhookHealthInput struct {
	WebhookID string `json:"webhook_id,omitempty" jsonschema:"ID of an endpoint (wh_…); defaults to all endpoints"`
	Days      int    `json:"days,omitempty" jsonschema:"How many days to look back: 1 to 30; defaults to 7"`
}

type webhookHealthOutput struct {
	Endpoints []endpointHealth `json:"endpoints"`
	page
}

type replayInput struct {
	DeliveryID string `json:"delivery_id,omitempty" jsonschema:"ID of one delivery (whd_…)"`
	WebhookID  string `json:"webhook_id,omitempty" jsonschema:"ID of an endpoint (wh_…), together with since"`
	Since      string `json:"since,omitempty" jsonschema:"Replays events that the endpoint missed since this time, RFC 3339; at most 30 days ago"`
	Until      string `json:"until,omitempty" jsonschema:"Only events before this time"`
	OnlyFailed bool   `json:"only_failed,omitempty" jsonschema:"Only failed deliveries, not events that the endpoint missed while it was disabled"`
}

type replayOutput struct {
	Delivery  *webhookDelivery `json:"delivery,omitempty"`
	Recovered int              `json:"recovered" jsonschema:"Number of events that were queued"`
	HasMore   bool             `json:"has_more" jsonschema:"Whether more events remain; call again"`
}

var webhookDocument = newDocument(`query MCPWebhooks($range: TimeRange!, $id: ID) {
  webhookStatistics(range: $range, webhookId: $id) {
    endpoints {
      webhook { id }
      figures {
        deliveries succeeded failed attempts success_rate: successRate { numerator denominator } latency { p50 p95 }
      }
    }
  }
}`)

// maxFailures is the number of endpoints whose failures are listed.
const maxFailures = 5

func webhookTools() []tool {
	return []tool{
		define(spec{name: "webhook_health", title: "Check webhook endpoints", effect: reads,
			operations: []string{"listWebhooks", "listWebhookDeliveries"}, fields: []string{"webhookStatistics"},
			modules: []string{"webhooks"},
			about:   "Returns webhook endpoints with success rate, latency and the latest failed deliveries."}, webhookHealth),
		define(spec{name: "replay_webhooks", title: "Replay webhook deliveries", effect: repeats,
			operations: []string{"replayWebhookDelivery", "recoverWebhook"},
			about: "Sends webhook events again: one delivery by delivery_id, or all that an endpoint missed since a time " +
				"by webhook_id and since."}, replayWebhooks),
	}
}

func webhookHealth(ctx context.Context, s *session, in webhookHealthInput) (out webhookHealthOutput, _ string, err error) {
	span, err := rangeOf(in.Days, 30)
	if err != nil {
		return out, "", err
	}
	var list struct {
		Webhooks []webhook `json:"webhooks"`
		page
	}
	if in.WebhookID != "" {
		var one struct {
			Webhook webhook `json:"webhook"`
		}
		_, err = s.call(ctx, request{operation: "getWebhook", id: in.WebhookID}, &one)
		list.Webhooks = []webhook{one.Webhook}
	} else {
		_, err = s.call(ctx, request{operation: "listWebhooks", query: valuesOf("limit", "100")}, &list)
	}
	if err != nil {
		return out, "", err
	}
	variables := map[string]any{"range": span}
	if in.WebhookID != "" {
		variables["id"] = in.WebhookID
	}
	var graph struct {
		Statistics struct {
			Endpoints []struct {
				Webhook struct {
					ID string `json:"id"`
				} `json:"webhook"`
				Figures webhookFigures `json:"figures"`
			} `json:"endpoints"`
		} `json:"webhookStatistics"`
	}
	if err := s.queryGraph(ctx, webhookDocument, variables, &graph); err != nil {
		return out, "", err
	}
	figures := map[string]*webhookFigures{}
	for _, e := range graph.Statistics.Endpoints {
		figures[e.Webhook.ID] = &e.Figures
	}
	out.page = list.page
	out.Endpoints = []endpointHealth{}
	unhealthy := 0
	for _, w := range list.Webhooks {
		h := endpointHealth{Webhook: w, Figures: figures[w.ID]}
		if !w.Enabled || h.Figures != nil && h.Figures.Failed > 0 {
			if unhealthy++; unhealthy <= maxFailures {
				if h.Failures, err = s.listFailures(ctx, w.ID); err != nil {
					return out, "", err
				}
			}
		}
		out.Endpoints = append(out.Endpoints, h)
	}
	return out, fmt.Sprintf("%d endpoints, of which %d are disabled or have failed deliveries.", len(out.Endpoints),
		unhealthy), nil
}

func (s *session) listFailures(ctx context.Context, webhookID string) ([]webhookDelivery, error) {
	var list struct {
		Deliveries []webhookDelivery `json:"deliveries"`
	}
	_, err := s.call(ctx, request{operation: "listWebhookDeliveries", id: webhookID,
		query: valuesOf("state", "failed", "limit", "5")}, &list)
	return list.Deliveries, err
}

func replayWebhooks(ctx context.Context, s *session, in replayInput) (out replayOutput, _ string, err error) {
	switch {
	case in.DeliveryID != "" && in.WebhookID == "":
		if _, err = s.call(ctx, request{operation: "replayWebhookDelivery", id: in.DeliveryID}, &out); err != nil {
			return out, "", err
		}
		out.Recovered = 1
		return out, "The delivery is queued again.", nil
	case in.WebhookID != "" && in.DeliveryID == "" && in.Since != "":
		body := map[string]any{"since": in.Since, "only_failed": in.OnlyFailed}
		setText(body, "until", in.Until)
		_, err = s.call(ctx, request{operation: "recoverWebhook", id: in.WebhookID, body: body}, &out)
		return out, fmt.Sprintf("%d events are queued for the endpoint.", out.Recovered), err
	}
	return out, "", failf("Pass either delivery_id, or webhook_id and since.")
}

// rangeOf returns a time range of GraphQL that ends now. 0 days are 7.
func rangeOf(days, most int) (map[string]any, error) {
	const defaultDays = 7
	if days == 0 {
		days = defaultDays
	}
	if days < 1 || days > most {
		return nil, failf("days must be between 1 and %d.", most)
	}
	now := time.Now().UTC()
	return map[string]any{"gte": now.AddDate(0, 0, -days).Format(time.RFC3339), "lt": now.Format(time.RFC3339)}, nil
}
