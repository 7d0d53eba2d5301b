package db

import (
	"context"
	"log/slog"
	"net"
	"strconv"
	"sync"

	"github.com/lib/pq"
)

// HostState is what a host of the address says of itself.
type HostState struct {
	Host    string // host:port
	Cluster string // the system identifier; empty: it does not tell
	Standby bool
	Err     error // it cannot be used, not even as a standby
}

// AskHosts asks every host that the address names, on connections of their own, and tells which cluster the
// pools use; empty: their server does not tell.
func (d *DB) AskHosts(ctx context.Context) (all []HostState, cluster string, err error) {
	dsn, err := d.config.dsn(parameter{"connect_timeout", strconv.Itoa(max(1, int(d.config.OpTimeout.Seconds())))})
	if err != nil {
		return nil, "", err
	}
	given, err := pq.NewConfig(dsn)
	if err != nil {
		return nil, "", err
	}
	all = make([]HostState, len(d.hosts.all))
	var asked sync.WaitGroup
	for i, host := range d.hosts.all {
		asked.Go(func() {
			own := &fitness{riskAccepted: true, log: slog.New(slog.DiscardHandler)}
			to := connector{config: given, hosts: d.hosts, dialer: &dialer{timeout: d.config.OpTimeout}, fitness: own}
			conn, err := to.connect(ctx, ctx, i, pq.TargetSessionAttrsAny)
			if err == nil {
				err = conn.Close()
			}
			all[i] = HostState{Host: net.JoinHostPort(host.Host, strconv.Itoa(int(host.Port))), Cluster: own.cluster, Standby: !own.hidden && own.timeline == "", Err: err}
		})
	}
	asked.Wait()
	d.fitness.mutex.Lock()
	defer d.fitness.mutex.Unlock()
	return all, d.fitness.cluster, nil
}
