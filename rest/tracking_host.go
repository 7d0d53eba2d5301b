package rest

import (
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
)

// TrackingHostService is what the operations on tracking hosts need of tracking.
type TrackingHostService interface {
	SetHost(ctx context.Context, accountID, domainID string, in tracking.HostInput) (tracking.Host, error)
	GetHost(ctx context.Context, accountID, domainID string) (tracking.Host, error)
	VerifyHost(ctx context.Context, accountID, domainID string) (tracking.Host, error)
	DeleteHost(ctx context.Context, accountID, domainID string) error
}

var _ TrackingHostService = (*tracking.Service)(nil)

type trackingHost struct {
	Host          string              `json:"host" example:"links.example.com"`
	Status        string              `json:"status" enum:"pending,verified,failed" doc:"verified: its CNAME record points here. failed: it was verified, and the record has been gone for 72 hours."`
	Record        trackingRecord      `json:"record" doc:"What to publish in DNS, and what the last check saw."`
	Certificate   trackingCertificate `json:"certificate" doc:"Links of new mail stand under the host once it is verified and can be served over TLS; until then under this service's own host."`
	VerifiedAt    optionalTimestamp   `json:"verified_at"`
	LastCheckedAt optionalTimestamp   `json:"last_checked_at"`
	CreatedAt     timestamp           `json:"created_at"`
}

type trackingRecord struct {
	Type   string   `json:"type" enum:"CNAME"`
	Name   string   `json:"name" doc:"In full, without a final dot."`
	Value  string   `json:"value" doc:"Where it has to point."`
	Status string   `json:"status" enum:"missing,mismatch,verified"`
	Found  []string `json:"found" nullable:"false" doc:"Where the last check found it to point, alias by alias."`
	Error  *string  `json:"error" doc:"One sentence on what to do; null when there is nothing."`
}

type trackingCertificate struct {
	Status    string            `json:"status" enum:"not_needed,unavailable,pending,issued,failed" doc:"not_needed: this service is reached without TLS (development). unavailable: this service gets no certificates."`
	ExpiresAt optionalTimestamp `json:"expires_at"`
	Error     *string           `json:"error" doc:"Why it failed; null otherwise."`
}

type trackingHostAnswer struct {
	TrackingHost trackingHost `json:"tracking_host"`
}

type trackingHostEdge struct{ hosts TrackingHostService }

// TrackingHost makes the routes of a domain's tracking host.
func TrackingHost(service TrackingHostService) Routes {
	return Routes{name: "tracking-host", add: func(a *API) {
		e := &trackingHostEdge{hosts: service}
		example := map[string]any{"tracking_host": trackingHostExample()}
		register(a, operation{
			method: http.MethodPut, path: "/domains/{id}/tracking-host", id: "setDomainTrackingHost", tag: tagDomains, needs: accounts.Write,
			summary: "Set a domain's tracking host",
			description: "Links in mail of the domain stand under a name of its own, instead of this service's. The name lies below the domain, which has to be " +
				"verified. Publish the CNAME record of the answer, then verify it. Another name replaces the one before; the same one changes nothing. A name " +
				"that is in use already is 409 `conflict`.",
			body: &requestBody{description: "The name.", schema: "SetTrackingHost",
				examples: map[string]any{"host": map[string]any{"host": "links.example.com"}}},
			example: example, problems: []int{http.StatusNotFound, http.StatusConflict},
		}, e.set)
		a.describeBody("SetTrackingHost", closed(map[string]*huma.Schema{
			"host": {Type: huma.TypeString, Description: "A name below the domain, as `links.example.com`."},
		}, "host"))
		register(a, operation{
			method: http.MethodGet, path: "/domains/{id}/tracking-host", id: "getDomainTrackingHost", tag: tagDomains, needs: accounts.Read,
			summary: "Retrieve a domain's tracking host", description: "With its CNAME record as the last check saw it. 404 when the domain has none.",
			example: example, problems: []int{http.StatusNotFound},
		}, e.get)
		register(a, operation{
			method: http.MethodPost, path: "/domains/{id}/tracking-host/verify", id: "verifyDomainTrackingHost", tag: tagDomains, needs: accounts.Write,
			summary: "Verify a domain's tracking host",
			description: "Looks its CNAME record up now and answers the host as it stands after that. It is checked by itself as well; a verified host whose " +
				"record is gone for 72 hours is `failed`, and links of new mail stand under this service's own host until the record is back.",
			example: example, problems: []int{http.StatusNotFound},
		}, e.verify)
		register(a, operation{
			method: http.MethodDelete, path: "/domains/{id}/tracking-host", id: "deleteDomainTrackingHost", tag: tagDomains, needs: accounts.Write,
			summary: "Remove a domain's tracking host", description: "Links of new mail stand under this service's own host again. Keep the CNAME record as long as links that were sent are to work.",
			example: map[string]any{"ok": true}, problems: []int{http.StatusNotFound},
		}, e.delete)
	}}
}

func trackingHostExample() map[string]any {
	return map[string]any{
		"host": "links.example.com", "status": "verified",
		"record": map[string]any{"type": "CNAME", "name": "links.example.com", "value": "mail.example.org", "status": "verified",
			"found": []any{"mail.example.org"}, "error": nil},
		"certificate": map[string]any{"status": "issued", "expires_at": "2026-04-15T09:30:00.000Z", "error": nil},
		"verified_at": "2026-01-15T09:30:00.000Z", "last_checked_at": "2026-01-15T09:30:00.000Z", "created_at": "2026-01-15T09:20:00.000Z",
	}
}

func (e *trackingHostEdge) answer(h tracking.Host, err error) (*trackingHostAnswer, error) {
	if err != nil {
		return nil, err
	}
	record := trackingRecord{Type: "CNAME", Name: h.Host, Value: h.Target, Status: "missing", Found: listed(h.Found), Error: textOrNull(h.TrackingHost.Error)}
	switch {
	case slices.Contains(h.Found, h.Target):
		record.Status = "verified"
	case len(h.Found) > 0:
		record.Status = "mismatch"
	}
	return &trackingHostAnswer{TrackingHost: trackingHost{Host: h.Host, Status: string(h.Status), Record: record,
		Certificate: trackingCertificate{Status: h.Certificate.Status, ExpiresAt: optionalTimestamp{h.Certificate.Expires}, Error: textOrNull(h.Certificate.Error)},
		VerifiedAt:  optionalTimestamp{h.VerifiedAt}, LastCheckedAt: optionalTimestamp{h.LastCheckedAt}, CreatedAt: timestamp(h.CreatedAt)}}, nil
}

func textOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func (e *trackingHostEdge) set(ctx context.Context, c *call, in *domainID) (*trackingHostAnswer, error) {
	body, err := parseObject(c.body)
	if err != nil {
		return nil, err
	}
	var input tracking.HostInput
	d := newDecoder()
	d.object("", body, []field{{name: "host", decode: d.into(&input.Host)}})
	if input.Host == "" {
		d.refuse("host", "is required")
	}
	if err := d.wrong.Err(); err != nil {
		return nil, err
	}
	if !id.Is(id.Domain, in.ID) {
		return nil, fault.Missing("domain", shown(in.ID))
	}
	return e.answer(e.hosts.SetHost(ctx, c.AccountID, in.ID, input))
}

func (e *trackingHostEdge) get(ctx context.Context, c *call, in *domainID) (*trackingHostAnswer, error) {
	if !id.Is(id.Domain, in.ID) {
		return nil, fault.Missing("domain", shown(in.ID))
	}
	return e.answer(e.hosts.GetHost(ctx, c.AccountID, in.ID))
}

func (e *trackingHostEdge) verify(ctx context.Context, c *call, in *domainID) (*trackingHostAnswer, error) {
	if !id.Is(id.Domain, in.ID) {
		return nil, fault.Missing("domain", shown(in.ID))
	}
	return e.answer(e.hosts.VerifyHost(ctx, c.AccountID, in.ID))
}

func (e *trackingHostEdge) delete(ctx context.Context, c *call, in *domainID) (*okAnswer, error) {
	if !id.Is(id.Domain, in.ID) {
		return nil, fault.Missing("domain", shown(in.ID))
	}
	if err := e.hosts.DeleteHost(ctx, c.AccountID, in.ID); err != nil {
		return nil, err
	}
	return &okAnswer{OK: true}, nil
}
