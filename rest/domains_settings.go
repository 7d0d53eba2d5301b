package rest

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
)

// domainSettings is what the operations on an existing domain need of domains.
type domainSettings interface {
	Update(ctx context.Context, accountID, domainID string, c domains.Change) (*ent.Domain, error)
	Delete(ctx context.Context, accountID, domainID string) error
	ZoneFile(ctx context.Context, accountID, domainID string) (string, error)
}

const zoneType = "text/plain; charset=utf-8"

type okAnswer struct {
	OK bool `json:"ok" enum:"true"`
}

// text is an answer that is not JSON.
type text struct {
	ContentType string `header:"Content-Type" hidden:"true"`
	Body        []byte
}

func (e *domainEdge) settings(a *API) {
	add(a, operation{
		method: http.MethodGet, path: "/domains/{id}/zone-file", id: "getDomainZoneFile", tag: tagDomains, needs: accounts.Read,
		summary:     "Export a domain's DNS records",
		description: "The records to publish as lines of a zone file (RFC 1035), for DNS servers that import one. Names are given in full.",
		media:       "text/plain", example: zoneExample, problems: []int{http.StatusNotFound},
	}, e.zoneFile)
	register(a, operation{
		method: http.MethodPatch, path: "/domains/{id}", id: "updateDomain", tag: tagDomains, needs: accounts.Write,
		summary: "Change a domain's settings",
		description: "A field that is left out stays as it is; `null` is refused. `open_tracking`, `click_tracking` and `tls_mode` are set after the domain is verified, " +
			"before that they are 409 `domain_not_verified`. With `inbound_enabled` a verified domain has an MX record to publish.",
		body: &requestBody{description: "The settings to change, at least one.", schema: "UpdateDomain",
			examples: map[string]any{"tls": map[string]any{"tls_mode": "enforced"}}},
		example: map[string]any{"domain": domainExample()}, problems: []int{http.StatusNotFound, http.StatusConflict},
	}, e.update)
	a.describeBody("UpdateDomain", updateDomainSchema())
	register(a, operation{
		method: http.MethodDelete, path: "/domains/{id}", id: "deleteDomain", tag: tagDomains, needs: accounts.Write,
		summary: "Delete a domain",
		description: "Takes the domain away with its signing keys. Its emails can still be read. Mail of it that is not delivered yet fails at its next attempt, with " +
			"a reason that says so. To send from it again, add it anew: it then has new keys and records.",
		example: map[string]any{"ok": true}, problems: []int{http.StatusNotFound},
	}, e.delete)
}

func updateDomainSchema() *huma.Schema {
	least := 1
	s := closed(map[string]*huma.Schema{
		"open_tracking":   {Type: huma.TypeBoolean, Description: "Whether opens are counted."},
		"click_tracking":  {Type: huma.TypeBoolean, Description: "Whether clicks are counted."},
		"tls_mode":        {Type: huma.TypeString, Enum: []any{"opportunistic", "enforced"}, Description: "enforced: a verified certificate, or no delivery."},
		"inbound_enabled": {Type: huma.TypeBoolean, Description: "Whether the domain receives mail."},
		"ed25519":         {Type: huma.TypeBoolean, Description: "Whether mail is signed with an Ed25519 key beside RSA (RFC 8463). Its record is listed and used once it is found."},
	})
	s.MinProperties = &least
	return s
}

func (e *domainEdge) update(ctx context.Context, c *call, in *domainID) (*domainAnswer, error) {
	body, err := parseObject(c.body)
	if err != nil {
		return nil, err
	}
	change, err := decodeDomainChange(body)
	if err != nil {
		return nil, err
	}
	if !id.Is(id.Domain, in.ID) {
		return nil, fault.Missing("domain", shown(in.ID))
	}
	return e.answer(e.domains.Update(ctx, c.AccountID, in.ID, change))
}

func decodeDomainChange(body value) (change domains.Change, err error) {
	d := newDecoder()
	d.refuseNull = true
	boolean := func(target **bool) func(string, value) {
		return func(path string, v value) {
			on := d.boolean(path, v)
			*target = &on
		}
	}
	d.object("", body, []field{
		{name: "open_tracking", decode: boolean(&change.OpenTracking)},
		{name: "click_tracking", decode: boolean(&change.ClickTracking)},
		{name: "tls_mode", decode: func(path string, v value) {
			if mode, ok := d.text(path, v); ok {
				change.TLSMode = &mode
			}
		}},
		{name: "inbound_enabled", decode: boolean(&change.InboundEnabled)},
		{name: "ed25519", decode: boolean(&change.Ed25519)},
	})
	for path, reason := range change.Validate() {
		d.refuse(path, "%s", reason)
	}
	if err := d.wrong.Err(); err != nil {
		return change, err
	}
	if change == (domains.Change{}) {
		return change, fault.Invalidf("The body changes nothing: give at least one of open_tracking, click_tracking, tls_mode, inbound_enabled and ed25519")
	}
	return change, nil
}

func (e *domainEdge) delete(ctx context.Context, c *call, in *domainID) (*okAnswer, error) {
	if !id.Is(id.Domain, in.ID) {
		return nil, fault.Missing("domain", shown(in.ID))
	}
	if err := e.domains.Delete(ctx, c.AccountID, in.ID); err != nil {
		return nil, err
	}
	return &okAnswer{OK: true}, nil
}

func (e *domainEdge) zoneFile(ctx context.Context, in *domainID) (*text, error) {
	c := callOf(ctx)
	if !id.Is(id.Domain, in.ID) {
		return nil, e.api.fail(ctx, c.requestID, fault.Missing("domain", shown(in.ID)))
	}
	zone, err := e.domains.ZoneFile(ctx, c.AccountID, in.ID)
	if err != nil {
		return nil, e.api.fail(ctx, c.requestID, err)
	}
	return &text{ContentType: zoneType, Body: []byte(zone)}, nil
}
