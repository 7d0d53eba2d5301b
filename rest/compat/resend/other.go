package resend

import (
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/postrider/postrider/rest/compat"
)

func otherRoutes() []compat.Route {
	return []compat.Route{
		{Method: http.MethodPost, Path: "/events/send", Handle: sendEvent},
		{Path: "/events/{...}", Handle: compat.Refuse("Event definitions are")},
		{Method: http.MethodGet, Path: "/logs", Handle: listLogs},
		{Method: http.MethodGet, Path: "/logs/{id}", Handle: getLog},
		{Method: http.MethodGet, Path: "/usage", Handle: getUsage},
	}
}

func sendEvent(c *compat.Call) (*compat.Response, error) {
	var in struct {
		Event     string          `json:"event"`
		ContactID *string         `json:"contact_id"`
		Email     *string         `json:"email"`
		Payload   json.RawMessage `json:"payload"`
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	if in.ContactID != nil && *in.ContactID != "" {
		return nil, compat.Unsupported("Contacts (contact_id) are")
	}
	body := map[string]any{"name": in.Event}
	if in.Email != nil {
		body["email"] = *in.Email
	}
	if !isNull(in.Payload) {
		body["data"] = in.Payload
	}
	if err := c.Do(compat.Request{Method: http.MethodPost, Path: "/events", Body: body,
		Key: c.Header("Idempotency-Key")}, nil); err != nil {
		return nil, err
	}
	return compat.OK(map[string]string{"object": "event", "event": in.Event})
}

// request is a request in the API log of our own API.
type request struct {
	ID           string `json:"id"`
	CreatedAt    string `json:"created_at"`
	Method       string `json:"method"`
	Path         string `json:"path"`
	Status       int    `json:"status"`
	RequestBody  string `json:"request_body"`
	ResponseBody string `json:"response_body"`
}

type shownLog struct {
	ID             string  `json:"id"`
	CreatedAt      string  `json:"created_at"`
	Endpoint       string  `json:"endpoint"`
	Method         string  `json:"method"`
	ResponseStatus int     `json:"response_status"`
	UserAgent      *string `json:"user_agent"`
}

func (r request) show() shownLog {
	return shownLog{ID: r.ID, CreatedAt: r.CreatedAt, Endpoint: r.Path, Method: r.Method, ResponseStatus: r.Status}
}

func listLogs(c *compat.Call) (*compat.Response, error) {
	return answerList(c, compat.ListRequest{Path: "/requests", Member: "requests"},
		func(r request) string { return r.ID }, nil,
		request.show)
}

func getLog(c *compat.Call) (*compat.Response, error) {
	var found struct {
		Request request `json:"request"`
	}
	if err := c.Do(compat.Request{Method: http.MethodGet, Path: joinPath("requests", c.Param("id"))},
		&found); err != nil {
		return nil, err
	}
	return compat.OK(struct {
		Object string `json:"object"`
		shownLog
		RequestBody  any `json:"request_body"`
		ResponseBody any `json:"response_body"`
	}{"log", found.Request.show(), decodeLogged(found.Request.RequestBody), decodeLogged(found.Request.ResponseBody)})
}

// decodeLogged returns a logged body as JSON if it is complete, and otherwise as text.
func decodeLogged(text string) any {
	if text == "" {
		return nil
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}

// getUsage reports the figures that Postrider counts. The usage of features that it does not have is 0.
func getUsage(c *compat.Call) (*compat.Response, error) {
	var of struct {
		Account struct {
			Limits struct {
				Domains int `json:"domains"`
			} `json:"limits"`
			Usage struct {
				Day           int    `json:"day"`
				DayResetsAt   string `json:"day_resets_at"`
				DailyCap      *int   `json:"daily_cap"`
				Month         int    `json:"month"`
				MonthResetsAt string `json:"month_resets_at"`
				MonthlyCap    *int   `json:"monthly_cap"`
			} `json:"usage"`
		} `json:"account"`
	}
	if err := c.Do(compat.Request{Method: http.MethodGet, Path: "/account"}, &of); err != nil {
		return nil, err
	}
	var domains struct {
		Domains []json.RawMessage `json:"domains"`
	}
	if err := c.Do(compat.Request{Method: http.MethodGet, Path: "/domains", Query: url.Values{"limit": {"100"}}},
		&domains); err != nil {
		return nil, err
	}
	limits, usage := of.Account.Limits, of.Account.Usage
	none := map[string]any{"used": 0, "limit": 0}
	return compat.OK(map[string]any{"object": "usage",
		"emails": map[string]any{
			"daily":   emailUsage(usage.Day, usage.DailyCap, usage.DayResetsAt),
			"monthly": emailUsage(usage.Month, usage.MonthlyCap, usage.MonthResetsAt),
		},
		"domains":    map[string]any{"used": len(domains.Domains), "limit": limits.Domains},
		"rate_limit": map[string]any{"limit": c.RateLimit(), "duration": "1s"},
		"contacts":   none, "segments": none, "broadcasts": map[string]any{"used": 0, "limit": nil},
	})
}

func emailUsage(used int, limit *int, resetsAt string) map[string]any {
	return map[string]any{"used": used, "sent": used, "limit": limit, "resets_at": resetsAt}
}
