package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db/capacity"
	"github.com/postrider/postrider/runtime/storage/db/failover"
)

const oldestServer = 140000 // server_version_num

// unfitError is of a server that Postrider does not work with.
type unfitError struct{ Reason error }

func (u *unfitError) Error() string { return u.Reason.Error() }

func (u *unfitError) Unwrap() error { return u.Reason }

var (
	errPooler   = errors.New("this is a connection pooler, as PgBouncer, and not PostgreSQL itself: it takes away settings that each connection needs, and sessions with locks. Name the server; a process opens no more connections than POSTRIDER_DATABASE_CONNECTIONS says")
	errCluster  = errors.New("this is the server of another database than the one that was met first (its system identifier differs): the hosts of DATABASE_URL have to be one cluster")
	errTimeline = errors.New("this server was the primary before a fail-over (its timeline is older than that of another server), and what it takes would be lost: make it a standby of the new primary, or take it away")
)

// fitness looks at the server of each new connection: after a fail-over it is another one. Safe for
// concurrent use.
type fitness struct {
	primary      *fitness // nil, but at replicas: of the server that they have to follow
	riskAccepted bool
	standbys     int // that a commit has to wait for
	share        *capacity.Share
	log          *slog.Logger

	mutex    sync.Mutex
	cluster  string // the system identifier of the server that was met first; empty: not known
	timeline string // the newest that was met, which goes up with each fail-over; empty: not known
	hidden   bool   // the server does not tell them
	told     string // what was logged last
}

// A throw-away server of the tests says of itself, by a setting that no real
// server has, that nobody minds losing its data.
const (
	fitnessSQL = `SELECT current_setting('server_version_num'), current_setting('server_version'), current_setting('fsync'), current_setting('synchronous_commit'),
	current_setting('synchronous_standby_names'), coalesce(current_setting('postrider.throw_away_test_server', true), ''), current_setting('enable_seqscan'), ` + roomSQL + `
FROM pg_roles r, pg_database d WHERE r.rolname = session_user AND d.datname = current_database()`
	// roomSQL is how many connections the server, the role and the database allow together. Limits of the last two do
	// not hold for superusers.
	roomSQL = `least(current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int - coalesce(current_setting('reserved_connections', true), '0')::int,
	CASE WHEN NOT rolsuper AND rolconnlimit >= 0 THEN rolconnlimit END, CASE WHEN NOT rolsuper AND datconnlimit >= 0 THEN datconnlimit END)::text`
	timelineSQL = `substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) COLLATE "C"` // not on a standby
)

// check refuses a server that Postrider's promises cannot stand on, and returns who it is. index says that the
// connection was opened with a setting that keeps statements to indexes.
func (f *fitness) check(ctx context.Context, conn driver.Conn, index bool) (who failover.Identity, err error) {
	if f.primary != nil {
		return who, f.follows(ctx, conn)
	}
	said, err := failover.Row(ctx, conn, fitnessSQL)
	if err != nil {
		return who, fmt.Errorf("ask the server for its settings: %w", err)
	}
	found := durability{text: said[1], fsync: said[2], commit: said[3], standbys: said[4], throwAway: said[5]}
	var room int
	if _, err := fmt.Sscan(said[0]+" "+said[7], &found.version, &room); err != nil {
		return who, fmt.Errorf("the server's version and room: %w", err)
	}
	if f.share != nil {
		f.share.SetRoom(room)
	}
	reason := found.judge(f.riskAccepted, f.standbys)
	if index && said[6] != "off" {
		reason = errPooler
	}
	if reason == nil {
		who, reason, err = f.sameCluster(ctx, conn)
	}
	if err != nil || reason == nil {
		return who, err
	}
	return who, f.refuse(reason)
}

// refuse makes a refusal that callers take for a database that is away, and logs it once.
func (f *fitness) refuse(reason error) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.told != reason.Error() && f.cluster != "" { // at the start it is said otherwise
		f.told = reason.Error()
		f.log.Error("the database cannot be used", "error", reason)
	}
	return unfit(reason)
}

func unfit(reason error) error { return notConnected(&unfitError{reason}) }

// notConnected makes an error that callers take for a database that is away: whatever keeps a connection from being
// opened is no fault of the statement that needs one.
func notConnected(err error) error { return &net.OpError{Op: "connect", Net: "postgres", Err: err} }

// follows refuses a server that is no standby of the primary's cluster. How far it is, and on which timeline,
// each read looks at (package replica).
func (f *fitness) follows(ctx context.Context, conn driver.Conn) error {
	said, err := failover.Row(ctx, conn, `SELECT system_identifier::text, pg_is_in_recovery()::text FROM pg_control_system()`)
	if err != nil {
		return fmt.Errorf("ask the replica which one it is: %w", err)
	}
	switch cluster := f.primary.System(); {
	case cluster == "":
		return unfit(errors.New("the primary does not tell which cluster it is (pg_control_system), so nobody knows whether this server follows it"))
	case said[0] != cluster:
		return unfit(errors.New("this is the server of another cluster than the primary (its system identifier differs): name a standby of DATABASE_URL"))
	case said[1] != "true":
		return unfit(errors.New("this server takes writes: it is no standby, or was promoted"))
	}
	return nil
}

var _ failover.Cluster = (*fitness)(nil)

// System returns the system identifier of the cluster whose servers are used; empty: it is not known.
func (f *fitness) System() string {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.cluster
}

// sameCluster remembers whose data the first server has.
func (f *fitness) sameCluster(ctx context.Context, conn driver.Conn) (who failover.Identity, reason, err error) {
	f.mutex.Lock()
	hidden := f.hidden
	f.mutex.Unlock()
	if hidden {
		return who, nil, nil
	}
	who, err = failover.Ask(ctx, conn) // not under the mutex: it may take as long as an operation
	f.mutex.Lock()
	defer f.mutex.Unlock()
	switch {
	case errors.Is(err, failover.ErrHidden):
		f.hidden = true
		return who, nil, nil
	case err != nil:
		return who, nil, err
	case f.cluster != "" && f.cluster != who.System:
		return who, errCluster, nil
	case f.isOld(who):
		return who, errTimeline, nil
	}
	f.cluster, f.timeline = who.System, max(f.timeline, who.Timeline)
	return who, nil, nil
}

// isOld reports whether a server is a primary from before a fail-over. The caller holds mutex.
func (f *fitness) isOld(who failover.Identity) bool { return !who.Standby && who.Timeline < f.timeline }

// Learn notes the newest timeline of the cluster.
func (f *fitness) Learn(timeline string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.timeline = max(f.timeline, timeline)
}

// refuseOld refuses a server that is a primary from before a fail-over.
func (f *fitness) refuseOld(who failover.Identity) error {
	f.mutex.Lock()
	old := f.isOld(who)
	f.mutex.Unlock()
	if old {
		return f.refuse(errTimeline)
	}
	return nil
}

// claim is a query that divides by zero on a server that is not fit. The connection that listens
// cannot read rows.
type claim struct {
	query  string
	reason error
}

// claims are what has to hold of the server of the connection that listens: that is the one that the
// pools use. What else makes a server fit is about what it stores.
func (f *fitness) claims() (all []claim) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	const divide = `SELECT 1 / count(*)::int FROM pg_control_system() WHERE `
	if f.cluster != "" {
		all = append(all, claim{divide + `system_identifier::text = ` + pq.QuoteLiteral(f.cluster), errCluster})
	}
	if f.timeline != "" {
		all = append(all, claim{divide + timelineSQL + ` >= ` + pq.QuoteLiteral(f.timeline), errTimeline})
	}
	return all
}

// judge gives the reason why the server is not fit, or the error of a query that did not get so far.
func (c claim) judge(err error) error {
	var server *pq.Error
	if errors.As(err, &server) && server.Code == "22012" { // division_by_zero
		return c.reason
	}
	return err
}

// opened says why a connection could not be opened, where that is known better than by the driver.
func (f *fitness) opened(err error) error {
	if err != nil && strings.Contains(err.Error(), "unsupported startup parameter") {
		return f.refuse(errPooler)
	}
	return err
}

// plainly returns the reason for a refusal that stays until somebody changes something: a start need not wait for that.
func plainly(err error, hosts int) error {
	var unfit *unfitError
	var refused *net.OpError
	switch {
	case errors.As(err, &unfit) && unfit.Reason != errTimeline: // which is over when the new primary is back
		return unfit.Reason
	case hosts == 1 && errors.As(err, &refused) && refused.Op == "connect" && !fault.IsDatabaseAway(refused.Err):
		return refused.Err
	}
	return err
}

// durability is what a server says of itself.
type durability struct {
	version                                  int // as 150018
	text, fsync, commit, standbys, throwAway string
}

func (d durability) judge(riskAccepted bool, standbys int) error {
	var errs []error
	if d.version < oldestServer {
		errs = append(errs, fmt.Errorf("the server is PostgreSQL %s; Postrider needs 14 or newer", d.text))
	}
	if d.fsync != "on" && d.throwAway != "yes" {
		errs = append(errs, errors.New("the server runs with fsync=off: a crash would destroy accepted mail; set fsync=on"))
	}
	if !Keeps(d.commit, d.standbys) && !riskAccepted {
		loses := "a crash"
		if d.commit != "off" {
			loses = "a fail-over to one of its synchronous standbys"
		}
		errs = append(errs, fmt.Errorf("the server runs with synchronous_commit=%s: %s would lose accepted mail; set it to on, or accept the risk (POSTRIDER_UNSAFE_MAY_LOSE_ACCEPTED_MAIL=true)", d.commit, loses))
	}
	if n := waitsFor(d.commit, d.standbys); n < standbys {
		errs = append(errs, fmt.Errorf("a commit waits for %d standbys on this server (synchronous_commit=%s, synchronous_standby_names='%s'), and POSTRIDER_DATABASE_STANDBYS asks for %d", n, d.commit, d.standbys, standbys))
	}
	return errors.Join(errs...)
}

// Keeps tells whether what a server confirms outlives a crash and a fail-over, by its settings
// synchronous_commit and synchronous_standby_names.
func Keeps(commit, standbys string) bool {
	switch commit {
	case "off":
		return false
	case "local", "remote_write": // a standby may not have it on its disk
		return standbys == ""
	}
	return true
}
