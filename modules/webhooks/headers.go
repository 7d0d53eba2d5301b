package webhooks

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/web/egress"
)

// Limits of the header fields of an endpoint.
const (
	MaxHeaders     = 10
	MaxHeaderBytes = 4 << 10 // names and values together
)

// reservedHeaders are header fields that only Postrider or its HTTP client sets. Those that begin with webhook- or
// service- are reserved too.
var reservedHeaders = []string{"host", "content-length", "content-type", "content-encoding", "transfer-encoding",
	"connection", "keep-alive", "te", "trailer", "upgrade", "expect", "accept-encoding", "user-agent", "traceparent",
	"tracestate", "baggage", "proxy-authorization", "proxy-connection"}

// headersContext binds the sealed header fields to their endpoint.
func headersContext(webhookID string) []byte { return []byte("webhook headers/" + webhookID) }

// checkHeaders adds what is wrong with the header fields of an endpoint. Errors never contain a value.
func checkHeaders(wrong fault.Fields, headers map[string]string) {
	if len(headers) > MaxHeaders {
		wrong.Add("headers", "cannot have more than %d fields", MaxHeaders)
		return
	}
	total, seen := 0, map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		lower, value := strings.ToLower(name), headers[name]
		total += len(name) + len(value)
		switch {
		case !egress.IsHeaderName(name):
			wrong.Add("headers", "must have valid header names")
		case slices.Contains(reservedHeaders, lower), strings.HasPrefix(lower, "webhook-"),
			strings.HasPrefix(lower, "service-"):
			wrong.Add("headers."+name, "cannot be set: Postrider sets this header")
		case seen[lower]:
			wrong.Add("headers."+name, "cannot be set twice")
		case value == "" || !egress.IsHeaderValue(value):
			wrong.Add("headers."+name, "must be visible ASCII characters and spaces")
		}
		seen[lower] = true
	}
	if total > MaxHeaderBytes {
		wrong.Add("headers", "cannot have more than %d bytes in total", MaxHeaderBytes)
	}
}

// sealHeaders seals header fields. It returns nil if there are none.
func (s *Service) sealHeaders(webhookID string, headers map[string]string) (sealed []byte, names []string, err error) {
	if len(headers) == 0 {
		return nil, nil, nil
	}
	plain, err := json.Marshal(headers)
	if err != nil {
		return nil, nil, fmt.Errorf("encode webhook headers: %w", err)
	}
	return s.box.Seal(plain, headersContext(webhookID)), slices.Sorted(maps.Keys(headers)), nil
}

// openHeaders decrypts the header fields of an endpoint.
func (s *deliverer) openHeaders(webhookID string, sealed []byte) (headers map[string]string, err error) {
	if sealed == nil {
		return nil, nil
	}
	plain, err := s.box.Open(sealed, headersContext(webhookID))
	if err == nil {
		err = json.Unmarshal(plain, &headers)
	}
	return headers, err
}

// changeHeaders returns the header fields of row after a change. A mask keeps the current value. Values are only kept
// for the same host, so that a member who changes the URL cannot send them elsewhere.
func (s *Service) changeHeaders(row *ent.Webhook, c EndpointChange) (map[string]string, error) {
	current, err := s.openHeaders(row.ID, row.Headers)
	if err != nil {
		return nil, fmt.Errorf("open the headers of a webhook: %w", err)
	}
	moved := c.URL != nil && originOf(*c.URL) != originOf(row.URL)
	if c.Headers == nil {
		if moved && len(current) > 0 {
			return nil, fault.InvalidField("headers", "is required: headers are not kept for another host")
		}
		return current, nil
	}
	next, wrong := maps.Clone(*c.Headers), fault.Fields{}
	for name, value := range next {
		switch kept, found := current[name]; {
		case value != secret.Mask:
		case !found:
			wrong.Add("headers."+name, "is a mask (%s) in place of an unknown value; enter the value", secret.Mask)
		case moved:
			wrong.Add("headers."+name, "is a mask (%s), which is not kept for another host; enter the value", secret.Mask)
		default:
			next[name] = kept
		}
	}
	return next, wrong.Err()
}

// applyHeaders sets the header fields of row after a change.
func (s *Service) applyHeaders(update *ent.WebhookUpdateOne, row *ent.Webhook, c EndpointChange) error {
	headers, err := s.changeHeaders(row, c)
	if err != nil || c.Headers == nil {
		return err
	}
	sealed, names, err := s.sealHeaders(row.ID, headers)
	if err != nil {
		return err
	}
	if sealed == nil {
		update.ClearHeaders().ClearHeaderNames()
	} else {
		update.SetHeaders(sealed).SetHeaderNames(names)
	}
	return nil
}

// originOf returns scheme, host and port of a URL.
func originOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// MaskedHeaders returns the header fields of an endpoint with masks in place of their values.
func MaskedHeaders(w *ent.Webhook) map[string]string {
	masked := make(map[string]string, len(w.HeaderNames))
	for _, name := range w.HeaderNames {
		masked[name] = secret.Mask
	}
	return masked
}
