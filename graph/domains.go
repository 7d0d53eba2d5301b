package graph

import (
	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/domains"
)

// signatureAlgorithm is the one that messages are signed with, RFC 8301 section 3.1.
const signatureAlgorithm = "rsa-sha256"

func toDomain(d *ent.Domain, records []domains.Record) *model.Domain {
	out := &model.Domain{ID: d.ID, Name: d.Name, Status: d.Status, Records: make([]*model.DNSRecord, len(records)),
		DKIM:         &model.DKIM{Selector: d.DkimSelector, Algorithm: signatureAlgorithm, Ready: domains.DKIMReady(d)},
		OpenTracking: d.OpenTracking, ClickTracking: d.ClickTracking, TLSMode: d.TLSMode, InboundEnabled: d.InboundEnabled,
		LastCheckedAt: d.LastCheckedAt, VerifiedAt: d.VerifiedAt, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt}
	for i, r := range records {
		out.Records[i] = &model.DNSRecord{Purpose: string(r.Purpose), Type: r.Type, Name: r.Name, Value: r.Value, Priority: r.Priority,
			TTL: r.TTL, Required: r.Required, Status: string(r.Status), Found: r.Found, Error: filled(r.Error)}
	}
	return out
}
