package db

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"

	"github.com/lib/pq"
)

// AskHosts asks every host that the address names, on connections of their own, and tells of each as host:port
// which cluster it is, by its system identifier, and whether it is a standby; or why it cannot even be that. It gives
// the cluster that the pools use. Empty is one that does not tell.
func (d *DB) AskHosts(ctx context.Context, tell func(host, cluster string, standby bool, err error)) (cluster string, err error) {
	dsn, err := d.config.dsn(parameter{"connect_timeout", strconv.Itoa(max(1, int(d.config.OpTimeout.Seconds())))})
	if err != nil {
		return "", err
	}
	given, err := pq.NewConfig(dsn)
	if err != nil {
		return "", err
	}
	all, errs := make([]fitness, len(d.hosts.all)), make([]error, len(d.hosts.all))
	var asked sync.WaitGroup
	for i := range all {
		all[i].riskAccepted, all[i].log = true, slog.New(slog.DiscardHandler)
		asked.Go(func() {
			to := connector{config: given, hosts: d.hosts, dialer: &dialer{timeout: d.config.OpTimeout}, fitness: &all[i]}
			conn, err := to.connect(ctx, ctx, i, pq.TargetSessionAttrsAny)
			if err == nil {
				err = conn.Close()
			}
			errs[i] = err
		})
	}
	asked.Wait()
	for i, host := range d.hosts.all {
		tell(net.JoinHostPort(host.Host, strconv.Itoa(int(host.Port))), all[i].cluster, !all[i].hidden && all[i].timeline == "", errs[i])
	}
	d.fitness.mutex.Lock()
	defer d.fitness.mutex.Unlock()
	return d.fitness.cluster, nil
}

// MayFill refuses to have tables made in a database without any, where the address names several hosts and not
// all of them answer as one cluster: this one may be a stranger's, and the mail on a host that is away. The error of
// a host that does not answer is part of the refusal.
func (d *DB) MayFill(ctx context.Context) error {
	if len(d.hosts.all) < 2 {
		return nil
	}
	made, err := d.HasTables(ctx)
	if err != nil || made {
		return err
	}
	const remedy = "Bring it back, or take it out of the address. For a new installation, run `postrider migrate` once with an address that names the primary alone"
	var refused []error
	first, of := "", ""
	_, err = d.AskHosts(ctx, func(host, cluster string, _ bool, err error) {
		switch {
		case err != nil:
			refused = append(refused, fmt.Errorf("the database that answers has no tables of Postrider, and none were made, because another host may have the mail: it cannot be asked (%w). %s", err, remedy))
		case cluster == "":
		case first == "":
			first, of = cluster, host
		case cluster != first:
			refused = append(refused, fmt.Errorf("the database that answers has no tables of Postrider, and none were made, because the hosts are of different clusters: %s and %s differ in their system identifier. Take out the wrong one", of, host))
		}
	})
	return errors.Join(err, errors.Join(refused...))
}
