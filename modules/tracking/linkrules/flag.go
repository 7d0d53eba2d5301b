package linkrules

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/tracking/weburl"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Flag is a target flagged by an operator.
type Flag struct {
	Target    string    `json:"target"` // a host or a URL prefix
	Reason    string    `json:"reason"`
	CreatedAt time.Time `json:"created_at"`
}

// MaxFlags limits the memory that flags use in every process.
const MaxFlags = 10_000

// Flags reads and changes operators' flags. It is safe for concurrent use.
type Flags struct{ db *db.DB }

// NewFlags returns the flags of an installation.
func NewFlags(d *db.DB) Flags { return Flags{d} }

// Add flags a target: every process stops redirecting to it within 5 seconds. Flagging the same target again
// changes the reason. It returns Invalid for an invalid target.
func (f Flags) Add(ctx context.Context, written, reason string) (string, error) {
	target, err := parseTarget(written)
	if err != nil {
		return "", err
	}
	const addSQL = `
INSERT INTO flagged_links (target, reason) SELECT $1::text, $2::text
 WHERE (SELECT count(*) FROM flagged_links) < $3::bigint OR EXISTS (SELECT FROM flagged_links WHERE target = $1::text)
ON CONFLICT (target) DO UPDATE SET reason = excluded.reason`
	result, err := f.db.SQL.ExecContext(ctx, addSQL, target, reason, MaxFlags)
	if err != nil {
		return "", fmt.Errorf("flag a link: %w", err)
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return "", fault.Conflictf(fault.CodeConflict,
			"%d links are flagged already, which is the maximum: remove some first", MaxFlags)
	}
	return target, nil
}

// Remove removes the flag of a target. It returns NotFound if there is none.
func (f Flags) Remove(ctx context.Context, written string) error {
	target, err := parseTarget(written)
	if err != nil {
		return err
	}
	count, err := db.Exec(ctx, f.db.SQL, `DELETE FROM flagged_links WHERE target = $1`, target)
	if err != nil {
		return fmt.Errorf("remove the flag of a link: %w", err)
	}
	if count == 0 {
		return fault.NoSuch("flagged link", target)
	}
	return nil
}

// List returns the flags, newest first.
func (f Flags) List(ctx context.Context) ([]Flag, error) {
	list, err := db.All(ctx, f.db.SQL,
		func(flag *Flag) []any { return []any{&flag.Target, &flag.Reason, &flag.CreatedAt} },
		`SELECT target, reason, created_at FROM flagged_links ORDER BY id DESC`)
	if err != nil {
		return nil, fmt.Errorf("list flagged links: %w", err)
	}
	return list, nil
}

// parseTarget returns a host in A-labels, or a URL in the form that tokens contain.
func parseTarget(written string) (string, error) {
	if !strings.Contains(written, "/") {
		if setting.IsAddress(written) {
			return written, nil
		}
		host, err := setting.ParseHost(strings.ToLower(written))
		if err != nil {
			return "", fault.InvalidField("target", "must be a host name or a URL that begins with http:// or https://")
		}
		return host, nil
	}
	target, ok := weburl.Normalize(written)
	if !ok {
		return "", fault.InvalidField("target", "must be a host name or a URL that begins with http:// or https://")
	}
	if host, _ := splitURL(target); host == "" {
		return "", fault.InvalidField("target", "must contain a host name")
	}
	return target, nil
}

// flagSet finds the flag for a target without checking every flag.
type flagSet struct {
	hosts map[string]bool
	paths map[string][]string // paths and queries of URL prefixes, keyed by host
}

func loadFlags(ctx context.Context, d *db.DB) (flagSet, error) {
	set := flagSet{hosts: map[string]bool{}, paths: map[string][]string{}}
	err := db.Each(ctx, d.SQL, func(row db.Row) error {
		var target string
		if err := row.Scan(&target); err != nil {
			return err
		}
		set.add(target)
		return nil
	}, `SELECT target FROM flagged_links`)
	return set, err
}

func (s flagSet) add(target string) {
	if !strings.Contains(target, "/") {
		s.hosts[target] = true
		return
	}
	host, path := splitURL(target)
	s.paths[host] = append(s.paths[host], path)
}

func (s flagSet) match(target string) bool {
	if len(s.hosts) == 0 && len(s.paths) == 0 {
		return false
	}
	host, path := splitURL(target)
	if s.hosts[host] {
		return true
	}
	for _, parent := range parentNames(host) {
		if s.hosts[parent] {
			return true
		}
	}
	for _, beginning := range s.paths[host] {
		if strings.HasPrefix(path, beginning) {
			return true
		}
	}
	return false
}

// splitURL returns the host of a URL, and its path and query without escapes. Both are in lower case, and
// scheme, user and port are omitted, so that they cannot be used to evade a flag. It accepts every URL that
// weburl.Normalize returns, including URLs that net/url rejects.
func splitURL(target string) (host, path string) {
	_, rest, _ := strings.Cut(target, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	host, path = rest[:end], rest[end:]
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	path, _, _ = strings.Cut(path, "#")
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	if path == "" || path[0] != '/' {
		path = "/" + path
	}
	return strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), "."), strings.ToLower(path)
}
