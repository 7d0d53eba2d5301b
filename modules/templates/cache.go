package templates

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
)

// address of a template as a send gives it.
type lookup struct{ accountID, ref string }

// published says which version a send gets.
type published struct {
	id      string
	version int
}

const cacheWeight = 128 << 20 // octets of compiled templates

const selectPublished = `SELECT id, version FROM templates WHERE account_id = $1 AND (id = $2 OR alias = $2)`

// published resolves what a send names. The answer is up to CacheTTL old where
// another process published; what this one publishes it sees at once.
func (s *Service) published(ctx context.Context, accountID string, ref Ref) (published, error) {
	field, name := fieldID, ref.ID
	switch {
	case (ref.ID == "") == (ref.Alias == ""):
		return published{}, fault.InvalidField(fieldTemplate, "needs either id or alias")
	case ref.ID != "" && !id.Is(id.Template, ref.ID):
		return published{}, fault.InvalidField(fieldID, "is not a template of this account")
	case ref.Alias != "":
		field, name = fieldAlias, ref.Alias
		if reason := badAlias(ref.Alias); reason != "" {
			return published{}, fault.InvalidField(fieldAlias, "is not a template of this account")
		}
	}
	key := lookup{accountID, name}
	if known, ok := s.lookups.GetIfPresent(key); ok {
		return known, nil
	}
	epoch := s.epoch.Load()
	var found published
	var version sql.NullInt64
	err := s.db.SQL.QueryRowContext(ctx, selectPublished, accountID, name).Scan(&found.id, &version)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return published{}, fault.InvalidField(field, "is not a template of this account")
	case err != nil:
		return published{}, fmt.Errorf("look up template: %w", err)
	case !version.Valid:
		return published{}, fault.InvalidField(field, "is a template that was never published; publish it first")
	}
	found.version = int(version.Int64)
	s.lookups.Set(key, found)
	if s.epoch.Load() != epoch { // something was published while this was read
		s.lookups.Invalidate(key)
	}
	return found, nil
}

// changed forgets what sends get, after a commit.
func (s *Service) changed() {
	s.epoch.Add(1)
	s.lookups.InvalidateAll()
}

// ready gives a version, compiled. Versions never change, so neither do their
// entries; they only make room for others.
func (s *Service) ready(ctx context.Context, accountID string, p published) (compiled, error) {
	if known, ok := s.versions.GetIfPresent(p); ok {
		return known, nil
	}
	v, err := s.version(ctx, s.db.Ent.TemplateVersion, accountID, p.id, p.version)
	if err != nil {
		if fault.KindOf(err) == fault.Invalid { // deleted between two statements
			return compiled{}, fault.InvalidField(fieldTemplate, "was deleted")
		}
		return compiled{}, err
	}
	wrong := fault.Fields{}
	out := contentOf(v).compile(wrong)
	if err := wrong.Err(); err != nil {
		// It was judged before it was stored, by rules that have become stricter since.
		return compiled{}, fault.InvalidField(fieldTemplate, "version %d cannot be used any more, publish it anew: %s", p.version, err)
	}
	s.versions.Set(p, out)
	return out, nil
}
