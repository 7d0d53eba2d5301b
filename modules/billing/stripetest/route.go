package stripetest

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// route handles a valid request.
func (s *Stripe) route(method, path string, form url.Values) (int, object) {
	parts := strings.Split(path, "/")
	switch {
	case method == http.MethodGet:
		return s.read(parts, form)
	case path == "customers":
		return s.createObject("cus", "customer", object{"email": form.Get("email"), "name": form.Get("name"),
			"invoice_settings": object{"default_payment_method": nil},
			"metadata":         object{"postrider_account": form.Get("metadata[postrider_account]")}})
	case parts[0] == "customers" && len(parts) == 2:
		return s.change(parts[1], func(c object) string {
			if method := form.Get("invoice_settings[default_payment_method]"); method != "" {
				if s.objects[method] == nil || s.objects[method]["customer"] != parts[1] {
					return "The payment method is not attached to the customer"
				}
				c["invoice_settings"] = object{"default_payment_method": method}
			}
			if email := form.Get("email"); email != "" {
				c["email"] = email
			}
			s.emit("customer.updated", c)
			return ""
		})
	case path == "checkout/sessions":
		return s.page(form)
	case strings.HasPrefix(path, "checkout/sessions/") && parts[len(parts)-1] == "expire":
		return s.change(parts[2], func(c object) string {
			if c["status"] != "open" {
				return "The session is not open"
			}
			c["status"], c["url"] = "expired", nil
			return ""
		})
	case parts[0] == "subscriptions" && len(parts) == 2:
		return s.changeSubscription(parts[1], form)
	case parts[0] == "subscription_schedules":
		return s.schedule(parts[1:], form)
	case path == "billing/meter_events":
		return s.meter(form)
	case path == "billing_portal/sessions":
		return s.createObject("bps", "billing_portal.session",
			object{"url": "https://billing.stripe.com/p/" + form.Get("customer"), "customer": form.Get("customer")})
	case path == "invoices/create_preview":
		return http.StatusOK, object{"object": "invoice", "amount_due": 1234, "currency": "eur",
			"lines": list([]object{{"description": "Remaining time", "amount": 1234}})}
	case path == "products", path == "prices", path == "billing/meters", path == "billing_portal/configurations",
		path == "webhook_endpoints":
		return s.setUp(path, form)
	}
	return notFound(path)
}

func (s *Stripe) createObject(prefix, kind string, o object) (int, object) {
	id := s.id(prefix)
	o["id"], o["object"], o["created"] = id, kind, time.Now().Unix()
	s.objects[id] = o
	return http.StatusOK, o
}

func (s *Stripe) change(id string, do func(object) string) (int, object) {
	o, known := s.objects[id]
	if !known || o["deleted"] == true {
		return notFound(id)
	}
	if problem := do(o); problem != "" {
		return badRequest(problem)
	}
	return http.StatusOK, o
}

// listObjects returns objects of a kind, newest first.
func (s *Stripe) listObjects(kind string, which func(object) bool) []object {
	out := []object{}
	for _, id := range slices.Sorted(maps.Keys(s.objects)) {
		if o := s.objects[id]; o["object"] == kind && (which == nil || which(o)) {
			out = append(out, o)
		}
	}
	slices.Reverse(out)
	return out
}

func (s *Stripe) read(parts []string, form url.Values) (int, object) {
	customer := form.Get("customer")
	mine := func(o object) bool { return o["customer"] == customer }
	switch path := strings.Join(parts, "/"); {
	case path == "customers":
		return http.StatusOK,
			list(s.listObjects("customer", func(o object) bool {
				return o["email"] == form.Get("email") &&
					o["deleted"] != true
			}))
	case path == "subscriptions":
		return http.StatusOK, list(s.listObjects("subscription", mine))
	case path == "invoices":
		return http.StatusOK, list(s.listObjects("invoice", mine))
	case path == "prices":
		prices := s.listObjects("price", func(o object) bool { return o["active"] == true })
		out := make([]object, len(prices))
		for i, p := range prices {
			out[i] = maps.Clone(p)
			out[i]["product"] = s.objects[p["product"].(string)]
		}
		return http.StatusOK, list(out)
	case path == "products":
		return http.StatusOK, list(s.listObjects("product", nil))
	case path == "billing/meters":
		return http.StatusOK, list(s.listObjects("billing.meter", nil))
	case path == "billing_portal/configurations":
		return http.StatusOK, list(s.listObjects("billing_portal.configuration", nil))
	case path == "webhook_endpoints":
		return http.StatusOK, list(s.listObjects("webhook_endpoint", nil))
	case len(parts) == 4 && parts[3] == "event_summaries":
		return http.StatusOK, s.summaries(customer, number(form.Get("start_time")), number(form.Get("end_time")))
	case len(parts) == 3 && parts[0] == "customers" && parts[2] == "payment_methods":
		if s.objects[parts[1]] == nil {
			return notFound(parts[1])
		}
		return http.StatusOK,
			list(s.listObjects("payment_method", func(o object) bool { return o["customer"] == parts[1] }))
	case len(parts) == 2, len(parts) == 3 && parts[0] == "checkout":
		id := parts[len(parts)-1]
		o, known := s.objects[id]
		if !known {
			return notFound(id)
		}
		if o["deleted"] == true {
			return http.StatusOK, object{"id": id, "object": o["object"], "deleted": true}
		}
		return http.StatusOK, o
	default:
		return notFound(path)
	}
}

func (s *Stripe) page(form url.Values) (int, object) {
	if c := s.objects[form.Get("customer")]; c == nil || c["deleted"] == true {
		return notFound(form.Get("customer"))
	}
	var prices []string
	for i := 0; form.Has(fmt.Sprintf("line_items[%d][price]", i)); i++ {
		prices = append(prices, form.Get(fmt.Sprintf("line_items[%d][price]", i)))
	}
	status, o := s.createObject("cs_test", "checkout.session",
		object{"customer": form.Get("customer"), "mode": form.Get("mode"), "status": "open",
			"expires_at": time.Now().Add(24 * time.Hour).Unix(), "prices": prices})
	o["url"] = "https://checkout.stripe.com/c/" + o["id"].(string)
	return status, o
}

func (s *Stripe) changeSubscription(id string, form url.Values) (int, object) {
	return s.change(id, func(b object) string {
		if b["status"] == "canceled" {
			return "The subscription is canceled"
		}
		if end := form.Get("cancel_at_period_end"); end != "" {
			b["cancel_at_period_end"] = end == "true"
		}
		items := b["items"].(object)["data"].([]object)
		for i := 0; ; i++ {
			at := fmt.Sprintf("items[%d]", i)
			id, price := form.Get(at+"[id]"), form.Get(at+"[price]")
			switch {
			case id == "" && price == "":
				b["items"] = list(items)
				s.emit("customer.subscription.updated", b)
				return ""
			case form.Get(at+"[deleted]") == "true":
				items = slices.DeleteFunc(items, func(o object) bool { return o["id"] == id })
			case id != "":
				for _, o := range items {
					if o["id"] == id {
						o["price"] = s.priceOf(price)
					}
				}
			default:
				items = append(items, s.item(price))
			}
		}
	})
}

func (s *Stripe) priceOf(id string) object {
	p := s.objects[id]
	if p == nil {
		s.t.Errorf("no price %s", id)
	}
	return p
}

func (s *Stripe) item(price string) object {
	now := time.Now().UTC()
	start := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	return object{"id": s.id("si"), "object": "subscription_item", "created": now.Unix(), "price": s.priceOf(price),
		"quantity":             1,
		"current_period_start": start.Unix(), "current_period_end": start.AddDate(0, 1, 0).Unix()}
}

func (s *Stripe) schedule(parts []string, form url.Values) (int, object) {
	switch {
	case len(parts) == 0:
		b := s.objects[form.Get("from_subscription")]
		if b == nil {
			return notFound(form.Get("from_subscription"))
		}
		present := []object{} // the first phase is the current subscription, until its period ends
		for _, item := range b["items"].(object)["data"].([]object) {
			present = append(present, object{"price": item["price"].(object)["id"], "quantity": item["quantity"]})
		}
		status, o := s.createObject("sub_sched", "subscription_schedule",
			object{"subscription": b["id"], "customer": b["customer"], "status": "active",
				"phases": []object{{"start_date": b["created"], "end_date": time.Now().AddDate(0, 1, 0).Unix(), "items": present}}})
		b["schedule"] = o["id"]
		return status, o
	case len(parts) == 2 && parts[1] == "release":
		return s.change(parts[0], func(o object) string {
			o["status"] = "released"
			b := s.objects[o["subscription"].(string)]
			b["schedule"] = nil
			s.emit("customer.subscription.updated", b)
			return ""
		})
	default:
		return s.change(parts[0], func(o object) string {
			var phases []object
			for i := 0; form.Has(fmt.Sprintf("phases[%d][items][0][price]", i)); i++ {
				var items []object
				for k := 0; form.Has(fmt.Sprintf("phases[%d][items][%d][price]", i, k)); k++ {
					at := fmt.Sprintf("phases[%d][items][%d]", i, k)
					items = append(items, object{"price": form.Get(at + "[price]"),
						"quantity": number(form.Get(at + "[quantity]"))})
				}
				phases = append(phases, object{"start_date": number(form.Get(fmt.Sprintf("phases[%d][start_date]", i))),
					"items": items})
			}
			o["phases"] = phases
			s.emit("customer.subscription.updated", s.objects[o["subscription"].(string)])
			return ""
		})
	}
}

func (s *Stripe) meter(form url.Values) (int, object) {
	identifier := form.Get("identifier")
	if s.told[identifier] {
		return badRequest("An event already exists with identifier " + identifier)
	}
	s.told[identifier] = true
	customer, hour := form.Get("payload[stripe_customer_id]"), number(form.Get("timestamp"))/3600*3600
	if s.windows[customer] == nil {
		s.windows[customer] = map[int64]int64{}
	}
	s.windows[customer][hour] = number(form.Get("payload[value]")) // the latest report of an hour counts
	return http.StatusOK, object{"object": "billing.meter_event", "identifier": identifier}
}

func (s *Stripe) summaries(customer string, since, until int64) object {
	out := []object{}
	for _, hour := range slices.Sorted(maps.Keys(s.windows[customer])) {
		if hour >= since && hour < until {
			out = append(out, object{"object": "billing.meter_event_summary", "start_time": hour,
				"end_time": hour + 3600, "aggregated_value": s.windows[customer][hour]})
		}
	}
	return list(out)
}

// setUp stores what the operator's setup creates.
func (s *Stripe) setUp(path string, form url.Values) (int, object) {
	metadata := object{}
	for name := range form {
		if inner, found := strings.CutPrefix(name, "metadata["); found {
			metadata[strings.TrimSuffix(inner, "]")] = form.Get(name)
		}
	}
	switch path {
	case "products":
		return s.createObject("prod", "product", object{"name": form.Get("name"), "metadata": metadata, "active": true})
	case "prices":
		usage, tiers := "licensed", []object(nil)
		if form.Get("recurring[usage_type]") == "metered" {
			usage = "metered"
		}
		for i := 0; form.Has(fmt.Sprintf("tiers[%d][up_to]", i)); i++ {
			at := fmt.Sprintf("tiers[%d]", i)
			tiers = append(tiers, object{"up_to": number(form.Get(at + "[up_to]")),
				"unit_amount_decimal": form.Get(at + "[unit_amount_decimal]")})
		}
		return s.createObject("price", "price", object{"product": form.Get("product"), "active": true,
			"currency": form.Get("currency"), "unit_amount": number(form.Get("unit_amount")),
			"recurring": object{"interval": form.Get("recurring[interval]"), "usage_type": usage,
				"meter": form.Get("recurring[meter]")}, "tiers": tiers, "metadata": metadata})
	case "billing/meters":
		return s.createObject("mtr", "billing.meter",
			object{"event_name": form.Get("event_name"), "event_time_window": form.Get("event_time_window"),
				"status": "active"})
	case "webhook_endpoints":
		return s.createObject("we", "webhook_endpoint",
			object{"url": form.Get("url"), "secret": Secret, "metadata": metadata,
				"status": "enabled"})
	default:
		return s.createObject("bpc", "billing_portal.configuration", object{"active": true, "metadata": metadata})
	}
}
