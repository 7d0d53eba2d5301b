package months

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/db"
)

// shape is what hangs on a table and goes with it.
type shape struct {
	indexes     []index
	references  []constraint // of others to it
	constraints []constraint // of its own: foreign keys and checks
	grants      []string
	storage     string // parameters, as WITH takes them
	owner       string
}

type index struct {
	name, definition string
	primary          bool
}

// loosen gives the definition without UNIQUE, under a name, made beside the traffic; empty: it is not unique.
func (i index) loosen(name string) string {
	rest, unique := strings.CutPrefix(i.definition, "CREATE UNIQUE INDEX "+i.name+" ON ")
	if !unique {
		return ""
	}
	return "CREATE INDEX CONCURRENTLY " + name + " ON " + rest
}

type constraint struct{ table, name, definition string }

func columnsOf(c *constraint) []any { return []any{&c.table, &c.name, &c.definition} }

const (
	indexesSQL = `
SELECT c.relname, pg_get_indexdef(i.indexrelid), i.indisprimary FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = $1::regclass ORDER BY i.indisprimary DESC, c.relname`
	// pairsSQL gives the indexes of a part with the names of those that they are parts of.
	pairsSQL = `
SELECT part.relname, whole.relname, i.indisprimary FROM pg_index i JOIN pg_class part ON part.oid = i.indexrelid JOIN pg_inherits h ON h.inhrelid = part.oid JOIN pg_class whole ON whole.oid = h.inhparent
WHERE i.indrelid = $1::regclass ORDER BY 1`
	referencesSQL = `
SELECT quote_ident(r.relname), k.conname, pg_get_constraintdef(k.oid) FROM pg_constraint k JOIN pg_class r ON r.oid = k.conrelid
WHERE k.confrelid = $1::regclass AND k.contype = 'f' AND k.conparentid = 0 ORDER BY r.relname, k.conname`
	constraintsSQL = `
SELECT '', conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = $1::regclass AND contype IN ('f', 'c') AND conname <> $2 ORDER BY conname`
	grantsSQL = `
SELECT format('GRANT %s ON %I TO %s%s', a.privilege_type, c.relname, CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END,
	CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = $1::regclass AND a.grantee <> c.relowner ORDER BY 1`
	formSQL = `
SELECT coalesce(array_to_string(reloptions, ', '), ''), CASE WHEN pg_get_userbyid(relowner) = current_user THEN '' ELSE quote_ident(pg_get_userbyid(relowner)) END
FROM pg_class WHERE oid = $1::regclass`

	// strangersSQL finds what an operator may have made and Move would leave behind with the old table.
	strangersSQL = `
SELECT what FROM (
	SELECT 'the trigger ' || tgname AS what FROM pg_trigger WHERE tgrelid = $1::regclass AND NOT tgisinternal
	UNION ALL SELECT 'the view or rule ' || r.ev_class::regclass FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid AND d.classid = 'pg_rewrite'::regclass
		WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = $1::regclass
	UNION ALL SELECT 'the policy ' || polname FROM pg_policy WHERE polrelid = $1::regclass
	UNION ALL SELECT 'the publication ' || p.pubname FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid WHERE r.prrelid = $1::regclass
	UNION ALL SELECT 'the statistics ' || stxname FROM pg_statistic_ext WHERE stxrelid = $1::regclass
	UNION ALL SELECT 'privileges on the column ' || attname FROM pg_attribute WHERE attrelid = $1::regclass AND attacl IS NOT NULL
	UNION ALL SELECT 'the generated column ' || attname FROM pg_attribute WHERE attrelid = $1::regclass AND (attgenerated <> '' OR attidentity <> '')
	UNION ALL SELECT 'the heir ' || inhrelid::regclass FROM pg_inherits WHERE inhparent = $1::regclass
	UNION ALL SELECT 'the parent ' || inhparent::regclass FROM pg_inherits WHERE inhrelid = $1::regclass
	UNION ALL SELECT 'a replica identity of its own' FROM pg_class WHERE oid = $1::regclass AND relreplident <> 'd'
	UNION ALL SELECT 'another persistence than that of a table' FROM pg_class WHERE oid = $1::regclass AND relpersistence <> 'p'
	UNION ALL SELECT 'the unique index ' || i.indexrelid::regclass || ', which is not of the id' FROM pg_index i WHERE i.indrelid = $1::regclass AND i.indisunique
		AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attname = 'id' AND a.attnum = ANY (i.indkey[0:i.indnkeyatts - 1]))
		AND (SELECT relname FROM pg_class WHERE oid = i.indexrelid) <> $3
	UNION ALL SELECT 'the broken index ' || relname FROM pg_index JOIN pg_class ON oid = indexrelid WHERE indrelid = $1::regclass AND NOT indisvalid AND relname <> $4
	UNION ALL SELECT 'the constraint ' || conname FROM pg_constraint WHERE conrelid = $1::regclass AND (contype NOT IN ('p', 'f', 'c') OR NOT convalidated AND conname <> $2)
) s ORDER BY what`
)

// readShape reads what hangs on a plain table. Error: something does that Move does not know how to take along.
func readShape(ctx context.Context, on db.Execer, t Table) (shape, error) {
	var s shape
	strangers, err := db.All(ctx, on, db.Value[string], strangersSQL, t.Name, t.limitName(), t.loose, t.looseName())
	if err == nil && len(strangers) > 0 {
		return s, fmt.Errorf("%s has %s, which would be left behind: remove it, and make it again afterwards", t.Name, strings.Join(strangers, ", "))
	}
	if err == nil {
		err = s.read(ctx, on, t.Name, t.limitName())
	}
	if err != nil {
		return s, fmt.Errorf("read the shape of %s: %w", t.Name, err)
	}
	s.indexes = slices.DeleteFunc(s.indexes, func(i index) bool { return i.name == t.looseName() })
	return s, nil
}

// shapeOfSplit reads what hangs on a split table, whose parts have the storage of the rest.
func shapeOfSplit(ctx context.Context, on db.Execer, t Table) (*shape, error) {
	var s, rest shape
	err := s.read(ctx, on, t.Name, t.limitName())
	if err == nil {
		err = rest.read(ctx, on, t.rest(), t.limitName())
	}
	if err != nil {
		return nil, fmt.Errorf("read the shape of %s: %w", t.Name, err)
	}
	s.storage = rest.storage
	return &s, nil
}

func (s *shape) read(ctx context.Context, on db.Execer, name, limit string) (err error) {
	form, err := db.One(ctx, on, func(f *shape) []any { return []any{&f.storage, &f.owner} }, formSQL, name)
	s.storage, s.owner = form.storage, form.owner
	if err == nil {
		s.indexes, err = db.All(ctx, on, func(i *index) []any { return []any{&i.name, &i.definition, &i.primary} }, indexesSQL, name)
	}
	if err == nil {
		s.references, err = db.All(ctx, on, columnsOf, referencesSQL, name)
	}
	if err == nil {
		s.constraints, err = db.All(ctx, on, columnsOf, constraintsSQL, name, limit)
	}
	if err == nil {
		s.grants, err = db.All(ctx, on, db.Value[string], grantsSQL, name)
	}
	return err
}

// with is the end of a statement that makes a table with such storage.
func (s *shape) with() string {
	if s.storage == "" {
		return ""
	}
	return " WITH (" + s.storage + ")"
}

// lock takes the table and all that refer to it. Who waits for one of them lets go soon.
func (s *shape) lock(t Table) string {
	all := []string{quote(t.Name)}
	for _, r := range s.references {
		all = append(all, r.table)
	}
	slices.Sort(all[1:])
	return "LOCK TABLE " + strings.Join(slices.Compact(all), ", ") + " IN ACCESS EXCLUSIVE MODE"
}

// release drops the references to the table.
func (s *shape) release() (all []string) {
	for _, r := range s.references {
		all = append(all, fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT %s", r.table, quote(r.name)))
	}
	return all
}

// refer makes them again, for new rows; those that are there are checked later.
func (s *shape) refer() (all []string) {
	for _, r := range s.references {
		all = append(all, fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s %s NOT VALID", r.table, quote(r.name), strings.TrimSuffix(r.definition, " NOT VALID")))
	}
	return all
}

// aside is the name of an index of the table that became the first month.
func aside(index string) string { return index + "_first" }

// rename gives an index of a table another name.
func (i index) rename(table, to string) string {
	if i.primary {
		return fmt.Sprintf("ALTER TABLE %s RENAME CONSTRAINT %s TO %s", quote(table), quote(i.name), quote(to))
	}
	return fmt.Sprintf("ALTER INDEX %s RENAME TO %s", quote(i.name), quote(to))
}

// split makes the split table beside the old one, whose name and names of indexes are free.
func (s *shape) split(t Table, old string) []string {
	name := quote(t.Name)
	all := []string{fmt.Sprintf("CREATE TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING COMMENTS) PARTITION BY RANGE (id)", name, quote(old))}
	if s.owner != "" {
		all = append(all, fmt.Sprintf("ALTER TABLE %s OWNER TO %s", name, s.owner))
	}
	for _, i := range s.indexes {
		if i.primary {
			all = append(all, fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s PRIMARY KEY (id)", name, quote(i.name)))
		} else {
			all = append(all, i.definition)
		}
	}
	for _, c := range s.constraints {
		all = append(all, fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s %s", name, quote(c.name), c.definition))
	}
	return append(all, s.grants...)
}

// part makes an empty part of a split table.
func (s *shape) part(t Table, name, from, below string) string {
	return fmt.Sprintf("CREATE TABLE %s PARTITION OF %s %s%s", quote(name), quote(t.Name), values(from, below), s.with())
}

func attach(t Table, name, from, below string) string {
	return fmt.Sprintf("ALTER TABLE %s ATTACH PARTITION %s %s", quote(t.Name), quote(name), values(from, below))
}

func detach(t Table, name string) string {
	return fmt.Sprintf("ALTER TABLE %s DETACH PARTITION %s", quote(t.Name), quote(name))
}

// values is the range of a part.
func values(from, below string) string {
	low, high := "MINVALUE", "MAXVALUE"
	if from != "" {
		low = literal(from)
	}
	if below != "" {
		high = literal(below)
	}
	return fmt.Sprintf("FOR VALUES FROM (%s) TO (%s)", low, high)
}

func quote(name string) string { return pq.QuoteIdentifier(name) }

func literal(text string) string { return pq.QuoteLiteral(text) }
