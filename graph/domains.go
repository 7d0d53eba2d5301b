package graph

import (
	"context"
	"sync"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/deliverability"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/modules/sending/records"
)

// domainPage connects domains that were loaded together with their related data.
func (r *Resolver) domainPage(ctx context.Context, accountID string, rows []*ent.Domain) []*model.Domain {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	page := &model.DomainPage{
		Health: onceEach(func(first int) (map[string][]*ent.DomainCheck, error) {
			return r.parts.Domains.Health(ctx, accountID, first, ids...)
		}),
		Counts: onceEach(func(days int) (map[string]records.Counts, error) {
			return r.parts.Emails.DomainCounts(ctx, accountID, days, ids...)
		}),
		Deliverability: sync.OnceValues(func() (map[string]deliverability.Summary, error) {
			return r.parts.Deliverability.SummarizeMany(ctx, accountID, ids...)
		}),
	}
	out := make([]*model.Domain, len(rows))
	for i, row := range rows {
		out[i] = toDomain(row, r.parts.Domains.Records(row))
		out[i].Page = page
	}
	return out
}

func domainFilter(in *model.DomainFilter, domainIDs []string) (f domains.Filter) {
	f.IDs = domainIDs
	if in == nil {
		return f
	}
	f.Text, f.Inbound = stringOrEmpty(in.Query), in.InboundEnabled
	if in.Status != nil {
		f.Status = *in.Status
	}
	return f
}

// onceEach calls a function at most once for each argument.
func onceEach[K comparable, T any](ask func(K) (T, error)) func(K) (T, error) {
	var mu sync.Mutex
	asked := map[K]func() (T, error){}
	return func(n K) (T, error) {
		mu.Lock()
		answer, known := asked[n]
		if !known {
			answer = sync.OnceValues(func() (T, error) { return ask(n) })
			asked[n] = answer
		}
		mu.Unlock()
		return answer()
	}
}

func toDomain(d *ent.Domain, records []dnscheck.RecordCheck) *model.Domain {
	key := signing.ActiveKey(d)
	out := &model.Domain{ID: d.ID, Name: d.Name, Status: d.Status, Records: make([]*model.DNSRecord, len(records)),
		DKIM:         &model.DKIM{Selector: key.Selector, Algorithm: key.Algorithm, Ready: key.Ready},
		OpenTracking: d.OpenTracking, ClickTracking: d.ClickTracking, TLSMode: d.TLSMode,
		InboundEnabled: d.InboundEnabled, BIMILogoURL: nilIfEmpty(d.BimiLogoURL), BIMICertificateURL: nilIfEmpty(d.BimiCertificateURL), MTASTS: d.MtaSts,
		LastCheckedAt: d.LastCheckedAt, VerifiedAt: d.VerifiedAt, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt}
	for i, r := range records {
		out.Records[i] = &model.DNSRecord{Purpose: string(r.Purpose), Type: r.Type, Name: r.Name, Value: r.Value,
			Priority: r.Priority,
			TTL:      r.TTL, Required: r.Required, Status: string(r.Status), Found: r.Found, Error: nilIfEmpty(r.Error)}
	}
	for _, k := range signing.Keys(d) {
		out.DKIMKeys = append(out.DKIMKeys, &model.DKIMKey{Selector: k.Selector, Algorithm: k.Algorithm,
			Status: k.State, Ready: k.Ready,
			CreatedAt: k.CreatedAt, ActivatedAt: k.ActivatedAt, RetiredAt: k.RetiredAt, KeepUntil: k.KeepUntil})
	}
	return out
}

func toDomainChecks(checks []*ent.DomainCheck) []*model.DomainCheck {
	out := make([]*model.DomainCheck, len(checks))
	for i, c := range checks {
		out[i] = &model.DomainCheck{CheckedAt: c.CheckedAt, Status: domain.Status(c.Status),
			Records: make([]*model.DomainCheckRecord, len(c.Records))}
		for j, r := range c.Records {
			out[i].Records[j] = &model.DomainCheckRecord{Purpose: r.Purpose, Selector: nilIfEmpty(r.Selector),
				Status: r.Status, Found: append([]string{}, r.Found...),
				Error: nilIfEmpty(r.Error)}
		}
	}
	return out
}

// orDefault returns an argument, or the default that the schema defines for null.
func orDefault(given *int, otherwise int) int {
	if given == nil {
		return otherwise
	}
	return *given
}
