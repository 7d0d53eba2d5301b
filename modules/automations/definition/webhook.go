package definition

import (
	"errors"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Webhook is the type of steps that call a URL.
const Webhook = "webhook"

var _ = registerType(Webhook, webhookStep{})

type webhookStep struct{ plainStep }

func (webhookStep) describe() string {
	return "calls your URL. Without a 2xx response, it retries for about four hours"
}

func (webhookStep) members() []member {
	return []member{
		{"url", textForm(2000, checkURL).withSchema(map[string]any{"pattern": "^[Hh][Tt][Tt][Pp][Ss]?://"}), true,
			"An https URL, without Liquid."},
		{"method", oneOf("POST", "PUT"), false, "The method of the request. Defaults to POST."},
		{"headers", mapForm(MaxHeaders, checkRequestHeader, textForm(998, checkSubject).withSchema(line)), false, "Header fields of the request by name."},
		{"body", anyValue().withSchema(map[string]any{"not": map[string]any{"type": "null"}}), false,
			"Any JSON value, with Liquid in strings. A string that consists of one output keeps the type of the value."},
		{"capture", booleanForm(), false, "Whether to keep up to 16 KB of a JSON response as steps.<key>.body."},
		onError,
	}
}

func (webhookStep) isEffect() bool { return true }

func (webhookStep) ways(s *Step) []StepTarget {
	return []StepTarget{newWay("on_error", s.OnError, Fails)}
}

func (webhookStep) summary(s *Step) string { return firstNonEmpty(s.Method, "POST") + " " + s.URL }

func checkURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return errors.New("must be a URL")
	case u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())):
		// http is allowed only for this machine in development, which activation checks
		return errors.New("must start with https://")
	case u.User != nil:
		return errors.New("cannot contain a user name or password")
	case u.Fragment != "":
		return errors.New("cannot contain a fragment")
	case strings.Contains(s, "{{") || strings.Contains(s, "{%"):
		return errors.New("must be literal; put values into the body")
	}
	return nil
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$")

func checkRequestHeader(name string) error {
	lower := strings.ToLower(name)
	switch {
	case !headerName.MatchString(name):
		return errors.New("is not a header name")
	case slices.Contains([]string{"host", "content-length", "transfer-encoding", "connection", "te", "trailer",
		"upgrade", "content-type", "idempotency-key", "service-signature", "postrider-cause", "user-agent"}, lower):
		return errors.New("is written by the service")
	}
	return nil
}
