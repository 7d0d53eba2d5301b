package domains

import (
	"context"
	"crypto"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/dkimkey"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/secret"
)

// Inspection asks how a domain's records stand, outside of the service.
type Inspection struct {
	Config    Config
	Resolver  *dnsx.Resolver
	DB        *db.DB      // nil: what can be said from DNS alone, without ownership and keys
	Box       *secret.Box // with DB: opens the keys, to sign a sample with each; nil: they are only compared
	Name      string
	AccountID string // with DB; empty: the account that has the name verified, else the one that added it last
	Selector  string // without DB: the DKIM record to look at; empty: none
}

// Inspected is one record and what DNS says of it now.
type Inspected struct {
	Record

	Unanswered bool // DNS said nothing
}

// Inspect looks everything up as a check does and stores nothing. It fails when
// the keys of the domain cannot be opened with the master key that is given.
func Inspect(ctx context.Context, in Inspection) ([]Inspected, error) {
	s := &Service{config: in.Config.withDefaults(), dns: in.Resolver.Uncached(), reserved: newReserved(in.Config), db: in.DB}
	name, reason := s.reserved.parseName(in.Name)
	if reason != "" {
		return nil, fmt.Errorf("%q %s", in.Name, reason)
	}
	d := &ent.Domain{Name: name}
	if in.DB != nil {
		var err error
		if d, err = s.findForInspection(ctx, in.AccountID, name); err != nil {
			return nil, err
		}
		if d.Seeded {
			return nil, fmt.Errorf("%q is a domain of the installation itself, whose records are never looked up", name)
		}
	}
	signers, err := inspectKeys(in.Box, d)
	if err != nil {
		return nil, err
	}
	e := s.expect(d)
	seen := s.look(ctx, e, signers)
	var out []Inspected
	for i, record := range e.records() {
		if in.DB == nil && record.Purpose == Ownership {
			continue // its value is known to the database only
		}
		o := seen[i] // in the same order
		record.Status, record.Found, record.Error = o.status, clip(o.found), clean(o.advice)
		out = append(out, Inspected{Record: record, Unanswered: o.unanswered})
	}
	if in.DB == nil && in.Selector != "" {
		out = append(out, s.inspectSelector(ctx, name, in.Selector))
	}
	return out, nil
}

// inspectKeys opens the keys that sign or are to sign, by id; none without a box.
func inspectKeys(box *secret.Box, d *ent.Domain) (map[string]crypto.Signer, error) {
	signers := map[string]crypto.Signer{}
	for _, k := range d.Edges.Keys {
		if box == nil || k.State == dkimkey.StateRetired {
			continue
		}
		signer, err := openKey(box, k)
		if err != nil {
			return nil, fmt.Errorf("open dkim key %s of %s with the given master key: %w", k.Selector, d.Name, err)
		}
		signers[k.ID] = signer
	}
	return signers, nil
}

func (s *Service) findForInspection(ctx context.Context, accountID, name string) (*ent.Domain, error) {
	query := s.db.Ent.Domain.Query().Where(domain.Name(name), domain.AccountIDNotNil()).WithKeys(shownKeys)
	if accountID != "" {
		query.Where(domain.AccountID(accountID))
	}
	rows, err := query.Order(ent.Desc(domain.FieldID)).All(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read domain: %w", err)
	case len(rows) == 0:
		return nil, fault.Missing("domain", name)
	}
	for _, row := range rows {
		if Sends(row.Status) {
			return row, nil
		}
	}
	return rows[0], nil
}

// inspectSelector tells whether some RSA or Ed25519 key is published.
func (s *Service) inspectSelector(ctx context.Context, name, selector string) Inspected {
	record := Record{Purpose: DKIM, Selector: selector, Type: "TXT", Name: dkim.RecordName(selector, name), Value: "a DKIM key", Required: true, Status: Mismatch}
	found, err := s.txt(ctx, record.Name)
	if err != nil {
		record.Error = noAnswer(DKIM, record.Name).advice
		return Inspected{Record: record, Unanswered: true}
	}
	record.Found = clip(found)
	switch len(found) {
	case 0:
		record.Status, record.Error = Missing, fmt.Sprintf("Publish a TXT record at %s with the DKIM key.", record.Name)
	case 1:
		tags, err := parseTags(unquote(found[0]))
		switch {
		case err != nil:
			record.Error = fmt.Sprintf("Replace the TXT record at %s: it is not a key record (%s).", record.Name, clean(err.Error()))
		case tags["p"] == "":
			record.Error = fmt.Sprintf("Publish the key at %s again: its p= tag is empty.", record.Name)
		default:
			record.Status = Verified
		}
	default:
		record.Error = fmt.Sprintf("Keep only one TXT record at %s: %d were found.", record.Name, len(found))
	}
	return Inspected{Record: record}
}

// InspectSandbox looks at the records of the sandbox domain, which are the operator's to
// publish. There is no result before the first start of a service has made the domain.
func InspectSandbox(ctx context.Context, in Inspection) ([]Inspected, error) {
	s := &Service{config: in.Config.withDefaults(), dns: in.Resolver.Uncached(), reserved: newReserved(in.Config), db: in.DB}
	d, err := s.db.Ent.Domain.Query().Where(domain.Name(canonical(in.Config.SandboxDomain)), domain.AccountIDIsNil()).WithKeys(shownKeys).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read sandbox domain: %w", err)
	}
	e := s.expect(d)
	seen := s.look(ctx, e, nil)
	var out []Inspected
	for i, record := range e.records() {
		if record.Purpose == Ownership {
			continue
		}
		record.Status, record.Found, record.Error = seen[i].status, clip(seen[i].found), clean(seen[i].advice)
		out = append(out, Inspected{Record: record, Unanswered: seen[i].unanswered})
	}
	return out, nil
}

// CountKeys returns how many of the stored signing keys the box opens, and how many it does
// not. It looks at 1,000 of them, the newest first.
func CountKeys(ctx context.Context, d *db.DB, box *secret.Box) (open, closed int, err error) {
	const most = 1000
	keys, err := d.Ent.DKIMKey.Query().Order(ent.Desc(dkimkey.FieldID)).Limit(most).All(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("read dkim keys: %w", err)
	}
	for _, k := range keys {
		if _, err := openKey(box, k); err != nil {
			closed++
			continue
		}
		open++
	}
	return open, closed, nil
}
