package stripetest

import (
	"slices"
	"time"
)

// Standing is a customer's state in the fake.
type Standing struct {
	Email         string
	Charged       string // the default payment method; empty if none
	Cards         []StandingCard
	Subscriptions []StandingSubscription // oldest first
}

// StandingCard is an attached payment method.
type StandingCard struct {
	ID      string
	Expired bool
}

// StandingSubscription is a subscription of any status.
type StandingSubscription struct {
	ID      string
	Status  string
	Plan    string // plan of its product
	Ends    bool   // at the end of the period
	Pending string // the next planned plan; empty if no change is planned
}

// Customers returns the IDs of all customers, newest first.
func (s *Stripe) Customers() (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.listObjects("customer", nil) {
		ids = append(ids, o["id"].(string))
	}
	return ids
}

// Standing returns the state of a customer.
func (s *Stripe) Standing(customer string) Standing {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.objects[customer]
	mine := func(o object) bool { return o["customer"] == customer }
	out := Standing{Email: c["email"].(string)}
	out.Charged, _ = c["invoice_settings"].(object)["default_payment_method"].(string)
	now := time.Now()
	for _, o := range s.listObjects("payment_method", mine) {
		card := o["card"].(object)
		end := time.Date(card["exp_year"].(int), time.Month(card["exp_month"].(int))+1, 1, 0, 0, 0, 0, time.UTC)
		out.Cards = append(out.Cards, StandingCard{o["id"].(string), !now.Before(end)})
	}
	for _, o := range s.listObjects("subscription", mine) {
		b := StandingSubscription{ID: o["id"].(string), Status: o["status"].(string),
			Ends: o["cancel_at_period_end"] == true}
		for _, item := range o["items"].(object)["data"].([]object) {
			if price := item["price"].(object); price["recurring"].(object)["usage_type"] == "licensed" {
				b.Plan = s.planOf(price)
			}
		}
		if schedule, planned := o["schedule"].(string); planned {
			for _, phase := range s.objects[schedule]["phases"].([]object) {
				start, _ := phase["start_date"].(int64)
				if items := phase["items"].([]object); len(items) > 0 && start > now.Unix() {
					b.Pending = s.planOf(s.objects[items[0]["price"].(string)])
				}
			}
		}
		out.Subscriptions = append(out.Subscriptions, b)
	}
	slices.Reverse(out.Subscriptions)
	return out
}

func (s *Stripe) planOf(price object) string {
	metadata, _ := s.objects[price["product"].(string)]["metadata"].(object)
	plan, _ := metadata["postrider_plan"].(string)
	return plan
}
