// Package sendgrid serves the part of SendGrid's API that sends email and reads bounces, for SendGrid's official
// libraries.
package sendgrid

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/postrider/postrider/rest/compat"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Prefix is the path of the base URL.
const Prefix = "/sendgrid"

// API describes the provider.
func API() compat.Provider {
	return compat.Provider{Prefix: Prefix, Key: compat.BearerKey, Fail: newFailure, Routes: []compat.Route{
		{Method: http.MethodPost, Path: "/v3/mail/send", Limit: mailLimit, Handle: sendMail},
		{Method: http.MethodGet, Path: "/v3/suppression/bounces", Handle: listBounces},
		{Method: http.MethodDelete, Path: "/v3/suppression/bounces", Handle: deleteBounces},
		{Method: http.MethodGet, Path: "/v3/suppression/bounces/{email}", Handle: getBounce},
		{Method: http.MethodDelete, Path: "/v3/suppression/bounces/{email}", Handle: deleteBounce},
		{Path: "/v3/marketing/{...}", Handle: compat.Refuse("Marketing campaigns and contacts are")},
		{Path: "/v3/asm/{...}", Handle: compat.Refuse("Unsubscribe groups are")},
		{Path: "/v3/{...}", Handle: compat.Refuse("Calls of SendGrid other than mail/send and suppression/bounces are")},
	}}
}

// failure is an error in SendGrid's format.
type failure struct {
	Message string  `json:"message"`
	Field   *string `json:"field"`
	Help    *string `json:"help"`
}

func newFailure(r *compat.RefusalError) any {
	errors := []failure{}
	for _, field := range slices.Sorted(maps.Keys(r.Details)) {
		if reason, is := r.Details[field].(string); is {
			errors = append(errors, failure{Message: field + " " + reason, Field: &field})
		}
	}
	if len(errors) == 0 {
		errors = append(errors, failure{Message: r.Message})
	}
	return map[string]any{"errors": errors}
}

// suppression is a suppression of our own API.
type suppression struct {
	ID        string    `json:"id"`
	Email     *string   `json:"email"`
	Reason    string    `json:"reason"`
	CreatedAt time.Time `json:"created_at"`
}

// isBounce reports whether SendGrid would list a suppression as a bounce.
func (s suppression) isBounce() bool {
	return s.Email != nil && (s.Reason == "bounce" || s.Reason == "failure")
}

type bounce struct {
	Created int64  `json:"created"`
	Email   string `json:"email"`
	Reason  string `json:"reason"`
	Status  string `json:"status"`
}

func (s suppression) show() bounce {
	return bounce{Created: s.CreatedAt.Unix(), Email: *s.Email, Reason: s.Reason, Status: "5.0.0"}
}

// queryTime reads a query parameter with a Unix time.
func queryTime(c *compat.Call, name string) (at time.Time, err error) {
	text := c.Query.Get(name)
	if text == "" {
		return at, nil
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return at, compat.Invalid(name, "must be a number of seconds since 1970")
	}
	return time.Unix(seconds, 0), nil
}

// listBounces lists the newest bounces, up to the limit of our lists.
func listBounces(c *compat.Call) (*compat.Response, error) {
	since, err := queryTime(c, "start_time")
	if err != nil {
		return nil, err
	}
	until, err := queryTime(c, "end_time")
	if err != nil {
		return nil, err
	}
	limit, offset := page.MaxLimit, 0
	for _, number := range []struct {
		name string
		into *int
	}{{"limit", &limit}, {"offset", &offset}} {
		if text := c.Query.Get(number.name); text != "" {
			if *number.into, err = strconv.Atoi(text); err != nil || *number.into < 0 || *number.into > 500 {
				return nil, compat.Invalid(number.name, "must be between 0 and 500")
			}
		}
	}
	keep := func(s suppression) bool {
		return s.isBounce() && !s.CreatedAt.Before(since) && (until.IsZero() || s.CreatedAt.Before(until))
	}
	found, _, err := compat.Items(c, compat.ListRequest{Path: "/suppressions", Member: "suppressions",
		Name:  "suppressions",
		Limit: offset + limit}, func(s suppression) string { return s.ID }, keep)
	if err != nil {
		return nil, err
	}
	out := []bounce{}
	for _, s := range found[min(offset, len(found)):] {
		out = append(out, s.show())
	}
	return compat.OK(out)
}

// findBounce returns the bounce of an address, or nil if the address has not bounced.
func findBounce(c *compat.Call, address string) (*suppression, error) {
	var found struct {
		Suppression suppression `json:"suppression"`
	}
	err := c.Do(compat.Request{Method: http.MethodGet, Path: "/suppressions/" + url.PathEscape(address)}, &found)
	switch {
	case compat.IsNotFound(err), err == nil && !found.Suppression.isBounce():
		return nil, nil //nolint:nilnil // the address has not bounced
	case err != nil:
		return nil, err
	}
	return &found.Suppression, nil
}

func getBounce(c *compat.Call) (*compat.Response, error) {
	found, err := findBounce(c, c.Param("email"))
	if err != nil {
		return nil, err
	}
	out := []bounce{}
	if found != nil {
		out = append(out, found.show())
	}
	return compat.OK(out)
}

func removeBounce(c *compat.Call, address string) error {
	found, err := findBounce(c, address)
	if err != nil {
		return err
	}
	if found == nil {
		return compat.NotFound("bounce: " + address)
	}
	return c.Do(compat.Request{Method: http.MethodDelete, Path: "/suppressions/" + url.PathEscape(found.ID)}, nil)
}

func deleteBounce(c *compat.Call) (*compat.Response, error) {
	if err := removeBounce(c, c.Param("email")); err != nil {
		return nil, err
	}
	return &compat.Response{Status: http.StatusNoContent}, nil
}

// mostDeleted limits the addresses of a call.
const mostDeleted = 100

func deleteBounces(c *compat.Call) (*compat.Response, error) {
	var in struct {
		DeleteAll bool     `json:"delete_all"`
		Emails    []string `json:"emails"`
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	switch {
	case in.DeleteAll:
		return nil, compat.Unsupported("Deleting all bounces at once (delete_all) is")
	case len(in.Emails) == 0 || len(in.Emails) > mostDeleted:
		return nil, compat.Invalid("emails", "must have between 1 and %d addresses", mostDeleted)
	}
	for _, address := range in.Emails {
		if err := removeBounce(c, address); err != nil && !compat.IsNotFound(err) {
			return nil, err
		}
	}
	return &compat.Response{Status: http.StatusNoContent}, nil
}
