package db

import (
	"context"
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
