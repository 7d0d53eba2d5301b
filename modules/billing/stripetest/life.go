package stripetest

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v86/webhook"
)

// Event is an event that Stripe would post.
type Event struct {
	ID   string
	Type string
	Body []byte
}

// emit records an event about the current state of an object.
func (s *Stripe) emit(kind string, o object) {
	s.emitWith(kind, o, nil)
}

func (s *Stripe) emitWith(kind string, o, before object) {
	id := s.id("evt")
	data := object{"object": maps.Clone(o)}
	if before != nil {
		data["previous_attributes"] = before
	}
	s.events = append(s.events, Event{id, kind,
		encodeJSON(object{"id": id, "object": "event", "type": kind, "api_version": "2026-06-24.dahlia",
			"created": time.Now().Unix(), "livemode": false, "data": data})})
}

// Events returns the events since the last call.
func (s *Stripe) Events() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.events
	s.events = nil
	return all
}

// Post signs an event and posts it.
func Post(t testing.TB, url, secret string, body []byte, at time.Time) (status int, said string) {
	t.Helper()
	return PostSigned(t, url, Sign(secret, body, at), body)
}

// Sign returns the signature header of an event.
func Sign(secret string, body []byte, at time.Time) string {
	return webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: body, Secret: secret, Timestamp: at}).
		Header
}

// PostSigned posts an event with a signature.
func PostSigned(t testing.TB, url, signature string, body []byte) (status int, said string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Stripe-Signature", signature)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// Plan creates the product and prices of a plan. overage is in minor units per email beyond the included
// volume; empty means no overage.
func (s *Stripe) Plan(plan string, amount, included int64, overage string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, product := s.createObject("prod", "product", object{"name": plan, "metadata": object{"postrider_plan": plan},
		"active": true})
	price := func(recurring object, more object) {
		o := object{"product": product["id"], "active": true, "currency": "eur", "recurring": recurring}
		maps.Copy(o, more)
		s.createObject("price", "price", o)
	}
	price(object{"interval": "month", "usage_type": "licensed"}, object{"unit_amount": amount})
	if overage != "" {
		price(object{"interval": "month", "usage_type": "metered"},
			object{"tiers": []object{{"up_to": included, "unit_amount_decimal": "0"},
				{"up_to": nil, "unit_amount_decimal": overage}}})
	}
}

// Meter creates the email meter and the portal configuration.
func (s *Stripe) Meter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.createObject("mtr", "billing.meter", object{"event_name": "postrider_emails", "event_time_window": "hour",
		"status": "active"})
	s.createObject("bpc", "billing_portal.configuration", object{"active": true, "metadata": object{"postrider": "1"}})
}

// AddCard attaches a card like a customer does on a hosted page. The card does not become the default.
func (s *Stripe) AddCard(customer, last4 string, month, year int) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, o := s.createObject("pm", "payment_method",
		object{"type": "card", "customer": customer, "card": object{"brand": "visa", "last4": last4, "exp_month": month,
			"exp_year": year}})
	s.emit("payment_method.attached", o)
	return o["id"].(string)
}

// RemoveCard detaches a card.
func (s *Stripe) RemoveCard(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[id]
	customer := o["customer"].(string)
	o["customer"] = nil
	if c := s.objects[customer]; c["invoice_settings"].(object)["default_payment_method"] == id {
		c["invoice_settings"] = object{"default_payment_method": nil}
	}
	s.emitWith("payment_method.detached", o, object{"customer": customer})
}

// Dispute makes a customer dispute a payment, and optionally closes the dispute. It returns the events.
func (s *Stripe) Dispute(customer string, closed bool) []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, charge := s.createObject("ch", "charge", object{"customer": customer, "amount": 4900, "currency": "eur"})
	_, dispute := s.createObject("du", "dispute", object{"charge": charge["id"], "amount": 4900, "currency": "eur",
		"status": "needs_response"})
	before := len(s.events)
	s.emit("charge.dispute.created", dispute)
	if closed {
		dispute["status"] = "won"
		s.emit("charge.dispute.closed", dispute)
	}
	return s.events[before:]
}

// Pay completes a page: it attaches a card and starts the plan. It returns the ID of the subscription.
func (s *Stripe) Pay(url string) (subscription string) {
	s.mu.Lock()
	page := s.objects[url[strings.LastIndex(url, "/")+1:]]
	if page == nil || page["status"] != "open" {
		s.mu.Unlock()
		s.t.Fatalf("no open page %s", url)
	}
	page["status"], page["url"] = "complete", nil
	s.mu.Unlock()
	s.AddCard(page["customer"].(string), "4242", 12, 2099)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emit("checkout.session.completed", page)
	if page["mode"] != "subscription" {
		return ""
	}
	var items []object
	for _, price := range page["prices"].([]string) {
		items = append(items, s.item(price))
	}
	_, b := s.createObject("sub", "subscription",
		object{"customer": page["customer"], "status": "active", "items": list(items),
			"cancel_at_period_end": false, "livemode": false})
	s.emit("customer.subscription.created", b)
	return b["id"].(string)
}

// Open reports whether a page can be completed.
func (s *Stripe) Open(url string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	page := s.objects[url[strings.LastIndex(url, "/")+1:]]
	return page != nil && page["status"] == "open"
}

// Set changes a field of an object and records the event.
func (s *Stripe) Set(id, field string, value any, event string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[id][field] = value
	if event != "" {
		s.emit(event, s.objects[id])
	}
}

// DelayResponses delays every response; 0 ends the delay.
func (s *Stripe) DelayResponses(wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Fault = nil
	if wait > 0 {
		s.Fault = func(r *http.Request) Fault {
			select {
			case <-time.After(wait):
			case <-r.Context().Done():
			}
			return Fault{Status: http.StatusServiceUnavailable}
		}
	}
}

// Turn ends the period of a subscription, so that its planned change takes effect.
func (s *Stripe) Turn(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.objects[id]
	if b["cancel_at_period_end"] == true {
		b["status"], b["ended_at"] = "canceled", time.Now().Unix()
		s.emit("customer.subscription.deleted", b)
		return
	}
	if schedule, planned := b["schedule"].(string); planned {
		phases := s.objects[schedule]["phases"].([]object)
		var items []object
		for _, i := range phases[len(phases)-1]["items"].([]object) {
			items = append(items, s.item(i["price"].(string)))
		}
		b["items"], b["schedule"] = list(items), nil
	}
	s.emit("customer.subscription.updated", b)
}

// Backdate moves the start of a subscription's items to an earlier time.
func (s *Stripe) Backdate(id string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, item := range s.objects[id]["items"].(object)["data"].([]object) {
		item["created"] = at.Unix()
	}
}

// Windows returns the meter's totals for a customer, by hour.
func (s *Stripe) Windows(customer string) map[int64]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.windows[customer])
}

// Forge changes the meter's total of an hour.
func (s *Stripe) Forge(customer string, hour, emails int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.windows[customer][hour] = emails
}

// Invoice returns the event of a new invoice for a period.
func (s *Stripe) Invoice(customer string, start, end time.Time) Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, o := s.createObject("in", "invoice",
		object{"customer": customer, "period_start": start.Unix(), "period_end": end.Unix(),
			"status": "draft", "currency": "eur", "total": 4900, "number": "A-1"})
	s.emit("invoice.created", o)
	return s.events[len(s.events)-1]
}
