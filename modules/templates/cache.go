package templates

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
)

// lookupKey identifies a template by the reference in a send.
type lookupKey struct{ accountID, ref string }

// publishedVersion identifies the version that a send uses.
type publishedVersion struct {
	id      string
	version int
}

const cacheWeight = 128 << 20 // bytes of compiled templates

const selectPublished = `SELECT id, version, kind FROM templates WHERE account_id = $1 AND (id = $2 OR alias = $2)`

// resolvePublished resolves the template of a send. The result may be up to CacheTTL old if another process has
// published a version since; changes made by this process are visible immediately.
func (s *Service) resolvePublished(ctx context.Context, accountID string, ref Ref) (publishedVersion, error) {
	field, name := fieldID, ref.ID
	switch {
	case (ref.ID == "") == (ref.Alias == ""):
		return publishedVersion{}, fault.InvalidField(fieldTemplate, "requires either id or alias")
	case ref.ID != "" && !id.Is(id.Template, ref.ID):
		return publishedVersion{}, fault.InvalidField(fieldID, "is not a template of this account")
	case ref.Alias != "":
		field, name = fieldAlias, ref.Alias
		if reason := badAlias(ref.Alias); reason != "" {
			return publishedVersion{}, fault.InvalidField(fieldAlias, "is not a template of this account")
		}
	}
	key := lookupKey{accountID, name}
	if known, ok := s.lookups.GetIfPresent(key); ok {
		return known, nil
	}
	epoch := s.epoch.Load()
	var found publishedVersion
	var version sql.NullInt64
	var kind string
	err := s.db.SQL.QueryRowContext(ctx, selectPublished, accountID, name).Scan(&found.id, &version, &kind)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return publishedVersion{}, fault.InvalidField(field, "is not a template of this account")
	case err != nil:
		return publishedVersion{}, fmt.Errorf("look up template: %w", err)
	case kind != language.KindTemplate:
		return publishedVersion{}, fault.InvalidField(field, "is a %s; only templates can be sent", kind)
	case !version.Valid:
		return publishedVersion{}, fault.InvalidField(field, "must be a published template; publish it first")
	}
	found.version = int(version.Int64)
	s.lookups.Set(key, found)
	if s.epoch.Load() != epoch { // a version was published during the read
		s.lookups.Invalidate(key)
	}
	return found, nil
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
