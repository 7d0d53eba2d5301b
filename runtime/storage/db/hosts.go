package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/storage/db/failover"
)

// newSurvey returns a survey of the hosts in the address, which uses separate connections.
func (d *DB) newSurvey(patience time.Duration) (*failover.Survey, error) {
	c, err := d.newConnector(d.config, &dialer{timeout: patience})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(d.hosts.all))
	for i := range names {
		names[i] = d.hosts.hostName(i)
	}
	return failover.NewSurvey(names, patience, func(ctx context.Context, host int) (driver.Conn, error) {
		to := c
		to.dialer = &dialer{timeout: patience} // independent of the stalls of other connections
		conn, _, err := to.dialHost(ctx, ctx, host, pq.TargetSessionAttrsAny)
		return conn, err
	}), nil
}

// newWatch starts watching the hosts. A host may be silent for as long as its head start when connections
// are opened.
func (d *DB) newWatch() (*failover.Watch, error) {
	survey, err := d.newSurvey(d.config.OpTimeout / 4)
	if err != nil {
		return nil, err
	}
	return failover.NewWatch(survey, d.fitness, func() int { return int(d.hosts.last.Load()) }, d.log), nil
}

// AskHosts queries every host in the address, on its own connections, and returns their results and the
// system identifier of the cluster that the pools use, which is empty if unknown.
func (d *DB) AskHosts(ctx context.Context) (all []failover.Sighting, system string, err error) {
	survey, err := d.newSurvey(d.config.OpTimeout)
	if err != nil {
		return nil, "", err
	}
	defer survey.Close()
	return survey.Refresh(ctx, time.Now(), -1), d.fitness.System(), nil
}

// HostInUse returns the connection string of the one host of an address that a process would use. It is for
// programs that cannot determine this: PostgreSQL's own programs use the first host that responds.
func HostInUse(ctx context.Context, url string) (string, error) {
	given, err := pq.NewConfig(url)
	if err != nil || len(given.Multi) == 0 {
		return url, nil //nolint:nilerr // the user of the URL reports the error
	}
	d, err := Open(ctx, Config{URL: url, RiskLosingAcceptedMail: true}, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", err
	}
	return d.hosts.hostAddresses(url)[0], d.Close()
}

// CheckMayCreate returns an error before tables are created in an empty database if the address contains
// several hosts and not all of them respond as one cluster: this one may be a different database, while the
// mail is on an unavailable host. The error includes the errors of hosts that do not respond.
func (d *DB) CheckMayCreate(ctx context.Context) error {
	if len(d.hosts.all) < 2 {
		return nil
	}
	made, err := d.HasTables(ctx)
	if err != nil || made {
		return err
	}
	const remedy = "Restore it, or remove it from the address. For a new installation, run `postrider migrate` " +
		"once with an address that contains only the primary"
	all, _, err := d.AskHosts(ctx)
	var refused []error
	first, of := "", ""
	for _, host := range all {
		switch {
		case errors.Is(host.Err, failover.ErrHidden):
		case host.Err != nil:
			refused = append(refused,
				fmt.Errorf("the responding database has no Postrider tables, and none were created, because "+
					"another host may have the mail: %s cannot be reached (%w). %s", host.Host, host.Err, remedy))
		case first == "":
			first, of = host.System, host.Host
		case host.System != first:
			refused = append(refused,
				fmt.Errorf("the responding database has no Postrider tables, and none were created, because the "+
					"hosts belong to different clusters: %s and %s have different system identifiers. Remove the "+
					"wrong one", of, host.Host))
		}
	}
	return errors.Join(err, errors.Join(refused...))
}
