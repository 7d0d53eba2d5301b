package settings

import (
	"context"
	"fmt"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/ent/smssettings"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/node"
)

// sealedBy is the migration, without its timestamp, that a program must know in order to read sealed URLs and
// bodies.
const sealedBy = "sealed_sms_gateways"

// maskConfig returns a configuration as shown to its owner.
func maskConfig(c shape.SMSProvider) shape.SMSProvider {
	c.URL, c.Body = secret.MaskURL(c.URL), maskBody(c.ContentType, c.Body)
	return c
}

// revealConfig returns a configuration with its sealed parts filled in.
func revealConfig(c shape.SMSProvider, held credentials) shape.SMSProvider {
	if c.Sealed {
		c.URL, c.Body = held.URL, held.Body
	}
	return c
}

// unmaskGateway replaces masks with the stored values, unless the address changes.
func unmaskGateway(h *HTTPChange, before shape.SMSProvider, wrong fault.Fields) {
	address, _, _ := strings.Cut(h.URL, "?")
	known, _, _ := strings.Cut(before.URL, "?")
	url, whole := secret.UnmaskURL(h.URL, before.URL)
	if !whole {
		wrong.Add("http.url",
			"has a mask (%s) in place of a value that is unknown for this address; enter the value again", secret.Mask)
	}
	original := before.Body
	if address != known || known == "" {
		original = ""
	}
	body, err := unmaskBody(h.ContentType, h.Body, original)
	if err != nil {
		wrong.Add("http.body", "%s", err)
		return
	}
	h.URL, h.Body = url, body
}

// canSeal reports whether the URL and the body of gateways may be sealed, because every process can read them.
func (s *Service) canSeal(ctx context.Context) (bool, error) {
	all, err := node.Processes(ctx, s.db)
	if err != nil {
		return false, err
	}
	needs := s.db.VersionOf(sealedBy)
	for _, p := range all {
		if p.Alive && p.Schema < needs {
			return false, nil
		}
	}
	return true, nil
}

// sealGateway moves the URL and the body to the credentials if they contain anything to hide. From then on,
// older programs cannot start, because they would send the masks.
func (s *Service) sealGateway(ctx context.Context, tx db.Execer, config shape.SMSProvider,
	held credentials) (shape.SMSProvider, credentials, error) {
	shown := maskConfig(config)
	if shown.URL == config.URL && shown.Body == config.Body {
		return config, held, nil
	}
	held.URL, held.Body = config.URL, config.Body
	shown.Sealed = true
	return shown, held, s.db.Require(ctx, tx, sealedBy)
}

func lockSettings(ctx context.Context, tx db.Execer, accountID string) error {
	// Lock the row, so that the secrets that are kept are the current ones.
	_, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('sms/settings/' || $1, 0))`, accountID)
	return err
}

const (
	plainSQL = `SELECT id FROM sms_settings WHERE provider = 'http' AND NOT coalesce((config->>'sealed')::boolean, false) ORDER BY id`

	// The time of the last change stays, because nothing else changes.
	resealSQL = `UPDATE sms_settings SET config = $2, credentials = $3 WHERE id = $1`
)

// Seal seals gateways stored in plain text by earlier versions, once every process can read sealed ones.
func (s *Service) Seal(ctx context.Context) error {
	seals, err := s.canSeal(ctx)
	if err != nil || !seals {
		return err
	}
	ids, err := db.All(ctx, s.db.SQL, db.Value[string], plainSQL)
	if err != nil {
		return fmt.Errorf("find SMS gateways: %w", err)
	}
	for _, id := range ids {
		if err := s.db.InTx(ctx, func(tx *ent.Tx) error { return s.sealOne(ctx, tx, id) }); err != nil {
			return fmt.Errorf("seal the SMS gateway of %s: %w", id, err)
		}
	}
	return nil
}

func (s *Service) sealOne(ctx context.Context, tx *ent.Tx, accountID string) error {
	if err := lockSettings(ctx, tx, accountID); err != nil {
		return err
	}
	row, err := s.Row(ctx, tx, accountID)
	if err != nil || row == nil || row.Provider != smssettings.ProviderHTTP || row.Config.Sealed {
		return err
	}
	held, err := s.open(accountID, row)
	if err != nil {
		return err
	}
	config, held, err := s.sealGateway(ctx, tx, row.Config, held)
	if err != nil || !config.Sealed {
		return err
	}
	described, sealed, err := s.encodeColumns(accountID, config, held)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, resealSQL, accountID, described, sealed)
	return err
}
