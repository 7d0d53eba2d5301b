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

// unfitError reports that Postrider cannot use this server.
type unfitError struct{ Reason error }

func (u *unfitError) Error() string { return u.Reason.Error() }

func (u *unfitError) Unwrap() error { return u.Reason }

var (
	errPooler   = errors.New("this is a connection pooler, such as PgBouncer, and not PostgreSQL itself: it resets settings that each connection needs, and ends sessions that hold locks. Connect to the server directly; a process opens at most POSTRIDER_DATABASE_CONNECTIONS connections")
	errCluster  = errors.New("this server belongs to another cluster than the first server (its system identifier differs): all hosts of DATABASE_URL must be in one cluster")
	errTimeline = errors.New("this server was the primary before a failover (its timeline is older than that of another server), and its writes would be lost: make it a standby of the new primary, or remove it")
)

// fitness checks the server of each new connection, because it may be another server after a failover. It
// is safe for concurrent use.
type fitness struct {
	primary      *fitness // for replicas: the fitness of the server that they must follow; nil otherwise
	riskAccepted bool
	standbys     int // that must have a commit
	share        *capacity.Share
	log          *slog.Logger

	mutex    sync.Mutex
	cluster  string // the system identifier of the first server; empty if unknown
	timeline string // the newest timeline seen so far, which increases with each failover; empty if unknown
	hidden   bool   // the server does not reveal them
	told     string // the last message logged
}

// A disposable server of the tests declares, with a setting that no real server has, that its data may be
// lost.
const (
	fitnessSQL = `SELECT current_setting('server_version_num'), current_setting('server_version'), current_setting('fsync'), current_setting('synchronous_commit'),
	current_setting('synchronous_standby_names'), coalesce(current_setting('postrider.throw_away_test_server', true), ''), current_setting('enable_seqscan'), ` + roomSQL + `
FROM pg_roles r, pg_database d WHERE r.rolname = session_user AND d.datname = current_database()`
	// roomSQL computes how many connections the server, the role and the database allow together. The
	// limits of role and database do not apply to superusers.
	roomSQL = `least(current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int - coalesce(current_setting('reserved_connections', true), '0')::int,
	CASE WHEN NOT rolsuper AND rolconnlimit >= 0 THEN rolconnlimit END, CASE WHEN NOT rolsuper AND datconnlimit >= 0 THEN datconnlimit END)::text`
	timelineSQL = `substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) COLLATE "C"` // fails on a standby
)

// checkServer rejects a server that cannot keep Postrider's guarantees, and returns its identity. index says that
// the connection was opened with a setting that prefers index scans.
func (f *fitness) checkServer(ctx context.Context, conn driver.Conn, index bool) (who failover.Identity, err error) {
	if f.primary != nil {
		return who, f.checkStandby(ctx, conn)
	}
	said, err := failover.Row(ctx, conn, fitnessSQL)
	if err != nil {
		return who, fmt.Errorf("query the server settings: %w", err)
	}
	found := durability{text: said[1], fsync: said[2], commit: said[3], standbys: said[4], throwAway: said[5]}
	var room int
	if _, err := fmt.Sscan(said[0]+" "+said[7], &found.version, &room); err != nil {
		return who, fmt.Errorf("query the server's version and connection limits: %w", err)
	}
	if f.share != nil {
		f.share.SetRoom(room)
	}
	reason := found.checkSettings(f.riskAccepted, f.standbys)
	if index && said[6] != "off" {
		reason = errPooler
	}
	if reason == nil {
		who, reason, err = f.sameCluster(ctx, conn)
	}
	if err != nil || reason == nil {
		return who, err
	}
	return who, f.refuseServer(reason)
}

// refuseServer returns an error that callers treat as an unavailable database, and logs it once.
func (f *fitness) refuseServer(reason error) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.told != reason.Error() && f.cluster != "" { // at startup the error is reported otherwise
		f.told = reason.Error()
		f.log.Error("the database cannot be used", "error", reason)
	}
	return newUnfitError(reason)
}

func newUnfitError(reason error) error { return notConnected(&unfitError{reason}) }

// notConnected wraps an error so that callers treat it as an unavailable database: a failure to connect is
// never the fault of the statement that needs the connection.
func notConnected(err error) error { return &net.OpError{Op: "connect", Net: "postgres", Err: err} }

// checkStandby rejects a server that is not a standby of the primary's cluster. Each read checks its progress
// and timeline (package replica).
func (f *fitness) checkStandby(ctx context.Context, conn driver.Conn) error {
	said, err := failover.Row(ctx, conn, `SELECT system_identifier::text, pg_is_in_recovery()::text FROM pg_control_system()`)
	if err != nil {
		return fmt.Errorf("query the identity of the replica: %w", err)
	}
	switch cluster := f.primary.System(); {
	case cluster == "":
		return newUnfitError(errors.New("the primary does not reveal its cluster (pg_control_system), so it is unknown whether this server follows it"))
	case said[0] != cluster:
		return newUnfitError(errors.New("this is the server of another cluster than the primary (its system " +
			"identifier differs): use a standby of DATABASE_URL"))
	case said[1] != "true":
		return newUnfitError(errors.New("this server accepts writes: it is not a standby, or was promoted"))
	}
	return nil
}

var _ failover.Cluster = (*fitness)(nil)

// System returns the system identifier of the cluster in use, or "" if it is unknown.
func (f *fitness) System() string {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.cluster
}

// sameCluster remembers the cluster of the first server and rejects others.
func (f *fitness) sameCluster(ctx context.Context, conn driver.Conn) (who failover.Identity, reason, err error) {
	f.mutex.Lock()
	hidden := f.hidden
	f.mutex.Unlock()
	if hidden {
		return who, nil, nil
	}
	who, err = failover.ReadIdentity(ctx, conn) // not under the mutex: it may take as long as an operation
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

// isOld reports whether a server is a primary from before a failover. The caller holds mutex.
func (f *fitness) isOld(who failover.Identity) bool { return !who.Standby && who.Timeline < f.timeline }

// Learn records the newest timeline of the cluster.
func (f *fitness) Learn(timeline string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.timeline = max(f.timeline, timeline)
}

// refuseOld rejects a server that is a primary from before a failover.
func (f *fitness) refuseOld(who failover.Identity) error {
	f.mutex.Lock()
	old := f.isOld(who)
	f.mutex.Unlock()
	if old {
		return f.refuseServer(errTimeline)
	}
	return nil
}

// claim is a query that divides by zero on an unfit server. The listening connection cannot read rows.
type claim struct {
	query  string
	reason error
}

// listenerClaims returns the conditions for the server of the listening connection: it must be the one that
// the pools use. The other fitness checks concern storing data.
func (f *fitness) listenerClaims() (all []claim) {
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

// judgeResult returns the reason why the server is unfit, or the error of a query that could not be evaluated.
func (c claim) judgeResult(err error) error {
	var server *pq.Error
	if errors.As(err, &server) && server.Code == "22012" { // division_by_zero
		return c.reason
	}
	return err
}

// explainOpenError explains why a connection could not be opened, if the reason is known better than from the
// driver's error.
func (f *fitness) explainOpenError(err error) error {
	if err != nil && strings.Contains(err.Error(), "unsupported startup parameter") {
		return f.refuseServer(errPooler)
	}
	return err
}

// persistentReason returns the reason for a refusal that persists until an operator acts, so that a start
// does not wait for it to pass.
func persistentReason(err error, hosts int) error {
	var unfit *unfitError
	var refused *net.OpError
	switch {
	// which passes once the new primary is available
	case errors.As(err, &unfit) && !errors.Is(unfit.Reason, errTimeline):
		return unfit.Reason
	case hosts == 1 && errors.As(err, &refused) && refused.Op == "connect" && !fault.IsDatabaseUnavailable(refused.Err):
		return refused.Err
	}
	return err
}

// durability is the set of durability settings of a server.
type durability struct {
	version                                  int // for example 150018
	text, fsync, commit, standbys, throwAway string
}

func (d durability) checkSettings(riskAccepted bool, standbys int) error {
	var errs []error
	if d.version < oldestServer {
		errs = append(errs, fmt.Errorf("the server is PostgreSQL %s; Postrider requires 14 or newer", d.text))
	}
	if d.fsync != "on" && d.throwAway != "yes" {
		errs = append(errs,
			errors.New("the server runs with fsync=off: a crash would destroy accepted mail; set fsync=on"))
	}
	if !IsDurable(d.commit, d.standbys) && !riskAccepted {
		loses := "a crash"
		if d.commit != "off" {
			loses = "a failover to one of its synchronous standbys"
		}
		errs = append(errs,
			fmt.Errorf("the server runs with synchronous_commit=%s: %s would lose accepted mail; set it to on, or accept the risk (POSTRIDER_UNSAFE_MAY_LOSE_ACCEPTED_MAIL=true)", d.commit, loses))
	}
	if n := waitsFor(d.commit, d.standbys); n < standbys {
		errs = append(errs,
			fmt.Errorf("a commit waits for %d standbys on this server (synchronous_commit=%s, "+
				"synchronous_standby_names='%s'), but POSTRIDER_DATABASE_STANDBYS "+
				"requires %d", n, d.commit, d.standbys, standbys))
	}
	return errors.Join(errs...)
}

// IsDurable reports whether confirmed data survives a crash and a failover, given the settings
// synchronous_commit and synchronous_standby_names.
func IsDurable(commit, standbys string) bool {
	switch commit {
	case "off":
		return false
	case "local", "remote_write": // a standby may not have flushed it to disk
		return standbys == ""
	}
	return true
}
