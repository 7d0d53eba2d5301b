package devinbox

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/capturedmail"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
)

// idPrefix is the prefix of the public ids of captured emails.
const idPrefix = "tml_"

// shownBytes is how much of an email Load reads: enough for the largest bodies, which precede attachments.
const shownBytes = 24 << 20

func listOf(tenant string) page.List { return page.List{Name: "test_inbox", AccountID: tenant} }

// PublicID returns the id of an email in the API.
func (s *Service) PublicID(m *ent.CapturedMail) string {
	return idPrefix + s.cursors.Hide(listOf(*m.AccountID), m.ID)
}

// IsPublicID reports whether a word can be the id of an email in the API.
func IsPublicID(word string) bool { return strings.HasPrefix(word, idPrefix) }

// Page returns a page of the captured mail of a test tenant, newest first and without contents. to is part of an
// envelope recipient, or empty. Error: Invalid.
func (s *Service) Page(ctx context.Context, tenant, to string, r page.Request) (page.Page[Line], error) {
	r = r.OrDefault()
	found, err := page.Read(s.cursors, listOf(tenant), r, func(at page.Position) ([]*ent.CapturedMail, error) {
		query := s.db.Ent.CapturedMail.Query().Where(capturedmail.AccountID(tenant), at.NewestFirst("id")).
			Order(at.Order("id")).Limit(at.Rows())
		if to != "" {
			query.Where(hasRecipientPart(to))
		}
		return query.Select(listColumns...).All(ctx)
	}, func(m *ent.CapturedMail) string { return strconv.FormatInt(m.ID, 10) })
	if err != nil {
		return page.Page[Line]{}, err
	}
	lines, err := s.lines(ctx, found.Items)
	if err != nil {
		return page.Page[Line]{}, fmt.Errorf("list captured mail: %w", err)
	}
	return page.WithItems(found, lines), nil
}

// Head returns an email of a test tenant without its content. Error: NotFound.
func (s *Service) Head(ctx context.Context, tenant, publicID string) (*ent.CapturedMail, error) {
	number, ok := s.cursors.Reveal(listOf(tenant), strings.TrimPrefix(publicID, idPrefix))
	if !ok {
		return nil, fault.NoSuch("captured email", publicID)
	}
	return s.readHead(ctx, tenant, number)
}

// LatestHead is Latest without the content of the email. The query must have a tenant.
func (s *Service) LatestHead(ctx context.Context, w LatestQuery) (*ent.CapturedMail, error) {
	return s.awaitLatest(ctx, w, func(ctx context.Context, id int64) (*ent.CapturedMail, error) {
		return s.readHead(ctx, w.Tenant, id)
	})
}

func (s *Service) readHead(ctx context.Context, tenant string, id int64) (*ent.CapturedMail, error) {
	found, err := s.db.Ent.CapturedMail.Query().Where(capturedmail.ID(id), capturedmail.AccountID(tenant)).
		Select(listColumns...).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, fault.NoSuch("captured email", idPrefix+s.cursors.Hide(listOf(tenant), id))
	}
	return found, fault.Wrap("captured email", err)
}

const contentSQL = `
SELECT raw || coalesce((SELECT string_agg(data, ''::bytea ORDER BY position) FROM captured_parts WHERE mail_id = m.id AND position < $2), ''::bytea)
  FROM captured_mails m WHERE id = $1`

// LoadedBytes returns how much of an email Load reads.
func LoadedBytes(m *ent.CapturedMail) int { return min(m.Size, shownBytes) }

// Load reads the beginning of an email, at most LoadedBytes.
func (s *Service) Load(ctx context.Context, m *ent.CapturedMail) error {
	found, err := db.All(ctx, s.db.Hot, db.Value[[]byte], contentSQL, m.ID, shownBytes/partSize)
	if err != nil {
		return fmt.Errorf("load captured email: %w", err)
	}
	if len(found) == 0 {
		return fault.NoSuch("captured email", s.PublicID(m))
	}
	m.Raw = found[0]
	return nil
}

// hasRecipientPart matches emails with an envelope recipient that contains a text, ignoring case.
func hasRecipientPart(text string) func(*sql.Selector) {
	return matchRecipients(func(b *sql.Builder, column string) {
		b.WriteString("strpos(lower(" + column + "::text), lower(").Arg(text).WriteString(")) > 0")
	})
}

// matchRecipients matches emails by a condition on the column of their envelope recipients.
func matchRecipients(write func(b *sql.Builder, column string)) func(*sql.Selector) {
	return func(sel *sql.Selector) {
		column := sel.C(capturedmail.FieldRcptTo)
		sel.Where(sql.P(func(b *sql.Builder) { write(b, column) }))
	}
}
