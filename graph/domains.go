package graph

import (
	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/domains"
)

func toDomain(d *ent.Domain, records []domains.Record) *model.Domain {
	key := domains.SigningKey(d)
	out := &model.Domain{ID: d.ID, Name: d.Name, Status: d.Status, Records: make([]*model.DNSRecord, len(records)),
		DKIM:         &model.DKIM{Selector: key.Selector, Algorithm: key.Algorithm, Ready: key.Ready},
		OpenTracking: d.OpenTracking, ClickTracking: d.ClickTracking, TLSMode: d.TLSMode, InboundEnabled: d.InboundEnabled,
		LastCheckedAt: d.LastCheckedAt, VerifiedAt: d.VerifiedAt, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt}
	for i, r := range records {
		out.Records[i] = &model.DNSRecord{Purpose: string(r.Purpose), Type: r.Type, Name: r.Name, Value: r.Value, Priority: r.Priority,
			TTL: r.TTL, Required: r.Required, Status: string(r.Status), Found: r.Found, Error: filled(r.Error)}
	}
	return out
}
