package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

const oldestServer = 140000 // server_version_num

// checkServer refuses a server that Postrider's promises cannot stand on.
//
// A throw-away server of the tests says of itself, by a setting that no real
// server has, that nobody minds losing its data.
func checkServer(ctx context.Context, handle *sql.DB, config Config) error {
	var found durability
	row := handle.QueryRowContext(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_version'),
		current_setting('fsync'), current_setting('synchronous_commit'),
		coalesce(current_setting('postrider.throw_away_test_server', true), '')`)
	if err := row.Scan(&found.version, &found.text, &found.fsync, &found.commit, &found.throwAway); err != nil {
		return fmt.Errorf("ask the server for its settings: %w", err)
	}
	return found.judge(config.RiskLosingAcceptedMail)
}

// durability is what a server says of itself.
type durability struct {
	version                        int // as 150018
	text, fsync, commit, throwAway string
}

func (d durability) judge(riskAccepted bool) error {
	var errs []error
	if d.version < oldestServer {
		errs = append(errs, fmt.Errorf("the server is PostgreSQL %s; Postrider needs 14 or newer", d.text))
	}
	if d.fsync != "on" && d.throwAway != "yes" {
		errs = append(errs, errors.New("the server runs with fsync=off: a crash would destroy accepted mail; set fsync=on"))
	}
	if d.commit == "off" && !riskAccepted {
		errs = append(errs, errors.New("the server runs with synchronous_commit=off: a crash would lose accepted mail; set it to on, or accept the risk (POSTRIDER_UNSAFE_MAY_LOSE_ACCEPTED_MAIL=true)"))
	}
	return errors.Join(errs...)
}
