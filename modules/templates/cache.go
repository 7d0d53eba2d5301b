package templates

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

// lookupKey identifies a template by the reference in a send.
type lookupKey struct{ accountID, ref string }

// publishedVersion identifies the version that a send uses.
type publishedVersion struct {
	id      string
	version int
}

// lookup is the published version of a template, and when it was published.
type lookup struct {
	publishedVersion

	at time.Time
}

const cacheWeight = 128 << 20 // bytes of compiled templates

const selectPublished = `SELECT id, version, kind, published_at FROM templates WHERE account_id = $1 AND (id = $2 OR alias = $2)`

// resolvePublished resolves the template of a send. The result may be up to CacheTTL old if another process has
// published a version since; changes made by this process are visible immediately.
func (s *Service) resolvePublished(ctx context.Context, accountID string, ref Ref) (lookup, error) {
	field, name := fieldID, ref.ID
	switch {
	case (ref.ID == "") == (ref.Alias == ""):
		return lookup{}, fault.InvalidField(fieldTemplate, "requires either id or alias")
	case ref.ID != "" && !id.Is(id.Template, ref.ID):
		return lookup{}, fault.InvalidField(fieldID, "is not a template of this account")
	case ref.Alias != "":
		field, name = fieldAlias, ref.Alias
		if reason := badAlias(ref.Alias); reason != "" {
			return lookup{}, fault.InvalidField(fieldAlias, "is not a template of this account")
		}
	}
	key := lookupKey{accountID, name}
	if known, ok := s.lookups.GetIfPresent(key); ok {
		return known, nil
	}
	epoch := s.epoch.Load()
	var found lookup
	var version sql.NullInt64
	var at sql.NullTime
	var kind string
	err := s.db.SQL.QueryRowContext(ctx, selectPublished, accountID, name).Scan(&found.id, &version, &kind, &at)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return lookup{}, fault.InvalidField(field, "is not a template of this account")
	case err != nil:
		return lookup{}, fmt.Errorf("look up template: %w", err)
	case kind != language.KindTemplate:
		return lookup{}, fault.InvalidField(field, "is a %s; only templates can be sent", kind)
	case !version.Valid:
		return lookup{}, fault.InvalidField(field, "must be a published template; publish it first")
	}
	found.version, found.at = int(version.Int64), at.Time
	s.lookups.Set(key, found)
	if s.epoch.Load() != epoch { // a version was published during the read
		s.lookups.Invalidate(key)
	}
	return found, nil
}

const selectVersionAt = `
SELECT number FROM template_versions WHERE account_id = $1 AND template_id = $2 AND created_at <= $3 ORDER BY number DESC LIMIT 1`

// resolveVersion resolves the version of a send. It reads the history only if a version was published after ref.At.
func (s *Service) resolveVersion(ctx context.Context, accountID string, ref Ref) (publishedVersion, error) {
	found, err := s.resolvePublished(ctx, accountID, ref)
	if err != nil || ref.At.IsZero() || !found.at.After(ref.At) {
		return found.publishedVersion, err
	}
	number, err := db.One(ctx, s.db.SQL, db.Value[int], selectVersionAt, accountID, found.id, ref.At)
	switch {
	case errors.Is(err, sql.ErrNoRows): // the alias belongs to a newer template
		return found.publishedVersion, nil
	case err != nil:
		return publishedVersion{}, fmt.Errorf("look up the version of a template at a time: %w", err)
	}
	return publishedVersion{found.id, number}, nil
}

// invalidateLookups invalidates the cached lookups after a commit.
func (s *Service) invalidateLookups() {
	s.epoch.Add(1)
	s.lookups.InvalidateAll()
}

// loadCompiled returns a compiled version. Versions never change, so cache entries are evicted only for space.
func (s *Service) loadCompiled(ctx context.Context, accountID string, p publishedVersion) (compiledContent, error) {
	if known, ok := s.versions.GetIfPresent(p); ok {
		return known, nil
	}
	v, err := s.getVersion(ctx, s.db.Ent.TemplateVersion, accountID, p.id, p.version)
	if err != nil {
		if fault.KindOf(err) == fault.Invalid { // the version was deleted between two statements
			return compiledContent{}, fault.InvalidField(fieldTemplate, "was deleted")
		}
		return compiledContent{}, err
	}
	wrong := fault.Fields{}
	out := contentOf(v).compile(wrong)
	if err := wrong.Err(); err != nil {
		// The version was valid when it was stored, but the rules have become stricter since.
		return compiledContent{}, fault.InvalidField(fieldTemplate,
			"version %d is no longer valid; publish the template again: %s", p.version, err)
	}
	s.versions.Set(p, out)
	return out, nil
}
