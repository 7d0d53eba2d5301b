package months

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/storage/db"
)

// shape is the set of objects that belong to a table and move with it.
type shape struct {
	indexes     []index
	references  []constraint // from other tables to it
	constraints []constraint // its own foreign keys and checks
	grants      []string
	refersTo    []string // other tables that its foreign keys refer to

	sequenceGrants []string
	storage        string // storage parameters for WITH
	owner          string
}

type index struct {
	name, definition string
	primary          bool
}

// constraint is a constraint of a table. A reference from a split table consists of one for each of its
// parts, which are validated individually.
type constraint struct{ table, name, definition, whole string }

func columnsOf(c *constraint) []any { return []any{&c.table, &c.name, &c.definition, &c.whole} }

const (
	indexesSQL = `
SELECT c.relname, pg_get_indexdef(i.indexrelid), i.indisprimary FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = $1::regclass ORDER BY i.indisprimary DESC, c.relname`
	// pairsSQL selects the indexes of a part with the indexes that they are parts of.
	pairsSQL = `
SELECT part.relname, whole.relname, i.indisprimary FROM pg_index i JOIN pg_class part ON part.oid = i.indexrelid JOIN pg_inherits h ON h.inhrelid = part.oid JOIN pg_class whole ON whole.oid = h.inhparent
WHERE i.indrelid = $1::regclass ORDER BY 1`
	referencesSQL = `
SELECT quote_ident(coalesce(part.relname, r.relname)), k.conname, pg_get_constraintdef(k.oid), coalesce(quote_ident(CASE WHEN part.oid IS NOT NULL THEN r.relname ELSE whole.relname END), '')
FROM pg_constraint k JOIN pg_class r ON r.oid = k.conrelid
LEFT JOIN pg_inherits h ON h.inhparent = r.oid AND r.relkind = 'p' LEFT JOIN pg_class part ON part.oid = h.inhrelid
LEFT JOIN pg_inherits o ON o.inhrelid = r.oid AND r.relispartition LEFT JOIN pg_class whole ON whole.oid = o.inhparent
WHERE k.confrelid = $1::regclass AND k.contype = 'f' AND k.conparentid = 0 ORDER BY r.relname, part.relname, k.conname`
	constraintsSQL = `
SELECT '', conname, pg_get_constraintdef(oid), '' FROM pg_constraint WHERE conrelid = $1::regclass AND contype IN ('f', 'c') AND conparentid = 0 AND conname <> $2 ORDER BY conname`
	refersToSQL = `
SELECT DISTINCT quote_ident(r.relname) FROM pg_constraint k JOIN pg_class r ON r.oid = k.confrelid WHERE k.conrelid = $1::regclass AND k.contype = 'f' AND k.conparentid = 0 ORDER BY 1`
	grantsSQL = `
SELECT format('GRANT %s ON %s%I TO %s%s', a.privilege_type, CASE c.relkind WHEN 'S' THEN 'SEQUENCE ' ELSE '' END, c.relname, CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END,
	CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = to_regclass($1) AND a.grantee <> c.relowner ORDER BY 1`
	formSQL = `
SELECT coalesce(array_to_string(reloptions, ', '), ''), CASE WHEN pg_get_userbyid(relowner) = current_user THEN '' ELSE quote_ident(pg_get_userbyid(relowner)) END
FROM pg_class WHERE oid = $1::regclass`

	// attachedObjectsSQL selects objects that an operator may have created and that Move would leave with the old
	// table.
	attachedObjectsSQL = `
SELECT what FROM (
	SELECT 'the trigger ' || tgname AS what FROM pg_trigger WHERE tgrelid = $1::regclass AND NOT tgisinternal
	UNION ALL SELECT 'the view or rule ' || r.ev_class::regclass FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid AND d.classid = 'pg_rewrite'::regclass
		WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = $1::regclass
	UNION ALL SELECT 'the policy ' || polname FROM pg_policy WHERE polrelid = $1::regclass
	UNION ALL SELECT 'the publication ' || p.pubname FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid WHERE r.prrelid = $1::regclass
	UNION ALL SELECT 'the statistics ' || stxname FROM pg_statistic_ext WHERE stxrelid = $1::regclass
	UNION ALL SELECT 'privileges on the column ' || attname FROM pg_attribute WHERE attrelid = $1::regclass AND attacl IS NOT NULL
	UNION ALL SELECT 'the generated column ' || attname FROM pg_attribute WHERE attrelid = $1::regclass AND (attgenerated <> '' OR attidentity <> '') AND NOT ($6 AND attname = 'id' AND attidentity = 'd')
	UNION ALL SELECT 'the child table ' || inhrelid::regclass FROM pg_inherits WHERE inhparent = $1::regclass
	UNION ALL SELECT 'the parent ' || inhparent::regclass FROM pg_inherits WHERE inhrelid = $1::regclass
	UNION ALL SELECT 'a replica identity of its own' FROM pg_class WHERE oid = $1::regclass AND relreplident <> 'd'
	UNION ALL SELECT 'another persistence than that of a table' FROM pg_class WHERE oid = $1::regclass AND relpersistence <> 'p'
	UNION ALL SELECT 'the unique index ' || i.indexrelid::regclass || ', which is not of ' || CASE $5 WHEN 'id' THEN 'the id' ELSE $5 END FROM pg_index i WHERE i.indrelid = $1::regclass AND i.indisunique
		AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attname = $5 AND a.attnum = ANY (i.indkey[0:i.indnkeyatts - 1]))
		AND (SELECT relname FROM pg_class WHERE oid = i.indexrelid) <> ALL ($3)
	UNION ALL SELECT 'the broken index ' || relname FROM pg_index JOIN pg_class ON oid = indexrelid WHERE indrelid = $1::regclass AND NOT indisvalid AND relname <> ALL ($4)
	UNION ALL SELECT 'the constraint ' || conname FROM pg_constraint WHERE conrelid = $1::regclass AND conparentid = 0 AND (contype NOT IN ('p', 'f', 'c', 'n') OR NOT convalidated AND conname <> $2)
) s ORDER BY what`
)

// readShape reads the shape of a plain table. It fails if an object belongs to the table that Move cannot
// move.
func readShape(ctx context.Context, on db.Execer, t Table) (shape, error) {
	var s shape
	names, nexts := t.keyNames()
	strangers, err := db.All(ctx, on, db.Value[string], attachedObjectsSQL, t.Name, t.limitName(), db.Array(names),
		db.Array(nexts), t.Column, t.numbered)
	if err == nil && len(strangers) > 0 {
		return s, fmt.Errorf("%s has %s, which would be lost: remove it, and create it again afterwards", t.Name,
			strings.Join(strangers, ", "))
	}
	if err == nil {
		err = s.readShape(ctx, on, t.Name, t.limitName())
	}
	if err != nil {
		return s, fmt.Errorf("read the shape of %s: %w", t.Name, err)
	}
	s.indexes = slices.DeleteFunc(s.indexes, func(i index) bool { return slices.Contains(nexts, i.name) })
	return s, nil
}

// shapeOfSplit reads the shape of a split table, whose parts have the storage parameters of the rest.
func shapeOfSplit(ctx context.Context, on db.Execer, t Table) (*shape, error) {
	var s, rest shape
	err := s.readShape(ctx, on, t.Name, t.limitName())
	if err == nil {
		err = rest.readShape(ctx, on, t.restName(), t.limitName())
	}
	if err != nil {
		return nil, fmt.Errorf("read the shape of %s: %w", t.Name, err)
	}
	s.storage = rest.storage
	return &s, nil
}

func (s *shape) readShape(ctx context.Context, on db.Execer, name, limit string) (err error) {
	form, err := db.One(ctx, on, func(f *shape) []any { return []any{&f.storage, &f.owner} }, formSQL, name)
	s.storage, s.owner = form.storage, form.owner
	if err == nil {
		s.indexes, err = db.All(ctx, on, func(i *index) []any { return []any{&i.name, &i.definition, &i.primary} },
			indexesSQL, name)
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
	if err == nil {
		s.sequenceGrants, err = db.All(ctx, on, db.Value[string], grantsSQL, name+"_id_seq")
	}
	if err == nil {
		s.refersTo, err = db.All(ctx, on, db.Value[string], refersToSQL, name)
	}
	return err
}

// storageClause returns the WITH clause of CREATE TABLE for the storage parameters.
func (s *shape) storageClause() string {
	if s.storage == "" {
		return ""
	}
	return " WITH (" + s.storage + ")"
}

// lockStatement returns a statement that locks the table, the tables that it refers to, which all transactions lock
// first, and those that refer to it. Waiters give up soon.
func (s *shape) lockStatement(t Table) string {
	var referring []string
	for _, r := range s.references {
		referring = append(referring, cmp.Or(r.whole, r.table))
	}
	slices.Sort(referring)
	all := append(append(slices.Clone(s.refersTo), quoteIdentifier(t.Name)), slices.Compact(referring)...)
	return "LOCK TABLE " + strings.Join(all, ", ") + " IN ACCESS EXCLUSIVE MODE"
}

// dropReferences returns statements that drop the references to the table.
func (s *shape) dropReferences() (all []string) {
	for _, r := range s.references {
		all = append(all, fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT IF EXISTS %s", cmp.Or(r.whole, r.table),
			quoteIdentifier(r.name)))
		if r.whole != "" { // individually for each part
			all = append(all, fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT IF EXISTS %s", r.table,
				quoteIdentifier(r.name)))
		}
	}
	return all
}

// createReferences returns statements that create the references again for new rows; existing rows are validated
// later.
func (s *shape) createReferences() (all []string) {
	for _, r := range s.references {
		all = append(all, r.addStatement(r.table)+" NOT VALID")
	}
	return all
}

// addStatement returns a statement that adds the constraint to a table.
func (c constraint) addStatement(table string) string {
	return fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s %s", table, quoteIdentifier(c.name),
		strings.TrimSuffix(c.definition, " NOT VALID"))
}

// validationSteps returns the steps that validate recreated references for existing rows. A split table gets one for
// the whole table when all of its parts have one.
func validationSteps(t Table, references []constraint) (steps []MoveStep) {
	var wholes []string
	for _, r := range references {
		steps = append(steps, MoveStep{What: fmt.Sprintf("checking that each row of %s has its row of %s",
			r.table, t.Name),
			Statements: []string{fmt.Sprintf("ALTER TABLE %s VALIDATE CONSTRAINT %s", r.table,
				quoteIdentifier(r.name))}})
		if r.whole != "" && !slices.Contains(wholes, r.addStatement(r.whole)) {
			wholes = append(wholes, r.addStatement(r.whole))
		}
	}
	for _, whole := range wholes {
		steps = append(steps, MoveStep{What: "the references to " + t.Name + " now cover the whole table",
			Statements: []string{whole}, Brief: true})
	}
	return steps
}

// firstMonthIndexName returns the name for an index of the table that became the first month.
func firstMonthIndexName(index string) string { return index + "_first" }

// columnList returns the column list of the index in parentheses, including INCLUDE columns.
func (i index) columnList() string {
	_, columns, _ := strings.Cut(i.definition, "(")
	return "(" + columns
}

// renameStatement returns a statement that renames an index of a table.
func (i index) renameStatement(table, to string) string {
	if i.primary {
		return fmt.Sprintf("ALTER TABLE %s RENAME CONSTRAINT %s TO %s", quoteIdentifier(table), quoteIdentifier(i.name),
			quoteIdentifier(to))
	}
	return fmt.Sprintf("ALTER INDEX %s RENAME TO %s", quoteIdentifier(i.name), quoteIdentifier(to))
}

// splitStatements returns statements that create the split table, when its name and the names of its indexes are
// free.
func (s *shape) splitStatements(t Table, old string) []string {
	name := quoteIdentifier(t.Name)
	all := []string{fmt.Sprintf("CREATE TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING COMMENTS) PARTITION BY RANGE (%s)", name, quoteIdentifier(old), t.Column)}
	if s.owner != "" {
		all = append(all, fmt.Sprintf("ALTER TABLE %s OWNER TO %s", name, s.owner))
	}
	for _, i := range s.indexes {
		if i.primary {
			all = append(all, fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s PRIMARY KEY %s", name,
				quoteIdentifier(i.name), i.columnList()))
		} else {
			all = append(all, i.definition)
		}
	}
	for _, c := range s.constraints {
		all = append(all, fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s %s", name, quoteIdentifier(c.name),
			c.definition))
	}
	if t.numbered {
		all = append(all, s.moveSequence(t, t.Name)...)
		all = append(all, fmt.Sprintf("ALTER TABLE %s ALTER COLUMN id DROP IDENTITY", quoteIdentifier(old)))
	}
	return append(all, s.grants...)
}

// createPart returns a statement that creates an empty part.
func (s *shape) createPart(t Table, name, from, below string) string {
	return fmt.Sprintf("CREATE TABLE %s PARTITION OF %s %s%s", quoteIdentifier(name), quoteIdentifier(t.Name),
		rangeClause(from, below), s.storageClause())
}

func attachStatement(t Table, name, from, below string) string {
	return fmt.Sprintf("ALTER TABLE %s ATTACH PARTITION %s %s", quoteIdentifier(t.Name), quoteIdentifier(name),
		rangeClause(from, below))
}

func detachStatement(t Table, name string) string {
	return fmt.Sprintf("ALTER TABLE %s DETACH PARTITION %s", quoteIdentifier(t.Name), quoteIdentifier(name))
}

// dropTable returns a statement that drops a detached part. An empty part is created again with other
// bounds instead of being attached again, because its foreign keys would come with it, which PostgreSQL
// before 15.9 does wrong.
func dropTable(name string) string { return "DROP TABLE " + quoteIdentifier(name) }

// rangeClause returns the range of a part.
func rangeClause(from, below string) string {
	low, high := "MINVALUE", "MAXVALUE"
	if from != "" {
		low = quoteLiteral(from)
	}
	if below != "" {
		high = quoteLiteral(below)
	}
	return fmt.Sprintf("FOR VALUES FROM (%s) TO (%s)", low, high)
}

func quoteIdentifier(name string) string { return pq.QuoteIdentifier(name) }

func quoteLiteral(text string) string { return pq.QuoteLiteral(text) }
