package domains

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/dkimkey"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/ent/domaincheck"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// DomainChange is the input of Update. A nil field stays unchanged.
type DomainChange struct {
	OpenTracking   *bool
	ClickTracking  *bool
	TLSMode        *string // opportunistic, enforced
	InboundEnabled *bool
	Ed25519        *bool // whether to sign mail with an Ed25519 key as well

	MTASTS             *string // off, none, testing, enforce
	BIMILogoURL        *string // empty: no BIMI record is proposed
	BIMICertificateURL *string
}

// Validate reports every invalid field.
func (c DomainChange) Validate() fault.Fields {
	wrong := fault.Fields{}
	if c.TLSMode != nil && domain.TLSModeValidator(domain.TLSMode(*c.TLSMode)) != nil {
		wrong.Add("tls_mode", "must be %s or %s", domain.TLSModeOpportunistic, domain.TLSModeEnforced)
	}
	if c.MTASTS != nil && domain.MtaStsValidator(domain.MtaSts(*c.MTASTS)) != nil {
		wrong.Add("mta_sts", "must be %s, %s, %s or %s", domain.MtaStsOff, domain.MtaStsNone, domain.MtaStsTesting,
			domain.MtaStsEnforce)
	}
	for field, url := range map[string]*string{"bimi_logo_url": c.BIMILogoURL, "bimi_certificate_url": c.BIMICertificateURL} {
		if url == nil || *url == "" {
			continue
		}
		if reason := dnscheck.RefuseBIMIURL(*url); reason != "" {
			wrong.Add(field, "%s", reason)
		}
	}
	return wrong
}

// moduleDisabledMessage is the error for a setting of a disabled module.
const moduleDisabledMessage = "requires the module %s, which is disabled in this installation"

// rejectDisabled rejects settings of disabled modules, because they would have no effect.
func (c DomainChange) rejectDisabled(on module.On, wrong fault.Fields) {
	for field, setting := range map[string]struct {
		given  bool
		module string
	}{"open_tracking": {c.OpenTracking != nil, "tracking"}, "click_tracking": {c.ClickTracking != nil, "tracking"},
		"inbound_enabled": {c.InboundEnabled != nil, "inbound"}, "mta_sts": {c.MTASTS != nil, "inbound"}} {
		if setting.given && !on.Has(setting.module) {
			wrong.Add(field, moduleDisabledMessage, setting.module)
		}
	}
}

// changesDelivery reports whether the change contains settings that require a domain that can send.
func (c DomainChange) changesDelivery() bool {
	return c.OpenTracking != nil || c.ClickTracking != nil || c.TLSMode != nil
}

// A domain with new records is checked soon. A domain without a next check (seeded, lost) stays without one.
const storeSettings = `
UPDATE domains SET open_tracking = $2, click_tracking = $3, tls_mode = $4, inbound_enabled = $5, bimi_logo_url = $6,
       bimi_certificate_url = $7, mta_sts = $8, updated_at = now(),
       due_at = CASE WHEN $9 AND due_at IS NOT NULL THEN least(due_at, now() + make_interval(secs => $10)) ELSE due_at END
 WHERE id = $1 RETURNING now()`

// recordSettings are the settings that propose records.
var recordSettings = []string{"inbound_enabled", "mta_sts", "bimi_logo_url", "bimi_certificate_url"}

// Update changes settings of a domain. Delivery settings of a domain that cannot send are rejected with
// domain_not_verified.
func (s *Service) Update(ctx context.Context, accountID, domainID string, c DomainChange) (*ent.Domain, error) {
	wrong := c.Validate()
	c.rejectDisabled(s.on, wrong)
	if err := s.checkPolicy(ctx, accountID, domainID, c, wrong); err != nil {
		return nil, fmt.Errorf("update domain: %w", err)
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	var now *ent.Domain
	var changed []string
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		before, err := lockDomain(ctx, tx, accountID, domainID)
		if err != nil {
			return err
		}
		if c.changesDelivery() && !CanSend(before.Status) {
			return fault.Conflictf(fault.CodeDomainNotVerified,
				"The domain %s is not verified: verify it before you set open_tracking, click_tracking or tls_mode",
				before.Name)
		}
		now = before
		if changed = c.apply(now); len(changed) == 0 {
			return nil
		}
		if slices.Contains(changed, "ed25519") {
			if err := s.setEd25519(ctx, tx, before, *c.Ed25519); err != nil {
				return err
			}
		}
		now.UpdatedAt, err = db.One(ctx, tx, db.Value[time.Time], storeSettings, domainID, now.OpenTracking,
			now.ClickTracking, string(now.TLSMode), now.InboundEnabled, now.BimiLogoURL, now.BimiCertificateURL, string(now.MtaSts),
			slices.ContainsFunc(changed, func(name string) bool { return slices.Contains(recordSettings, name) }), firstCheck.Seconds())
		if err != nil {
			return err
		}
		return s.bus.Publish(ctx, tx, event.New(accountID, event.DomainUpdated, now.UpdatedAt, event.DomainUpdate{
			Domain:       event.Domain{DomainID: now.ID, Name: now.Name, Status: string(now.Status)},
			OpenTracking: now.OpenTracking, ClickTracking: now.ClickTracking, TLSMode: string(now.TLSMode),
			InboundEnabled: now.InboundEnabled, MTASTS: string(now.MtaSts), BIMILogoURL: now.BimiLogoURL, BIMICertificateURL: now.BimiCertificateURL,
			Ed25519: *cmp.Or(c.Ed25519, &before.Ed25519), Changed: changed,
		}))
	})
	if err != nil {
		return nil, fmt.Errorf("update domain: %w", err)
	}
	if len(changed) > 0 {
		s.bus.Wake()
		s.forget(accountID, now.Name)
	}
	return s.Get(ctx, accountID, domainID)
}

// apply applies the change to d and returns the names of changed settings.
func (c DomainChange) apply(d *ent.Domain) (changed []string) {
	set := func(name string, target *bool, want *bool) {
		if want != nil && *target != *want {
			*target = *want
			changed = append(changed, name)
		}
	}
	set("open_tracking", &d.OpenTracking, c.OpenTracking)
	set("click_tracking", &d.ClickTracking, c.ClickTracking)
	if c.TLSMode != nil && string(d.TLSMode) != *c.TLSMode {
		d.TLSMode = domain.TLSMode(*c.TLSMode)
		changed = append(changed, "tls_mode")
	}
	set("inbound_enabled", &d.InboundEnabled, c.InboundEnabled)
	if c.MTASTS != nil && string(d.MtaSts) != *c.MTASTS {
		d.MtaSts = domain.MtaSts(*c.MTASTS)
		changed = append(changed, "mta_sts")
	}
	setText := func(name string, target *string, want *string) {
		if want != nil && *target != *want {
			*target = *want
			changed = append(changed, name)
		}
	}
	setText("bimi_logo_url", &d.BimiLogoURL, c.BIMILogoURL)
	setText("bimi_certificate_url", &d.BimiCertificateURL, c.BIMICertificateURL)
	if c.Ed25519 != nil && *c.Ed25519 != d.Ed25519 {
		changed = append(changed, "ed25519") // setEd25519 sets it together with the key
	}
	return changed
}

// Delete deletes a domain with its keys and its history. Its emails remain readable, but undelivered ones
// fail at their next attempt, because they can no longer be signed. Adding the name again creates a new
// domain.
func (s *Service) Delete(ctx context.Context, accountID, domainID string) error {
	var gone *ent.Domain
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		d, err := lockDomain(ctx, tx, accountID, domainID)
		if err != nil {
			return err
		}
		gone = d
		at, err := remove(ctx, tx, d)
		if err != nil {
			return err
		}
		return s.bus.Publish(ctx, tx, event.New(accountID, event.DomainDeleted, at,
			event.Domain{DomainID: d.ID, Name: d.Name, Status: string(d.Status)}))
	})
	if err != nil {
		return fmt.Errorf("delete domain: %w", err)
	}
	s.bus.Wake()
	s.forget(accountID, gone.Name)
	s.log.Info("domain deleted", "domain_id", gone.ID, "domain", gone.Name)
	return nil
}

// remove deletes the row and its dependents.
func remove(ctx context.Context, tx *ent.Tx, d *ent.Domain) (at time.Time, err error) {
	if _, err := tx.DKIMKey.Delete().Where(dkimkey.DomainID(d.ID)).Exec(ctx); err != nil {
		return at, err
	}
	if _, err := tx.DomainCheck.Delete().Where(domaincheck.DomainID(d.ID)).Exec(ctx); err != nil {
		return at, err
	}
	return db.One(ctx, tx, db.Value[time.Time], `DELETE FROM domains WHERE id = $1 RETURNING now()`, d.ID)
}

// lockDomain locks and returns a domain of the account.
func lockDomain(ctx context.Context, tx *ent.Tx, accountID, domainID string) (*ent.Domain, error) {
	locked, err := db.One(ctx, tx, db.Value[string], `SELECT id FROM domains WHERE id = $1 AND account_id = $2 FOR UPDATE`, domainID, accountID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, fault.NoSuch("domain", domainID)
	case err != nil:
		return nil, err
	}
	return tx.Domain.Query().Where(domain.ID(locked), domain.AccountID(accountID)).WithKeys(signing.LoadListedKeys).
		Only(ctx)
}
