package smtpclient

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	moxdns "github.com/mjl-/mox/dns"

	"github.com/postrider/postrider/runtime/mail/lane"
)

// Limits of one Deliver, similar to other mail servers (Postfix: five addresses, two sessions).
const (
	maxAddresses    = 8
	maxTransactions = 2
)

// Transport delivers messages. It is safe for concurrent use.
type Transport struct {
	cfg      Config
	resolver moxdns.Resolver
	pool     *pool

	noRoutes   *expiringSet[familyKey]
	goneLocals *expiringSet[netip.Addr] // this machine does not have them

	mu         sync.Mutex
	closed     bool
	under      uint64                             // number of deliveries begun, for their keys
	cancels    map[uint64]context.CancelCauseFunc // of those in progress
	deliveries sync.WaitGroup
}

// New validates the configuration and returns a Transport. It does not look up or dial anything yet.
func New(cfg Config) (*Transport, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	return &Transport{
		cfg:        cfg,
		resolver:   cfg.Resolver.SMTP(),
		pool:       newPool(cfg.IdleAge, (*session).quit),
		noRoutes:   newMemory[familyKey](noRouteFor),
		goneLocals: newMemory[netip.Addr](goneLocalFor),
		cancels:    map[uint64]context.CancelCauseFunc{},
	}, nil
}

// Deliver makes one attempt, see the package comment. msg is the message as signed, with CRLF line endings,
// including the last. Cancelling ctx cuts the connection immediately.
func (t *Transport) Deliver(ctx context.Context, env Envelope, msg []byte, beforeFinalDot func() error) Outcome {
	ctx, end, err := t.beginDelivery(ctx)
	if err != nil {
		return newTemporary(PhaseWait, err)
	}
	defer end()
	c, err := newMailRequest(env, msg)
	if err != nil {
		return newFailure(PhaseEnvelope, ReasonPolicy, "%w", err)
	}
	rt, out := t.routeOf(ctx, c)
	if out != nil {
		return *out
	}
	pass, err := t.cfg.Lanes.Enter(ctx, rt.way.Label, c.domain, rt.set)
	if err != nil {
		return newTemporary(PhaseWait, fmt.Errorf("wait for a connection: %w", err))
	}
	d := delivery{t: t, rt: rt, lane: keyOfLane(rt.way, rt.set), pass: pass, c: c, beforeFinalDot: beforeFinalDot}
	result := d.runAttempts(ctx)
	pass.Leave(d.laneFeedback(ctx, result))
	if result.Kind != Delivered {
		t.pool.trimIdle(d.lane, pass.Window()) // the window may have shrunk
	}
	return result
}

// beginDelivery ties a delivery to the lifetime of the transport.
func (t *Transport) beginDelivery(ctx context.Context) (context.Context, func(), error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, nil, ErrClosed
	}
	ctx, cancel := context.WithCancelCause(ctx)
	tooLong := time.AfterFunc(t.cfg.Longest, func() { cancel(ErrTooLong) })
	t.under++
	id := t.under
	t.cancels[id] = cancel
	t.deliveries.Add(1)
	return ctx, func() {
		tooLong.Stop()
		cancel(nil)
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.cancels, id)
		t.deliveries.Done()
	}, nil
}

// Close stops deliveries, closes all connections and waits for both.
func (t *Transport) Close() {
	t.mu.Lock()
	t.closed = true
	for _, cancel := range t.cancels {
		cancel(ErrClosed)
	}
	t.mu.Unlock()
	t.deliveries.Wait()
	t.pool.close()
}

// delivery is one Deliver in progress.
type delivery struct {
	t              *Transport
	rt             route
	lane           laneKey
	pass           *lane.Pass
	c              mailRequest
	beforeFinalDot func() error

	addresses    int // tried
	transactions int // tried
	dialled      bool
	stale        bool // a kept session was dead, so the next one is new
	greeted      bool // by any host
	earlier      *Outcome
}

func (d *delivery) runAttempts(ctx context.Context) Outcome {
	hosts := d.rt.hosts
	if s := d.takeSession(ctx); s != nil {
		out, stale := d.useSession(ctx, s)
		if !stale {
			if d.isFinal(ctx, out) {
				return out
			}
			d.earlier = &out
			hosts = hostsAfter(hosts, s.host)
		}
	}
	for _, host := range hosts {
		out := d.tryHost(ctx, host)
		if d.isFinal(ctx, out) {
			return out
		}
		out = out.orEarlier(d.earlier)
		d.earlier = &out
		if d.transactions >= maxTransactions || d.addresses >= maxAddresses {
			break
		}
	}
	if d.earlier == nil {
		return newTemporary(PhaseDNS, errors.New("no mail host to try"))
	}
	return *d.earlier
}

// takeSession returns a kept session, if it still meets the requirement for its host. TLSA records belong to the
// host and may have been added since it was opened.
func (d *delivery) takeSession(ctx context.Context) *session {
	s := d.t.pool.takeIdle(d.lane, func(s *session) bool { return s.key == d.rt.key })
	if s == nil || !d.rt.secure {
		return s
	}
	if _, demand, out := d.t.resolveHost(ctx, d.rt, s.host); out == nil && demand.demandKey() == s.demand.demandKey() {
		return s
	}
	d.t.pool.retireSession(s)
	return nil
}

// tryHost tries the addresses of a host until one takes part in a transaction.
func (d *delivery) tryHost(ctx context.Context, host target) Outcome {
	addrs, demand, out := d.t.resolveHost(ctx, d.rt, host)
	if out != nil {
		return *out
	}
	var earlier *Outcome
	for _, addr := range addrs {
		out := d.checkTarget(addr)
		if out != nil {
			*out = out.withHost(host, addr.String())
		}
		for out == nil {
			var s *session
			if s, out = d.openSession(ctx, host, addr, demand); out == nil {
				if done, stale := d.useSession(ctx, s); !stale {
					return done
				}
			}
		}
		merged := out.orEarlier(earlier)
		earlier = &merged
		if ctx.Err() != nil || d.addresses >= maxAddresses {
			break
		}
	}
	if earlier == nil {
		return newTemporary(PhaseDNS, fmt.Errorf("mail host %s has no address", host.name)).withHost(host, "")
	}
	return *earlier
}

// checkTarget reports targets that are not worth dialling.
func (d *delivery) checkTarget(addr netip.AddrPort) *Outcome {
	local, ok := d.rt.way.localAddr(addr.Addr())
	if !ok {
		out := newTemporary(PhaseConnect, fmt.Errorf("mail host address %s: %w", addr.Addr(), errNoLocal))
		return &out
	}
	if d.t.goneLocals.isRemembered(local) {
		out := newTemporary(PhaseConnect, fmt.Errorf("mail host address %s: %w", addr.Addr(), ErrAddressGone))
		return &out
	}
	if k, ok := familyKeyOf(addr.Addr(), local); ok && d.t.noRoutes.isRemembered(k) {
		out := newTemporary(PhaseConnect, fmt.Errorf("mail host address %s: %w", addr.Addr(), errNoRoute))
		return &out
	}
	return nil
}

// openSession opens a session. If the lane has no room, it replaces an idle one of another route. One of this route
// that became idle in the meantime is used instead: another delivery may already have the pass for its place.
func (d *delivery) openSession(ctx context.Context, host target, addr netip.AddrPort,
	demand tlsDemand) (*session, *Outcome) {
	kept := d.t.pool.takeIdleOrTrim(d.lane, d.pass.IdleLimit()-1, func(s *session) bool {
		if d.stale || s.key != d.rt.key {
			return false
		}
		if s.host == host {
			return s.demand.demandKey() == demand.demandKey()
		}
		return d.transactions == 0 && !d.rt.secure
	})
	if kept != nil {
		return kept, nil
	}
	d.addresses++
	d.dialled = true
	s, out := d.t.openSession(ctx, d.rt, host, addr, demand)
	d.greeted = d.greeted || out == nil || out.Code != 0 || out.Phase != PhaseConnect && out.Phase != PhaseGreeting
	return s, out
}

// useSession runs the transaction on a session and keeps or closes the session. stale reports that a kept session
// was dead, so nothing was attempted.
func (d *delivery) useSession(ctx context.Context, s *session) (out Outcome, stale bool) {
	stop := context.AfterFunc(ctx, func() { s.wire.Conn.Close() })
	out, p := s.deliverMessage(d.c, d.beforeFinalDot)
	if !stop() {
		s.broken = true
		if out.Err != nil {
			out.Err = fmt.Errorf("%w: %w", context.Cause(ctx), out.Err)
		}
	}
	reused := s.kept
	d.keepSession(s)
	if reused && isDead(out, p) && ctx.Err() == nil {
		d.stale = true
		return out, true
	}
	d.transactions++
	d.greeted = true
	if d.rt.smarthost != nil && (out.Code == 530 || out.Code == 535) {
		out.Kind = Temporary // our credentials are at fault (RFC 4954, 6), not the message
	}
	return out, false
}

// isDead reports whether the server was gone before it accepted anything.
func isDead(out Outcome, p progress) bool {
	if out.Kind != Temporary {
		return false
	}
	return out.Phase == PhaseReset || !p.accepted && (out.Code == 0 || out.Code == 421)
}

// isFinal reports whether no other host could change the result safely.
func (d *delivery) isFinal(ctx context.Context, out Outcome) bool {
	switch {
	case out.Kind == Delivered, out.Kind == Permanent, out.Ambiguous, errors.Is(out.Err, ErrHeldBack), ctx.Err() != nil:
		return true
	case out.Kind == Failed: // because of this host's TLS or address, or because of the message?
		return out.Reason != ReasonTLSRequired && out.Phase != PhaseConnect
	}
	return false
}

func hostsAfter(hosts []target, used target) []target {
	for i, h := range hosts {
		if h == used {
			return hosts[i+1:]
		}
	}
	return hosts
}

func (d *delivery) keepSession(s *session) {
	most := d.pass.Messages()
	if s.ext.mailMax > 0 {
		most = min(most, s.ext.mailMax)
	}
	switch {
	case s.broken || s.r.Buffered() > 0: // it sends unexpected data
		s.cut()
	case s.messages >= most, time.Since(s.opened) >= d.pass.Age():
		d.t.pool.retireSession(s)
	default:
		d.t.pool.parkSession(d.lane, s, d.pass.Window()) // open strictly limits new ones
	}
}
