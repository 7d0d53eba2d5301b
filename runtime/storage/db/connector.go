package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/storage/db/capacity"
	"github.com/postrider/postrider/runtime/storage/db/failover"
)

// errStalled is returned immediately while the server does not respond.
var errStalled = &net.OpError{Op: "dial", Net: "postgres", Err: errors.New("the server does not respond")}

// hosts are the servers in the address: one cluster, with one writable server.
type hosts struct {
	all    []pq.ConfigMultihost
	random bool         // load_balance_hosts=random
	last   atomic.Int64 // index of the host used last
}

func hostsOf(given pq.Config) *hosts {
	first := pq.ConfigMultihost{Host: given.Host, Hostaddr: given.Hostaddr, Port: given.Port}
	return &hosts{all: append([]pq.ConfigMultihost{first}, given.Multi...),
		random: given.LoadBalanceHosts == pq.LoadBalanceHostsRandom}
}

// hostName returns the host:port of a host.
func (h *hosts) hostName(host int) string {
	return net.JoinHostPort(h.all[host].Host, strconv.Itoa(int(h.all[host].Port)))
}

// tryOrder returns the indexes of all hosts, the last one used first.
func (h *hosts) tryOrder() []int {
	if h.random {
		return rand.Perm(len(h.all))
	}
	last := int(h.last.Load())
	order := []int{last}
	for i := range h.all {
		if i != last {
			order = append(order, i)
		}
	}
	return order
}

// hostAddresses returns one connection string per host, in order. A string that cannot be split is returned
// unchanged; the driver then tries its hosts.
func (h *hosts) hostAddresses(dsn string) []string {
	if len(h.all) == 1 {
		return []string{dsn}
	}
	var addresses []string
	for _, i := range h.tryOrder() {
		address := []parameter{{"host", h.all[i].Host}, {"port", strconv.Itoa(int(h.all[i].Port))}}
		if h.all[i].Hostaddr.IsValid() {
			address = append(address, parameter{"hostaddr", h.all[i].Hostaddr.String()})
		} else if h.all[0].Hostaddr.IsValid() {
			return []string{dsn} // lib/pq cannot remove an address
		}
		one, err := replaceParameters(dsn, address)
		if err != nil {
			return []string{dsn}
		}
		addresses = append(addresses, one)
	}
	return addresses
}

// connector opens the connections of a pool.
type connector struct {
	config  pq.Config
	hosts   *hosts
	dialer  *dialer
	fitness *fitness
	index   bool            // its connections prefer index scans
	pool    *capacity.Pool  // nil: a fixed number of connections
	watch   *failover.Watch // nil if there is only one host
}

// Driver implements driver.Connector.
func (c connector) Driver() driver.Driver { return &pq.Driver{} }

// Connect opens a connection to a suitable server, or fails immediately if the last attempt was just now.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	if !c.dialer.mayConnect() {
		return nil, errStalled
	}
	if c.pool == nil {
		return c.findServer(ctx)
	}
	conn, err := c.pool.Open(ctx, c.findServer)
	if capacity.IsRefusal(err) {
		c.dialer.recordResult(err) // later callers need not wait as long
	}
	return conn, err
}

// findServer connects to a server of the wanted kind.
func (c connector) findServer(ctx context.Context) (driver.Conn, error) {
	if c.watch != nil {
		if err := c.watch.Refuse(ctx); err != nil {
			return nil, notConnected(err)
		}
	}
	wanted := c.config.TargetSessionAttrs
	if wanted == pq.TargetSessionAttrsPreferStandby {
		if conn, err := c.raceHosts(ctx, pq.TargetSessionAttrsStandby); err == nil {
			return conn, nil
		}
		wanted = pq.TargetSessionAttrsAny
	}
	return c.raceHosts(ctx, wanted)
}

// raceHosts tries the hosts one after the other. Each gets a head start; a host that has not responded by then
// is tried further in parallel with the next. The first fit host wins, and the other attempts are
// cancelled.
func (c connector) raceHosts(ctx context.Context, wanted pq.TargetSessionAttrs) (driver.Conn, error) {
	dialling, stop := context.WithCancel(ctx)
	defer stop()
	// As with lib/pq, a handshake that has begun does not depend on the caller: an unresponsive server must
	// be detected, however short the callers' deadlines are.
	over, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	type result struct {
		conn driver.Conn
		err  error
	}
	var won atomic.Bool
	order := c.hosts.tryOrder()
	ended := make(chan result, len(order))
	try := func(host int) {
		conn, err := c.connectHost(dialling, over, host, wanted)
		switch {
		case err == nil && !won.CompareAndSwap(false, true):
			_ = conn.Close() // another host was faster
			return
		case err == nil:
			c.hosts.last.Store(int64(host))
		}
		ended <- result{conn, err}
	}
	var errs []error
	began := time.Now()
	for begun := 0; ; {
		var next <-chan time.Time
		if begun < len(order) {
			go try(order[begun])
			if begun++; begun < len(order) {
				next = time.After(c.dialer.operationTimeout() / time.Duration(2*len(order)))
			}
		}
		select {
		case r := <-ended:
			if r.err == nil {
				c.dialer.recordResult(nil)
				return r.conn, nil
			}
			if errs = append(errs, r.err); len(errs) == len(order) {
				err := notConnected(errors.Join(errs...))
				// If the caller had no time left, the failure says nothing about the database.
				if ctx.Err() == nil || time.Since(began) >= c.dialer.timeout/4 {
					c.dialer.recordResult(err)
				}
				return nil, err
			}
		case <-next:
		}
	}
}

// connectHost opens a connection to one host, if it may be used. over is cancelled when another host was
// faster.
func (c connector) connectHost(ctx, over context.Context, host int, wanted pq.TargetSessionAttrs) (driver.Conn, error) {
	conn, try, err := c.dialHost(ctx, over, host, wanted)
	if err == nil {
		var who failover.Identity
		if who, err = c.fitness.checkServer(ctx, conn, c.index); err == nil && c.watch != nil {
			if err = c.watch.Admit(ctx, host, who); err == nil {
				err = c.fitness.refuseOld(who)
			}
		}
		if err != nil {
			err = errors.Join(err, conn.Close())
		}
	}
	if err != nil && len(c.hosts.all) > 1 {
		err = fmt.Errorf("%s: %w", c.hosts.hostName(host), err)
	}
	if err != nil {
		return nil, err
	}
	try.passed.Store(true)
	if c.watch != nil {
		return c.watch.Guard(conn)
	}
	return conn, nil
}

// dialHost opens a connection to one host without checking it.
func (c connector) dialHost(ctx, over context.Context, host int,
	wanted pq.TargetSessionAttrs) (driver.Conn, *trial, error) {
	to, config := c.hosts.all[host], c.config.Clone()
	config.Host, config.Hostaddr, config.Port, config.Multi = to.Host, to.Hostaddr, to.Port, nil
	config.TargetSessionAttrs = wanted
	plain, err := pq.NewConnectorConfig(config)
	if err != nil {
		return nil, nil, err
	}
	try := &trial{dialer: c.dialer, over: over}
	plain.Dialer(try)
	conn, err := plain.Connect(ctx)
	if err != nil {
		return nil, nil, c.fitness.explainOpenError(err)
	}
	return conn, try, nil
}
