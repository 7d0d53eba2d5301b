package resend

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/postrider/postrider/rest/compat"
	"github.com/postrider/postrider/runtime/base/id"
)

// region is the region of every domain: clients expect one of a fixed set of regions, and Postrider has none.
const region = "us-east-1"

func domainRoutes() []compat.Route {
	return []compat.Route{
		{Method: http.MethodPost, Path: "/domains", Handle: addDomain},
		{Method: http.MethodGet, Path: "/domains", Handle: listDomains},
		{Method: http.MethodPost, Path: "/domains/claim", Handle: startClaim},
		{Method: http.MethodGet, Path: "/domains/{id}/claim", Handle: getClaim},
		{Method: http.MethodPost, Path: "/domains/{id}/claim/verify", Handle: verifyClaim},
		{Method: http.MethodGet, Path: "/domains/{id}", Handle: getDomain},
		{Method: http.MethodPatch, Path: "/domains/{id}", Handle: updateDomain},
		{Method: http.MethodDelete, Path: "/domains/{id}", Handle: removeItem("domains", "domain")},
		{Method: http.MethodPost, Path: "/domains/{id}/verify", Handle: verifyDomain},
	}
}

// domainInput is a domain in a request.
type domainInput struct {
	Name             string  `json:"name"`
	Region           *string `json:"region"`
	CustomReturnPath *string `json:"custom_return_path"`
	Capabilities     *struct {
		Sending   string `json:"sending"`
		Receiving string `json:"receiving"`
	} `json:"capabilities"`
	OpenTracking      *bool   `json:"open_tracking"`
	ClickTracking     *bool   `json:"click_tracking"`
	TLS               *string `json:"tls"`
	TrackingSubdomain *string `json:"tracking_subdomain"`
}

// check refuses unsupported settings.
func (in domainInput) check() error {
	switch {
	case in.CustomReturnPath != nil && *in.CustomReturnPath != "" && *in.CustomReturnPath != "rp":
		return compat.Unsupported(`A custom return path other than "rp" (custom_return_path) is`)
	case in.Capabilities != nil && in.Capabilities.Sending == "disabled":
		return compat.Unsupported("A domain that cannot send (capabilities.sending) is")
	}
	return nil
}

// receives returns whether a domain must receive mail, or nil if the request does not set it.
func (in domainInput) receives() *bool {
	if in.Capabilities == nil || in.Capabilities.Receiving == "" {
		return nil
	}
	enabled := in.Capabilities.Receiving == "enabled"
	return &enabled
}

// domain is a domain of our own API.
type domain struct {
	ID             string      `json:"id"`
	Name           string      `json:"name"`
	Status         string      `json:"status"`
	CreatedAt      string      `json:"created_at"`
	LastCheckedAt  *string     `json:"last_checked_at"`
	InboundEnabled bool        `json:"inbound_enabled"`
	OpenTracking   bool        `json:"open_tracking"`
	ClickTracking  bool        `json:"click_tracking"`
	TLSMode        string      `json:"tls_mode"`
	Records        []dnsRecord `json:"records"`
}

type dnsRecord struct {
	Name     string `json:"name"`
	Priority *int   `json:"priority"`
	Purpose  string `json:"purpose"`
	Status   string `json:"status"`
	Type     string `json:"type"`
	Value    string `json:"value"`
}

type domainAnswer struct {
	Domain domain `json:"domain"`
}

type shownDomain struct {
	Object        string            `json:"object,omitempty"`
	ID            string            `json:"id"`
	Name          string            `json:"name"`
	Status        string            `json:"status"`
	CreatedAt     string            `json:"created_at"`
	Region        string            `json:"region"`
	Capabilities  map[string]string `json:"capabilities"`
	OpenTracking  bool              `json:"open_tracking"`
	ClickTracking bool              `json:"click_tracking"`
	TLS           string            `json:"tls"`
	Records       []shownRecord     `json:"records,omitempty"`
}

type shownRecord struct {
	Record   string `json:"record"`
	Name     string `json:"name"`
	Type     string `json:"type"`
	TTL      string `json:"ttl"`
	Status   string `json:"status"`
	Value    string `json:"value"`
	Priority *int   `json:"priority,omitempty"`
}

// show returns a domain in Resend's format, with its records unless it is part of a list.
func (d domain) show(object string, records bool) shownDomain {
	out := shownDomain{Object: object, ID: d.ID, Name: d.Name, Status: d.status(), CreatedAt: d.CreatedAt,
		Region:       region,
		Capabilities: map[string]string{"sending": "enabled", "receiving": "disabled"}, OpenTracking: d.OpenTracking,
		ClickTracking: d.ClickTracking, TLS: d.TLSMode}
	if d.InboundEnabled {
		out.Capabilities["receiving"] = "enabled"
	}
	if !records {
		return out
	}
	for _, r := range d.Records {
		out.Records = append(out.Records, shownRecord{Record: recordKinds[r.Purpose], Name: r.Name, Type: r.Type,
			TTL: "Auto", Status: recordStatuses[r.Status], Value: r.Value, Priority: r.Priority})
	}
	return out
}

var (
	recordKinds = map[string]string{"ownership": "Ownership", "dkim": "DKIM", "return_path": "SPF", "spf": "SPF",
		"dmarc": "DMARC", "inbound_mx": "Receiving", "tls_reports": "TLSRPT", "bimi": "BIMI", "mta_sts_host": "MTA-STS",
		"mta_sts": "MTA-STS"}
	recordStatuses = map[string]string{"missing": "pending", "mismatch": "failed", "verified": "verified"}
)

func (d domain) status() string {
	switch {
	case d.Status == "pending" && d.LastCheckedAt == nil:
		return "not_started"
	case d.Status == "temporary_failure":
		return "partially_failed"
	}
	return d.Status
}

func addDomain(c *compat.Call) (*compat.Response, error) {
	var in domainInput
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	// Our delivery settings require a verified domain. Before the verification, a request can only contain their
	// defaults.
	for _, field := range []struct {
		name  string
		given bool
	}{
		{"open_tracking", in.OpenTracking != nil && *in.OpenTracking},
		{"click_tracking", in.ClickTracking != nil && *in.ClickTracking},
		{"tls", in.TLS != nil && *in.TLS != "opportunistic"},
		{"tracking_subdomain", in.TrackingSubdomain != nil && *in.TrackingSubdomain != ""},
	} {
		if field.given {
			return nil, compat.Invalid(field.name, "can be set once the domain is verified: update the domain then")
		}
	}
	body := map[string]any{"name": in.Name}
	if enabled := in.receives(); enabled != nil {
		body["inbound_enabled"] = *enabled
	}
	var made domainAnswer
	if err := c.Do(compat.Request{Method: http.MethodPost, Path: "/domains", Body: body,
		Key: c.Header("Idempotency-Key")}, &made); err != nil {
		return nil, err
	}
	return &compat.Response{Status: http.StatusCreated, Body: made.Domain.show("domain", true)}, nil
}

func listDomains(c *compat.Call) (*compat.Response, error) {
	return answerList(c, compat.ListRequest{Path: "/domains", Member: "domains", Name: "domains"},
		func(d domain) string { return d.ID }, nil, func(d domain) shownDomain { return d.show("", false) })
}

func getDomain(c *compat.Call) (*compat.Response, error) {
	var found domainAnswer
	if err := c.Do(compat.Request{Method: http.MethodGet, Path: joinPath("domains", c.Param("id"))},
		&found); err != nil {
		return nil, err
	}
	return compat.OK(found.Domain.show("domain", true))
}

func updateDomain(c *compat.Call) (*compat.Response, error) {
	var in domainInput
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	domainID := c.Param("id")
	body := map[string]any{}
	if in.OpenTracking != nil {
		body["open_tracking"] = *in.OpenTracking
	}
	if in.ClickTracking != nil {
		body["click_tracking"] = *in.ClickTracking
	}
	if in.TLS != nil {
		body["tls_mode"] = *in.TLS
	}
	if enabled := in.receives(); enabled != nil {
		body["inbound_enabled"] = *enabled
	}
	var changed domainAnswer
	if err := c.Do(compat.Request{Method: http.MethodPatch, Path: joinPath("domains", domainID), Body: body},
		&changed); err != nil {
		return nil, err
	}
	if sub := in.TrackingSubdomain; sub != nil && *sub != "" {
		host := strings.TrimSuffix(*sub, "."+changed.Domain.Name) + "." + changed.Domain.Name
		if err := c.Do(compat.Request{Method: http.MethodPut, Path: joinPath("domains", domainID, "tracking-host"),
			Body: map[string]any{"host": host}}, nil); err != nil {
			return nil, err
		}
	}
	return compat.OK(object{Object: "domain", ID: domainID})
}

func verifyDomain(c *compat.Call) (*compat.Response, error) {
	domainID := c.Param("id")
	ask := compat.Request{Method: http.MethodPost, Path: joinPath("domains", domainID, "verify")}
	if err := c.Do(ask, nil); err != nil {
		return nil, err
	}
	return compat.OK(object{Object: "domain", ID: domainID})
}

// claim is a claim of our own API.
type claim struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	Status    string  `json:"status"`
	CreatedAt string  `json:"created_at"`
	ExpiresAt string  `json:"expires_at"`
	Error     *string `json:"error"`
	Record    struct {
		Type  string `json:"type"`
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"record"`
}

type claimAnswer struct {
	Claim  claim   `json:"claim"`
	Domain *domain `json:"domain"`
}

// show returns a claim in Resend's format. Until the claim is completed, its domain_id is the ID of the claim, because
// clients pass it to read and verify the claim.
func (a claimAnswer) show() any {
	out := map[string]any{"object": "domain_claim", "id": a.Claim.ID, "name": a.Claim.Name, "status": a.Claim.Status,
		"domain_id": a.Claim.ID, "region": region, "blocked_reason": nil, "failure_reason": a.Claim.Error,
		"created_at": a.Claim.CreatedAt, "expires_at": a.Claim.ExpiresAt, "record": map[string]string{
			"type": a.Claim.Record.Type, "name": a.Claim.Record.Name, "value": a.Claim.Record.Value, "ttl": "Auto"}}
	if a.Domain != nil {
		out["domain_id"] = a.Domain.ID
	}
	return out
}

func startClaim(c *compat.Call) (*compat.Response, error) {
	var in domainInput
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	return doClaim(c, compat.Request{Method: http.MethodPost, Path: "/domains/claims",
		Body: map[string]string{"name": in.Name}, Key: c.Header("Idempotency-Key")})
}

func getClaim(c *compat.Call) (*compat.Response, error) {
	claimID, err := claimID(c)
	if err != nil {
		return nil, err
	}
	return doClaim(c, compat.Request{Method: http.MethodGet, Path: "/domains/claims" + joinPath(claimID)})
}

func verifyClaim(c *compat.Call) (*compat.Response, error) {
	claimID, err := claimID(c)
	if err != nil {
		return nil, err
	}
	return doClaim(c, compat.Request{Method: http.MethodPost, Path: "/domains/claims" + joinPath(claimID, "verify")})
}

func doClaim(c *compat.Call, ask compat.Request) (*compat.Response, error) {
	var answer claimAnswer
	if err := c.Do(ask, &answer); err != nil {
		return nil, err
	}
	return compat.OK(answer.show())
}

// claimID returns the claim in a path, which contains the ID of the claim or of the domain that it has won.
func claimID(c *compat.Call) (string, error) {
	given := c.Param("id")
	if !id.Is(id.Domain, given) {
		return given, nil
	}
	var of domainAnswer
	if err := c.Do(compat.Request{Method: http.MethodGet, Path: joinPath("domains", given)}, &of); err != nil {
		return "", err
	}
	var claims struct {
		Claims []claim `json:"claims"`
	}
	if err := c.Do(compat.Request{Method: http.MethodGet, Path: "/domains/claims",
		Query: url.Values{"limit": {"100"}}}, &claims); err != nil {
		return "", err
	}
	for _, one := range claims.Claims {
		if one.Name == of.Domain.Name {
			return one.ID, nil
		}
	}
	return "", compat.NotFound("claim of the domain " + of.Domain.Name)
}
