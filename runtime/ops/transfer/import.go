package transfer

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/blob"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Import creates the account of a file. It changes nothing if it returns an error, except that objects may already be
// in the object store, and that a base may be incomplete.
func Import(ctx context.Context, d *db.DB, r io.Reader, o Options) (*Result, error) {
	in, err := newBundleReader(r)
	if err != nil {
		return nil, err
	}
	defer in.close()
	name, content, err := in.next()
	if err != nil {
		return nil, err
	}
	result := &Result{}
	m := &result.Manifest
	if name != manifestName || json.Unmarshal(content, m) != nil || m.Format != format {
		return nil, errors.New("not a file of postrider admin account export")
	}
	oneTime, err := o.openSecret()
	if err == nil {
		err = o.accepts(m, oneTime)
	}
	if err != nil {
		return nil, err
	}
	i := &importer{in: in, options: o, manifest: m, rows: map[string]int64{}, columns: map[string]columns{},
		keys: keyChange{from: oneTime, to: o.Box, account: m.AccountID, rehash: true}}
	if m.isBase() {
		result.End, err = i.importBase(ctx, d)
	} else {
		err = InPatientTx(ctx, d, sql.LevelDefault, func(tx *sql.Tx) (err error) {
			if err := i.begin(ctx, tx); err != nil {
				return err
			}
			result.End, _, err = i.read(ctx, time.Time{})
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

// accepts checks that this installation can read a file.
func (o Options) accepts(m *Manifest, oneTime *secret.Box) error {
	switch {
	case m.Version > baseVersion || m.Schema > db.Schema():
		return fmt.Errorf("the file was written by a newer version (%s): update this installation first", m.Program)
	case m.Base != "" && (m.Version < baseVersion || !strings.HasPrefix(m.Base, basePrefix)):
		return errors.New("the file has no valid base")
	case o.MoveOnly && m.CopyID() == "":
		return errors.New("the file does not belong to a move")
	case m.Key != markOf(oneTime):
		return errWrongSecret
	}
	return nil
}

type importer struct {
	tx       *sql.Tx
	in       *bundleReader
	options  Options
	manifest *Manifest
	keys     keyChange
	rows     map[string]int64 // read so far, by table
	objects  int64
	columns  map[string]columns // of this installation, by table
	at       int                // index in tables of the table that is being read
	// returning reports whether the account has moved away from here, and the file is the base of its return. Its row,
	// keys and so on remain, because clients are redirected until the difference replaces them.
	returning bool
}

// columns are the columns of a table.
type columns struct {
	all      []string
	numbered []string // those that the database numbers
}

// prepareSQL creates the tables that record which ids differ.
const prepareSQL = `
CREATE TEMP TABLE transfer_users (old text PRIMARY KEY, new text NOT NULL);
CREATE TEMP TABLE transfer_kept (id text PRIMARY KEY);
CREATE TEMP TABLE transfer_units (id text COLLATE "C" PRIMARY KEY);
CREATE TEMP TABLE transfer_numbers (space text, old bigint, new bigint NOT NULL, PRIMARY KEY (space, old))`

// begin prepares the database for the file, in a transaction that reads it.
func (i *importer) begin(ctx context.Context, tx *sql.Tx) error {
	i.tx = tx
	if _, err := i.tx.ExecContext(ctx, prepareSQL); err != nil {
		return err
	}
	return i.checkTarget(ctx)
}

// read imports entries up to the end of the file, or until a time that is not zero, but at least one. It reports
// whether the file has ended.
func (i *importer) read(ctx context.Context, until time.Time) (end End, done bool, err error) {
	for first := true; first || until.IsZero() || time.Now().Before(until); first = false {
		name, content, err := i.in.next()
		switch {
		case errors.Is(err, io.EOF):
			return end, false, fmt.Errorf("the file is incomplete: it has no %s", endName)
		case err != nil:
			return end, false, err
		case name == endName:
			if err := json.Unmarshal(content, &end); err != nil {
				return end, false, fmt.Errorf("%s: %w", endName, err)
			}
			err := i.in.check(end, i.rows, i.objects)
			if err == nil {
				err = i.in.end()
			}
			if err == nil && i.manifest.isDifference() {
				err = i.endDifference(ctx)
			}
			if err == nil && !i.manifest.isBase() {
				err = i.settleFacts(ctx)
			}
			return end, true, err
		case strings.HasPrefix(name, unitFolder) && i.manifest.isDifference():
			err = i.deleteUnits(ctx, name, content)
		case strings.HasPrefix(name, objectFolder):
			err = i.putObject(ctx, strings.TrimPrefix(name, objectFolder), content)
		default:
			err = i.readPart(ctx, name, content)
		}
		if err != nil {
			return end, false, fmt.Errorf("import %s: %w", name, err)
		}
	}
	return end, false, nil
}

// checkTarget reports conflicts that concern the account as a whole. A move replaces a copy that has not started, and
// what an earlier move away from here has left.
func (i *importer) checkTarget(ctx context.Context) error {
	m, err := i.lockTarget(ctx)
	switch {
	case i.manifest.isDifference():
		if err == nil && (m.State != Waiting && m.State != Moved || m.ID != i.manifest.Base) {
			err = errors.New("it is not the base of this file")
		}
		if err != nil {
			return fmt.Errorf("the file completes a copy that is not in this installation: %w", err)
		}
		return i.deleteRows(ctx, func(t table) bool { return t.group == "" && !t.kept })
	case fault.KindOf(err) == fault.NotFound:
		return nil
	case err != nil:
		return err
	case i.manifest.CopyID() == "" || m.State != Waiting && m.State != Moved:
		return fmt.Errorf("the account %s already exists in this installation", i.manifest.AccountID)
	}
	if i.returning = m.State == Moved && i.manifest.isBase(); i.returning {
		return i.deleteRows(ctx, func(t table) bool { return t.group != "" })
	}
	return i.deleteRows(ctx, func(table) bool { return true })
}

// deleteRows deletes the rows of the account in some tables. People stay: they may belong to other accounts.
func (i *importer) deleteRows(ctx context.Context, of func(table) bool) error {
	for _, t := range slices.Backward(tables) {
		if t.user != "" || !of(t) {
			continue
		}
		if _, err := db.Exec(ctx, i.tx, `DELETE FROM `+t.name+` WHERE `+t.wholeCondition(), i.manifest.AccountID); err != nil {
			return fmt.Errorf("delete the earlier copy: %s: %w", t.name, err)
		}
	}
	return nil
}

// readPart imports the rows of a part.
func (i *importer) readPart(ctx context.Context, name string, content []byte) error {
	tableName, _, _ := strings.Cut(strings.TrimPrefix(name, tablesFolder), "/")
	at := slices.IndexFunc(tables, func(t table) bool { return t.name == tableName })
	if at < 0 || !strings.HasPrefix(name, tablesFolder) {
		return errors.New("not an entry of an account's file")
	}
	if at < i.at {
		return fmt.Errorf("the table must precede %s", tables[i.at].name)
	}
	if at > i.at {
		i.options.Progress(fmt.Sprintf("%s: %d rows", tables[i.at].name, i.rows[tables[i.at].name]))
	}
	i.at = at
	t := tables[at]
	lines := bytes.Count(content, []byte("\n"))
	i.rows[t.name] += int64(lines)
	if t.credential && !i.options.Credentials {
		return nil
	}
	content, err := i.keys.rows(t, content)
	if err != nil {
		return err
	}
	if err := i.insert(ctx, t, asArray(content), lines); err != nil || t.name != "users" || !i.manifest.isDifference() {
		return err
	}
	return i.mapUsers(ctx)
}

// asArray turns lines into a JSON array.
func asArray(lines []byte) string {
	array := bytes.ReplaceAll(bytes.TrimSuffix(lines, []byte("\n")), []byte("\n"), []byte(","))
	return "[" + string(array) + "]"
}

func (i *importer) insert(ctx context.Context, t table, rows string, count int) error {
	if err := i.prepareRows(ctx, t, rows); err != nil {
		return err
	}
	have, err := i.columnsOf(ctx, t)
	if err != nil {
		return err
	}
	if i.manifest.isBase() && t.kept {
		t.set = t.baseSet
	}
	var names, values []string
	for _, column := range i.manifest.Columns[t.name] {
		if !slices.Contains(have.all, column) {
			return fmt.Errorf("this installation has no column %s: update it first", column)
		}
		value, keep := t.valueOf(column, have)
		if keep {
			names, values = append(names, quote(column)), append(values, value)
		}
	}
	args := []any{i.manifest.AccountID, rows}
	if t.name == "accounts" {
		moveID := cmp.Or(i.manifest.Move, partialID(i.manifest.Base))
		if i.returning {
			_, err := db.Exec(ctx, i.tx, `UPDATE accounts SET move_id = $2 WHERE id = $1`, i.manifest.AccountID, moveID)
			return err
		}
		args = append(args, i.options.Plan, moveID)
	}
	added, err := db.Exec(ctx, i.tx, `INSERT INTO `+t.name+` (`+strings.Join(names, ", ")+`) OVERRIDING SYSTEM VALUE SELECT `+
		strings.Join(values, ", ")+` FROM `+rowsOf(t.name, 2)+` WHERE $1::text <> '' AND `+t.ownOnly()+i.onConflict(t, names), args...)
	if err == nil && t.user == "" && added != count && (!t.kept || !i.manifest.isBase()) {
		err = fmt.Errorf("%d of %d rows belong to another account", count-added, count)
	}
	return err
}

// prepareRows reports conflicts of rows, and assigns new numbers.
func (i *importer) prepareRows(ctx context.Context, t table, rows string) error {
	switch t.name {
	case "accounts":
		return i.choosePlan(ctx, rows)
	case "users":
		_, err := db.Exec(ctx, i.tx, `INSERT INTO transfer_users SELECT DISTINCT ON (r.id) r.id, u.id FROM `+rowsOf(t.name, 1)+
			` JOIN users u ON u.email = r.email OR u.id = r.id ORDER BY r.id, u.email = r.email DESC`, rows)
		return err
	case "domains":
		taken, err := db.All(ctx, i.tx, db.Value[string], `SELECT DISTINCT d.name FROM `+rowsOf(t.name, 1)+` JOIN domains d ON d.name = r.name
WHERE r.status IN ('verified', 'temporary_failure') AND d.status IN ('verified', 'temporary_failure')
	AND d.account_id IS DISTINCT FROM $2 ORDER BY 1`, rows, i.manifest.AccountID)
		if err == nil && len(taken) > 0 {
			err = fmt.Errorf("another account has verified %s: remove the domain there first", strings.Join(taken, ", "))
		}
		if err == nil && i.manifest.Base != "" {
			err = i.keepDomains(ctx, rows)
		}
		return err
	}
	if space := t.renumber["id"]; space != "" {
		_, err := db.Exec(ctx, i.tx, `INSERT INTO transfer_numbers SELECT $2::text, r.id, nextval((
	SELECT coalesce(pg_get_serial_sequence($2::text, 'id'), substring(pg_get_expr(d.adbin, d.adrelid) FROM '''(.*)'''))
	FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
	WHERE a.attrelid = $2::text::regclass AND a.attname = 'id')::regclass) FROM `+rowsOf(t.name, 1), rows, space)
		return err
	}
	return nil
}

// choosePlan checks that the plan of the account exists.
func (i *importer) choosePlan(ctx context.Context, rows string) error {
	own, err := db.One(ctx, i.tx, db.Value[string], `SELECT r.plan_id FROM `+rowsOf("accounts", 1), rows)
	if err != nil {
		return err
	}
	if i.options.Plan == "" {
		i.options.Plan = own
	}
	there, err := db.One(ctx, i.tx, db.Value[bool], `SELECT EXISTS (SELECT FROM plans WHERE id = $1)`, i.options.Plan)
	if err == nil && !there {
		err = fmt.Errorf("there is no plan %q: create it, or choose another with --plan", i.options.Plan)
	}
	return err
}

func (i *importer) columnsOf(ctx context.Context, t table) (columns, error) {
	if known, found := i.columns[t.name]; found {
		return known, nil
	}
	var c columns
	err := db.Each(ctx, i.tx, func(row db.Row) error {
		var name string
		var numbered bool
		if err := row.Scan(&name, &numbered); err != nil {
			return err
		}
		if c.all = append(c.all, name); numbered {
			c.numbered = append(c.numbered, name)
		}
		return nil
	}, `SELECT a.attname, a.attidentity <> '' OR coalesce(pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%', false) FROM pg_attribute a
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = ('public.' || $1::text)::regclass AND a.attnum > 0 AND NOT a.attisdropped`, t.name)
	i.columns[t.name] = c
	return c, err
}

// valueOf returns the expression for a column, and whether the column is imported at all.
func (t table) valueOf(column string, have columns) (string, bool) {
	if value, replaced := t.set[column]; replaced {
		return value, true
	}
	if space := t.renumber[column]; space != "" {
		return `(SELECT n.new FROM transfer_numbers n WHERE n.space = '` + space + `' AND n.old = r.` + column + `)`, true
	}
	switch {
	case column == "account_id", t.name == "accounts" && column == "id":
		return `$1::text`, true
	case slices.Contains(have.numbered, column):
		return "", false
	}
	return `r.` + quote(column), true
}

// ownOnly is a condition that rows of other accounts do not meet.
func (t table) ownOnly() string {
	switch {
	case t.user != "":
		return `r.` + t.user + ` NOT IN (SELECT old FROM transfer_users)`
	case t.parent.column == "":
		return `true`
	}
	condition := notOfOther(t.parent.table, t.parent.column)
	if t.owner != "" {
		condition += ` AND ` + notOfOther(t.owner, "id")
	}
	return condition
}

// notOfOther is a condition that the parent of the row r, if it exists, belongs to the account.
func notOfOther(table, column string) string {
	return `NOT EXISTS (SELECT FROM ` + table + ` p WHERE p.id = r.` + column + ` AND p.account_id <> $1)`
}

// rowsOf is a FROM item with the rows of a parameter that contains a JSON array.
func rowsOf(tableName string, parameter int) string {
	return fmt.Sprintf(`json_populate_recordset(NULL::public.%s, $%d::json) r`, tableName, parameter)
}

func quote(column string) string { return `"` + strings.ReplaceAll(column, `"`, `""`) + `"` }

// putObject stores an object, unless the store has it already. An object with other content is not replaced.
func (i *importer) putObject(ctx context.Context, key string, content []byte) error {
	if i.options.Objects == nil {
		return errNoObjectStore
	}
	i.objects++
	from, err := i.options.Objects.Get(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		return i.options.Objects.Put(ctx, key, bytes.NewReader(content), int64(len(content)))
	}
	if err != nil {
		return err
	}
	existing, err := io.ReadAll(io.LimitReader(from, maxPart+1))
	if err = errors.Join(err, from.Close()); err == nil && !bytes.Equal(existing, content) {
		err = errors.New("the object store has another object with this key")
	}
	return err
}
