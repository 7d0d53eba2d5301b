package domains

import (
	"context"
	"net/http"
	"slices"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/tracking/hosts"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
)

// TrackingHostService is the part of tracking that the operations on tracking hosts use.
type TrackingHostService interface {
	Set(ctx context.Context, accountID, domainID string, in hosts.HostInput) (hosts.Host, error)
	Get(ctx context.Context, accountID, domainID string) (hosts.Host, error)
	Verify(ctx context.Context, accountID, domainID string) (hosts.Host, error)
	Delete(ctx context.Context, accountID, domainID string) error
}

var _ TrackingHostService = (*hosts.Service)(nil)

type trackingHost struct {
	Host          string              `json:"host" doc:"The host name of tracked links." example:"links.example.com"`
	Status        string              `json:"status" enum:"pending,verified,failed" doc:"verified: the CNAME record points to this service. failed: the record was verified, but has been missing for 72 hours."`
	Record        trackingRecord      `json:"record" doc:"The record to publish in DNS, and the result of the last check."`
	Certificate   trackingCertificate `json:"certificate" doc:"TLS state. Links in new mail use the host once it is verified and can be served over TLS; until then they use this service's host."`
	VerifiedAt    wire.OptionalTime   `json:"verified_at" doc:"When the host was verified. null if it is not."`
	LastCheckedAt wire.OptionalTime   `json:"last_checked_at" doc:"When the DNS record was last checked. null if it never was."`
	CreatedAt     wire.Time           `json:"created_at" doc:"When the host was set."`
}

type trackingRecord struct {
	Type   string   `json:"type" enum:"CNAME" doc:"The type of the DNS record."`
	Name   string   `json:"name" doc:"The full name, without a trailing dot."`
	Value  string   `json:"value" doc:"The name that the record must point to."`
	Status string   `json:"status" enum:"missing,mismatch,verified" doc:"The result of the last check."`
	Found  []string `json:"found" nullable:"false" doc:"The target that the last check found, with all aliases."`
	Error  *string  `json:"error" doc:"What to do, in one sentence; null if nothing is needed."`
}

type trackingCertificate struct {
	Status    string            `json:"status" enum:"not_needed,unavailable,pending,issued,failed" doc:"not_needed: this service does not use TLS (development). unavailable: this service does not obtain certificates."`
	ExpiresAt wire.OptionalTime `json:"expires_at" doc:"When the certificate expires. null if there is none."`
	Error     *string           `json:"error" doc:"Why it failed; null if it did not fail."`
}

type trackingHostAnswer struct {
	TrackingHost trackingHost `json:"tracking_host" doc:"The tracking host of the domain."`
}

type trackingHostEdge struct{ hosts TrackingHostService }

// TrackingHostRoutes returns the routes of a domain's tracking host.
func TrackingHostRoutes(service TrackingHostService) api.Routes {
	return api.NewRoutes("tracking-host", func(a *api.API) {
		e := &trackingHostEdge{hosts: service}
		g := a.Tag(Tag, "")
		g.Bind(Noun, domainIDs{})
		example := map[string]any{"tracking_host": trackingHostExample()}
		api.HandleBody(g, api.Operation{
			Method: http.MethodPut, Path: "/domains/{id}/tracking-host", ID: "setDomainTrackingHost",
			Needs: rights.Write, Slow: true,
			Summary: "Set a domain's tracking host",
			Description: "Sets the host name of links in mail from the domain. The name must be below the domain, " +
				"which must be verified. Publish the CNAME record in the response, then verify it. A different name " +
				"replaces the current one; the same name changes nothing. A name that is already in use fails with " +
				"409 `conflict`.",
			Body: &api.Body{About: "The name.",
				Examples: map[string]any{"host": map[string]any{"host": "links.example.com"}}},
			Example: example, Problems: []int{http.StatusNotFound, http.StatusConflict}, Of: Noun,
		}, hostBody, e.set)
		api.Get(g, api.Operation{
			Path: "/domains/{id}/tracking-host", ID: "getDomainTrackingHost", Needs: rights.Read,
			Summary: "Retrieve a domain's tracking host", Description: "Returns the tracking host with its CNAME " +
				"record, as of the last check. 404 if the domain has none.",
			Example: example, Of: Noun,
		}, e.hosts.Get, newTrackingHostAnswer)
		api.Handle(g, api.Operation{
			Method: http.MethodPost, Path: "/domains/{id}/tracking-host/verify", ID: "verifyDomainTrackingHost",
			Needs: rights.Write, Slow: true, Stores: api.StoresNothing,
			Summary: "Verify a domain's tracking host",
			Description: "Looks up the CNAME record immediately and returns the updated tracking host. It is also " +
				"checked automatically. A verified host whose record is missing for 72 hours becomes `failed`, and " +
				"links in new mail use this service's host until the record returns.",
			Example: example, Problems: []int{http.StatusNotFound}, Of: Noun,
		}, e.verify)
		api.Delete(g, api.Operation{
			Path: "/domains/{id}/tracking-host", ID: "deleteDomainTrackingHost", Needs: rights.Write,
			Summary: "Remove a domain's tracking host", Description: "Deletes the tracking host. Links in new mail " +
				"use this service's host again. Keep the CNAME record as long as links in sent mail need to work.",
			Of: Noun,
		}, e.hosts.Delete)
	})
}

func hostBody(in *hosts.HostInput) body.Object {
	return body.Object{Name: "SetTrackingHost", Fields: []body.Field{
		{Name: "host", Type: body.Text(&in.Host), Need: body.Required, About: "A name below the domain, such as `links.example.com`."},
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

func newTrackingHostAnswer(h hosts.Host) trackingHostAnswer {
	record := trackingRecord{Type: "CNAME", Name: h.Host, Value: h.Target, Status: "missing", Found: wire.List(h.Found),
		Error: wire.OrNull(h.TrackingHost.Error)}
	switch {
	case slices.Contains(h.Found, h.Target):
		record.Status = "verified"
	case len(h.Found) > 0:
		record.Status = "mismatch"
	}
	return trackingHostAnswer{TrackingHost: trackingHost{Host: h.Host, Status: string(h.Status), Record: record,
		Certificate: trackingCertificate{Status: h.Certificate.Status,
			ExpiresAt: wire.OptionalTime{At: h.Certificate.Expires}, Error: wire.OrNull(h.Certificate.Error)},
		VerifiedAt: wire.OptionalTime{At: h.VerifiedAt}, LastCheckedAt: wire.OptionalTime{At: h.LastCheckedAt},
		CreatedAt: wire.Time(h.CreatedAt)}}
}

func (e *trackingHostEdge) set(ctx context.Context, c *api.Call, in *api.Item,
	host hosts.HostInput) (trackingHostAnswer, error) {
	return api.As(newTrackingHostAnswer)(e.hosts.Set(ctx, c.AccountID, in.ID, host))
}

func (e *trackingHostEdge) verify(ctx context.Context, c *api.Call, in *api.Item) (trackingHostAnswer, error) {
	return api.As(newTrackingHostAnswer)(e.hosts.Verify(ctx, c.AccountID, in.ID))
}
