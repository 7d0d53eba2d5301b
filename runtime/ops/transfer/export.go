package transfer

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/blob"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Options are the parts of an installation that an export or import uses.
type Options struct {
	Box         *secret.Box       // the master keys of this installation
	Secret      secret.Key        // one-time key of the file
	Program     string            // version of this program
	Objects     blob.Store        // nil without an object store
	Credentials bool              // include passwords, passkeys and other ways to sign in
	Plan        string            // import: plan of the account instead of its own
	MoveOnly    bool              // import: refuse files that do not belong to a move
	Progress    func(done string) // called after each table; required

	// AdjustStatistics changes imported statistics, so that they contain each event once after the installation has
	// counted. They contain the events before exportedMark; nil: all. Without the function, the installation counts no
	// events.
	AdjustStatistics func(ctx context.Context, tx db.Execer, accountID string, exportedMark *string) error

	turn time.Duration // import of a base: how long a transaction reads the file; 0: baseTurn
}

// Result is what was exported or imported.
type Result struct {
	Manifest Manifest
	End      End

	Digest string // of the unfinished work of a move
}

// Export writes the finished work of an account to w. The database can be in use.
func Export(ctx context.Context, d *db.DB, accountID string, w io.Writer, o Options) (result *Result, err error) {
	err = InPatientTx(ctx, d, sql.LevelRepeatableRead, func(tx *sql.Tx) error {
		result, err = writeAccount(ctx, tx, accountID, w, o, filePart{})
		return err
	})
	return result, err
}

// ExportParked writes an account that is being moved to w, with its parked work: if base is not nil, the difference to
// it. It returns BusyError before it writes anything if work is not parked.
func ExportParked(ctx context.Context, d *db.DB, accountID, moveID string, w io.Writer, base *Base,
	o Options) (result *Result, err error) {
	export := func(tx *sql.Tx) error {
		digest, err := digestParked(ctx, tx, accountID)
		if err != nil {
			return err
		}
		part := filePart{moveID: moveID, unfinished: true}
		if base != nil {
			part.base, part.difference = base.ID, true
			o.Progress("no work is in progress; finding the latest changes")
			if err := base.findChanges(ctx, tx); err != nil {
				return err
			}
		}
		if result, err = writeAccount(ctx, tx, accountID, w, o, part); err == nil {
			result.Digest = digest
		}
		return err
	}
	if base != nil {
		err = inTx(ctx, base.conn, sql.LevelRepeatableRead, export)
	} else {
		err = InPatientTx(ctx, d, sql.LevelRepeatableRead, export)
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

// filePart is what a file contains of an account. The zero value is its finished work.
type filePart struct {
	moveID     string
	base       string // id of the base that the file is, or to which it is the difference
	difference bool
	unfinished bool // include unfinished work
}

// isBase reports whether the file contains only a base.
func (p filePart) isBase() bool { return p.base != "" && !p.difference }

// writeAccount writes an account to w.
func writeAccount(ctx context.Context, tx *sql.Tx, accountID string, w io.Writer, o Options,
	part filePart) (*Result, error) {
	oneTime, err := o.openSecret()
	if err != nil {
		return nil, err
	}
	result := &Result{Manifest: Manifest{Format: format, Version: formatVersion, AccountID: accountID, Program: o.Program,
		Schema: db.Schema(), Key: markOf(oneTime), Columns: map[string][]string{}, Credentials: o.Credentials,
		Move: part.moveID, Base: part.base}}
	switch {
	case part.base != "":
		result.Manifest.Version = baseVersion
	case part.moveID != "":
		result.Manifest.Version = moveVersion
	}
	m := &result.Manifest
	err = tx.QueryRowContext(ctx, `SELECT email, now(), coalesce((SELECT fact_id FROM statistics_marks WHERE id = 1), '')
FROM accounts WHERE id = $1`, accountID).Scan(&m.Email, &m.ExportedAt, &m.StatisticsMark)
	if err != nil {
		return nil, fmt.Errorf("read account %s: %w", accountID, err)
	}
	out, err := newBundleWriter(w, m.ExportedAt)
	if err != nil {
		return nil, err
	}
	e := exporter{tx: tx, out: out, options: o, account: accountID, part: part,
		keys: keyChange{from: o.Box, to: oneTime, account: accountID}}
	if err := e.run(ctx, m); err != nil {
		return nil, err
	}
	result.End = out.end
	return result, out.close()
}

// InPatientTx runs do in a transaction without the usual limits: it reads and writes a whole account, and waits for a
// file and for the object store.
func InPatientTx(ctx context.Context, d *db.DB, isolation sql.IsolationLevel, do func(*sql.Tx) error) (err error) {
	handle, err := d.OpenPatient()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, handle.Close()) }()
	conn, err := handle.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return inTx(ctx, conn, isolation, do)
}

// inTx is InPatientTx on a connection.
func inTx(ctx context.Context, conn *sql.Conn, isolation sql.IsolationLevel, do func(*sql.Tx) error) error {
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{Isolation: isolation})
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	_, err = tx.ExecContext(ctx, `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0`)
	if err == nil {
		err = do(tx)
	}
	if err != nil {
		if undo := tx.Rollback(); undo != nil && !errors.Is(undo, sql.ErrTxDone) {
			err = errors.Join(err, fmt.Errorf("roll back: %w", undo))
		}
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

type exporter struct {
	tx      *sql.Tx
	out     *bundleWriter
	options Options
	account string
	part    filePart
	keys    keyChange
	emails  int64 // for the progress of a base
}

// digestParked returns the digest of the unfinished work of an account, or BusyError if some is not parked.
func digestParked(ctx context.Context, tx *sql.Tx, accountID string) (string, error) {
	busy, err := findBusy(ctx, tx, accountID)
	if err == nil && len(busy) > 0 {
		err = BusyError{Work: busy}
	}
	if err != nil {
		return "", err
	}
	return digestWork(ctx, tx, accountID)
}

func (e *exporter) run(ctx context.Context, m *Manifest) error {
	if err := e.findUnfinished(ctx); err != nil {
		return err
	}
	for _, t := range e.included() {
		columns, err := db.All(ctx, e.tx, db.Value[string], columnsSQL, t.name)
		if err != nil {
			return err
		}
		m.Columns[t.name] = columns
	}
	if err := e.out.addJSON(manifestName, m); err != nil {
		return err
	}
	if e.part.difference {
		if err := e.writeReplaced(ctx); err != nil {
			return err
		}
	}
	for _, t := range e.included() {
		if err := e.writeTable(ctx, t); err != nil {
			return fmt.Errorf("export %s: %w", t.name, err)
		}
		e.options.Progress(fmt.Sprintf("%s: %d rows", t.name, e.out.end.Rows[t.name]))
	}
	for _, t := range e.included() {
		if t.objects != "" {
			if err := e.writeObjects(ctx, t); err != nil {
				return fmt.Errorf("export the objects of %s: %w", t.name, err)
			}
		}
	}
	return nil
}

func (e *exporter) included() (list []table) {
	for _, t := range tables {
		if e.part.isBase() && !t.inBase() {
			continue
		}
		if (!t.credential || e.options.Credentials) && (!t.unfinished || e.part.unfinished) {
			list = append(list, t)
		}
	}
	return list
}

// columnsSQL lists the columns of a table.
const columnsSQL = `
SELECT attname::text FROM pg_attribute WHERE attrelid = ('public.' || $1::text)::regclass AND attnum > 0
	AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`

// findUnfinished notes the emails that are not exported, and counts what stays. In a move, nothing stays.
func (e *exporter) findUnfinished(ctx context.Context) error {
	if e.part.isBase() {
		return e.countEmails(ctx)
	}
	_, err := db.Exec(ctx, e.tx, `CREATE TEMP TABLE transfer_open_emails (email_id text PRIMARY KEY) ON COMMIT DROP`)
	if err != nil || e.part.unfinished {
		return err
	}
	if _, err := db.Exec(ctx, e.tx, `INSERT INTO transfer_open_emails SELECT DISTINCT email_id FROM recipients WHERE account_id = $1 AND due_at IS NOT NULL
UNION SELECT id FROM emails WHERE account_id = $1 AND release_at IS NOT NULL`, e.account); err != nil {
		return err
	}
	s := &e.out.end.Unfinished
	return e.tx.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM transfer_open_emails), (SELECT count(*) FROM (`+openRuns+`) r), (SELECT count(*) FROM (`+
		openPosts+`) p), (SELECT count(*) FROM (`+openTexts+`) t)`, e.account).
		Scan(&s.Emails, &s.AutomationRuns, &s.WebhookDeliveries, &s.TextMessages)
}

func (e *exporter) writeTable(ctx context.Context, t table) error {
	part := partWriter{to: e.out, name: tablesFolder + t.name}
	err := db.Each(ctx, e.tx, func(row db.Row) error {
		var encoded sql.RawBytes
		if err := row.Scan(&encoded); err != nil {
			return err
		}
		e.showRow(t)
		rows, err := e.keys.rows(t, encoded)
		if err != nil {
			return err
		}
		return part.addRow(bytes.TrimSuffix(rows, []byte("\n")))
	}, `SELECT `+t.asJSON()+` FROM `+t.name+` t WHERE `+e.conditionOf(t), e.account)
	if err != nil {
		return err
	}
	return part.flush()
}

// asJSON is a row as a JSON object.
func (t table) asJSON() string {
	if t.omit != "" {
		return `to_jsonb(t) - '` + t.omit + `'`
	}
	return `row_to_json(t)`
}

// conditionOf selects the rows of the account.
func (e *exporter) conditionOf(t table) string {
	switch {
	case e.part.isBase() && t.group != "":
		return t.baseCondition()
	case e.part.difference && t.group != "":
		return t.changedCondition()
	case e.part.unfinished || t.where == "":
		return t.wholeCondition()
	}
	return t.where
}

// wholeCondition selects the rows of the account, with its unfinished work.
func (t table) wholeCondition() string {
	if t.where == "" || strings.HasPrefix(t.where, ofAccount) {
		return `account_id = $1`
	}
	return t.where
}

func (e *exporter) writeObjects(ctx context.Context, t table) error {
	keys, err := db.All(ctx, e.tx, db.Value[string], `SELECT `+t.objects+` FROM `+t.name+` WHERE `+e.conditionOf(t)+` AND `+
		t.objects+` IS NOT NULL AND `+cmp.Or(t.stored, `true`)+` ORDER BY 1`, e.account)
	if err != nil {
		return err
	}
	if len(keys) > 0 && e.options.Objects == nil {
		return errNoObjectStore
	}
	for i, key := range keys {
		content, err := e.readObject(ctx, key)
		if e.part.isBase() && errors.Is(err, blob.ErrNotFound) {
			continue // deleted since the snapshot, so the difference replaces its row
		}
		if err == nil {
			err = e.out.add(objectFolder+key, content)
		}
		if err != nil {
			return err
		}
		e.out.end.Objects++
		if (i+1)%1000 == 0 {
			e.options.Progress(fmt.Sprintf("objects of %s: %d of %d", t.name, i+1, len(keys)))
		}
	}
	return nil
}

var errNoObjectStore = errors.New("POSTRIDER_BLOBS: the account has bodies or attachments in an object store, " +
	"which is not configured")

func (e *exporter) readObject(ctx context.Context, key string) ([]byte, error) {
	from, err := e.options.Objects.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(from, maxPart+1))
	if err = errors.Join(err, from.Close()); err == nil && len(content) > maxPart {
		err = fmt.Errorf("the object %s is larger than %d bytes", key, maxPart)
	}
	return content, err
}
