package signin

import (
	"context"
	"errors"
	"slices"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/signinlink"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/storage/db"
)

// askCells asks the other cells about password resets for addresses that no user of this cell has.
func (p *mailQueue) askCells(ctx context.Context, unknown []dueLink) error {
	emails := make([]string, len(unknown))
	for i, d := range unknown {
		emails[i] = d.email
	}
	unsettled, err := p.cells.Ask(ctx, emails)
	if err != nil { // must not delay the mail of this cell
		p.log.WarnContext(ctx, "cannot ask other cells about password resets; retrying for some minutes", telemetry.KeyError, err)
	}
	var failed []error
	for _, d := range unknown {
		if d.attempts >= askAttempts || !slices.Contains(unsettled, d.email) {
			failed = append(failed, p.drop(ctx, d))
		}
	}
	return errors.Join(failed...)
}

const knownSQL = `SELECT u.email FROM users u WHERE u.email = ANY ($1) AND u.disabled_at IS NULL ORDER BY 1`

// SendResetsFor queues password reset links for users who have asked another cell. body is the request of that cell.
// Errors: NotFound if there are no other cells; Invalid; Unavailable.
func (s *Service) SendResetsFor(ctx context.Context, body []byte, signature string) (response []byte, err error) {
	return s.post.cells.Respond(ctx, body, signature, func(ctx context.Context, emails []string) (known []string, err error) {
		err = s.db.InTx(ctx, func(tx *ent.Tx) error {
			if known, err = db.All(ctx, tx, db.Value[string], knownSQL, db.Array(emails)); err != nil || len(known) == 0 {
				return err
			}
			for _, email := range known {
				if _, err := db.Exec(ctx, tx, askSQL, string(signinlink.PurposeReset), email, false, resetLife.Seconds()); err != nil {
					return err
				}
			}
			return db.Notify(ctx, tx, channel)
		})
		return known, fault.OrUnavailable(fault.Wrap("send password resets for another cell", err))
	})
}
