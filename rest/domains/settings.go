package domains

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
)

// settings is the part of domains that the operations on an existing domain use.
type settings interface {
	Update(ctx context.Context, accountID, domainID string, c domains.DomainChange) (*ent.Domain, error)
	Delete(ctx context.Context, accountID, domainID string) error
	ZoneFile(ctx context.Context, accountID, domainID string) (string, error)
}

const zoneType = "text/plain; charset=utf-8"

func (e *edge) settings(g *api.TagGroup) {
	api.Raw(g, api.Operation{
		Method: http.MethodGet, Path: "/domains/{id}/zone-file", ID: "getDomainZoneFile", Needs: rights.Read,
		Summary: "Export a domain's DNS records",
		Description: "Returns the records to publish as a zone file (RFC 1035), for DNS servers that can import " +
			"one. All names are fully qualified.",
		Media: "text/plain", Example: zoneExample, Problems: []int{http.StatusNotFound}, Of: Noun,
	}, e.zoneFile)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPatch, Path: "/domains/{id}", ID: "updateDomain", Needs: rights.Write,
		Stores:  api.StoresNothing,
		Summary: "Change a domain's settings",
		Description: "Updates the settings that you send. Omitted fields keep their value. `null` clears a URL, and is otherwise refused. " +
			"`open_tracking`, `click_tracking` and `tls_mode` require a verified domain and otherwise fail with 409 " +
			"`domain_not_verified`. A verified domain with `inbound_enabled` has an MX record to publish.",
		Body: &api.Body{About: "The settings to change, at least one.",
			Examples: map[string]any{"tls": map[string]any{"tls_mode": "enforced"}}},
		Example: map[string]any{"domain": domainExample()}, Problems: []int{http.StatusNotFound, http.StatusConflict},
		Of: Noun,
	}, changeBody, e.update)
	api.Delete(g, api.Operation{
		Path: "/domains/{id}", ID: "deleteDomain", Needs: rights.Write,
		Summary: "Delete a domain",
		Description: "Deletes a domain and its signing keys. Its emails remain readable. Undelivered mail fails at " +
			"the next attempt with a reason. If you add the domain again, it gets new keys and records.", Of: Noun,
	}, e.service.Delete)
}

func changeBody(c *domains.DomainChange) body.Object {
	return body.Object{Name: "UpdateDomain", Change: true, Fields: []body.Field{
		{Name: "open_tracking", Type: body.Pointer(&c.OpenTracking, body.Boolean), About: "Whether opens are tracked."},
		{Name: "click_tracking", Type: body.Pointer(&c.ClickTracking, body.Boolean), About: "Whether clicks are tracked."},
		{Name: "tls_mode", Type: body.Pointer(&c.TLSMode, tlsMode), About: "`enforced` requires TLS with a verified " +
			"certificate; otherwise the message is not delivered."},
		{Name: "inbound_enabled", Type: body.Pointer(&c.InboundEnabled, body.Boolean), About: "Whether the domain receives mail."},
		{Name: "ed25519", Type: body.Pointer(&c.Ed25519, body.Boolean), About: "Whether mail is signed with Ed25519 " +
			"in addition to RSA (RFC 8463). The key is used once its record is found."},
		{Name: "mta_sts", Type: body.Pointer(&c.MTASTS, mtaSTSMode), About: "Mode of the MTA-STS policy that this installation " +
			"serves for a domain with `inbound_enabled`. `enforce` requires that all MX records point here, and a valid certificate. " +
			"Set `none` for a week before `off`, so that senders discard the policy."},
		{Name: "bimi_logo_url", Type: body.Pointer(&c.BIMILogoURL, body.Text), About: "HTTPS URL of the logo, an SVG Tiny PS " +
			"image. With it, a BIMI record is proposed and checked. `null` removes it.", Example: "https://example.com/bimi/logo.svg",
			Null: func() { c.BIMILogoURL = new("") }},
		{Name: "bimi_certificate_url", Type: body.Pointer(&c.BIMICertificateURL, body.Text), About: "HTTPS URL of the PEM " +
			"file with the mark certificate (VMC or CMC) of the logo. `null` removes it.",
			Null: func() { c.BIMICertificateURL = new("") }},
	}, Check: func(d *body.Decoder) { d.AddErrors(c.Validate()) }}
}

func mtaSTSMode(to *string) body.Type { return body.Choice(to, "off", "none", "testing", "enforce") }

func tlsMode(to *string) body.Type { return body.Choice(to, "opportunistic", "enforced") }

func (e *edge) update(ctx context.Context, c *api.Call, in *api.Item,
	change domains.DomainChange) (domainAnswer, error) {
	return api.As(e.toAnswer)(e.service.Update(ctx, c.AccountID, in.ID, change))
}

func (e *edge) zoneFile(ctx context.Context, c *api.Call, in *api.Item) (*api.Text, error) {
	if err := Noun.Check(in.ID); err != nil {
		return nil, c.Fail(ctx, err)
	}
	zone, err := e.service.ZoneFile(ctx, c.AccountID, in.ID)
	if err != nil {
		return nil, c.Fail(ctx, err)
	}
	return &api.Text{ContentType: zoneType, Body: []byte(zone)}, nil
}
