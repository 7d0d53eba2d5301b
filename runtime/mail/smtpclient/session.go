package smtpclient

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"

	moxdns "github.com/mjl-/mox/dns"
	mox "github.com/mjl-/mox/smtpclient"
)

// session is an open connection after EHLO. One goroutine uses it at a time.
type session struct {
	host target
	key  routeKey
	addr string // the remote address
	tls  string // "TLS 1.3", or empty

	demand tlsDemand // under which it was opened

	wire *wire
	conn net.Conn // wire, or TLS over it
	r    *bufio.Reader
	w    *bufio.Writer
	ext  extensions

	timeouts  Timeouts
	opened    time.Time
	messages  int  // transactions started
	needReset bool // the last transaction was aborted in an orderly way
	broken    bool // nothing more may be sent
	kept      bool // it was idle in the pool, where it may have died
	expiry    *time.Timer
}

// refusedTargetError marks a refusal of Config.Control among dial errors.
type refusedTargetError struct{ error }

func (e refusedTargetError) Unwrap() error { return e.error }

// dialAddress connects to one address of a host.
func (t *Transport) dialAddress(ctx context.Context, rt route, addr netip.AddrPort) (net.Conn, *Outcome) {
	dialer := net.Dialer{Timeout: t.cfg.Timeouts.Connect}
	local, _ := rt.way.localAddr(addr.Addr())
	if local.IsValid() {
		dialer.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(local, 0))
	}
	if rt.smarthost == nil {
		dialer.Control = func(network, address string, c syscall.RawConn) error {
			if err := t.cfg.Control(network, address, c); err != nil {
				return refusedTargetError{err}
			}
			return nil
		}
	}
	conn, err := dialer.DialContext(ctx, "tcp", addr.String())
	if err == nil {
		return conn, nil
	}
	var refused refusedTargetError
	if errors.As(err, &refused) {
		out := newFailure(PhaseConnect, ReasonPolicy, "mail host address refused: %w", refused.error)
		return nil, &out
	}
	if local.IsValid() && errors.Is(err, syscall.EADDRNOTAVAIL) {
		t.goneLocals.remember(local)
		out := newTemporary(PhaseConnect, fmt.Errorf("%w: %w", ErrAddressGone, err))
		return nil, &out
	}
	if k, ok := familyKeyOf(addr.Addr(), local); ok && noRoute(err) {
		t.noRoutes.remember(k)
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	out := newTemporary(PhaseConnect, err)
	return nil, &out
}

// openSession dials and opens a session. If opportunistic TLS fails, it retries once in plaintext on a new
// connection. The next connection tries TLS again: a handshake may fail for a temporary reason, and an attacker
// who can break it must not turn TLS off for longer.
func (t *Transport) openSession(ctx context.Context, rt route, host target, addr netip.AddrPort,
	demand tlsDemand) (*session, *Outcome) {
	s, out, tlsFailed := t.openOnce(ctx, rt, host, addr, demand)
	if tlsFailed && demand.clearAllowed && ctx.Err() == nil {
		t.cfg.Logger.DebugContext(ctx, "smtp: TLS failed, retrying in plaintext",
			slog.String("host", host.name), slog.String("addr", addr.String()), slog.Any("error", out.Err))
		inTheClear := demand
		inTheClear.mode = mox.TLSSkip
		s, out, _ = t.openOnce(ctx, rt, host, addr, inTheClear)
	}
	if out != nil {
		from := out.withHost(host, addr.String())
		if local, _ := rt.way.localAddr(addr.Addr()); local.IsValid() && from.LocalAddr == "" {
			from.LocalAddr = local.String()
		}
		from.TLSPolicy = demand.policy
		return nil, &from
	}
	s.demand, s.key = demand, rt.key
	t.cfg.Logger.DebugContext(ctx, "smtp: connected",
		slog.String("host", host.name), slog.String("addr", s.addr), slog.String("tls", s.tls))
	return s, nil
}

func (t *Transport) openOnce(ctx context.Context, rt route, host target, addr netip.AddrPort,
	demand tlsDemand) (s *session, out *Outcome, tlsFailed bool) {
	conn, out := t.dialAddress(ctx, rt, addr)
	if out != nil {
		return nil, out, false
	}
	w := &wire{Conn: conn, left: maxRead}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()

	w.limitTo(t.cfg.Timeouts.Greeting)
	ear := &tap{command: func() { w.limitTo(t.cfg.Timeouts.Command) }, refuse: w.refuseWrites}
	var results sessionResults
	opts := mox.Opts{RootCAs: t.cfg.RootCAs, TLSConfig: demand.config, DANERecords: demand.records,
		RecipientDomainResult: &results.pkix, HostResult: &results.dane}
	name := moxdns.Domain{ASCII: host.name}
	if len(demand.names) > 0 { // the first is the TLSA base domain (RFC 7672, 8.1)
		name, opts.DANEMoreHostnames = demand.names[0], demand.names[1:]
	}
	if rt.smarthost != nil && rt.smarthost.Username != "" {
		opts.Auth = rt.smarthost.chooseMechanism
	}
	client, err := mox.New(ctx, slog.New(ear), w, demand.mode, demand.verify, moxdns.Domain{ASCII: rt.way.Hostname},
		name, opts)
	if demand.mode != mox.TLSSkip {
		t.reportSession(rt, host, demand, &results, ear.missing)
	}
	if err == nil {
		s, err = t.takeOver(client, w, host, addr, ear)
	}
	if err != nil {
		conn.Close()
		failure, tlsFailed := demand.openFailure(ctx, err, w, ear)
		failure.LocalAddr = conn.LocalAddr().String()
		return nil, &failure, tlsFailed
	}
	return s, nil, false
}

// takeOver turns mox's client, after its EHLO, into a session.
func (t *Transport) takeOver(client *mox.Client, w *wire, host target, addr netip.AddrPort,
	ear *tap) (*session, error) {
	conn, err := client.Conn()
	if err != nil {
		return nil, err
	}
	s := &session{
		host: host, addr: addr.String(), wire: w, conn: conn, opened: time.Now(),
		r: bufio.NewReaderSize(conn, 4096), ext: ear.parseExtensions(), timeouts: t.cfg.Timeouts,
	}
	s.w = bufio.NewWriterSize(blockWriter{s}, 32<<10)
	if state := client.TLSConnectionState(); state != nil {
		s.tls = tls.VersionName(state.Version)
	}
	return s, nil
}

// openFailure interprets an error of mox's New. tlsFailed reports that it might have worked without TLS.
func (d tlsDemand) openFailure(ctx context.Context, err error, w *wire, ear *tap) (out Outcome, tlsFailed bool) {
	var smtpErr mox.Error
	isSMTP := errors.As(err, &smtpErr)
	if ear.missing {
		err = fmt.Errorf("%w: %w", mox.ErrTLS, errNotOffered)
	}
	err = plainError(err)
	out = newTemporary(openPhase(smtpErr.Command), err)
	if isSMTP && smtpErr.Line != "" {
		if r, parseErr := parseReply(append([]string{smtpErr.Line}, smtpErr.MoreLines...)); parseErr == nil {
			out.Code, out.EnhancedCode, out.Reply = r.code, r.enhanced, r.text
		}
	}
	if ctx.Err() != nil {
		out.Err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
		return out, false
	}
	tlsFailed = errors.Is(err, mox.ErrTLS) || d.mode == mox.TLSImmediate && !isSMTP ||
		ear.starttls && d.mode != mox.TLSSkip && out.Code == 0 && out.Phase != PhaseAuth
	if !tlsFailed {
		return out, false
	}
	out.Phase = PhaseStartTLS
	switch d.policy {
	case PolicySTS, PolicyDANE: // retry later, because the receiver can repair it
		out.Err = fmt.Errorf("the receiver's %s policy is not met: %w", d.policy, err)
	case PolicyEnforced:
		out.Err = fmt.Errorf("verified TLS is enforced but not available: %w", err)
	}
	// A network error or a 4xx means "not now"; anything else means that this host has no TLS, or no
	// certificate for its name.
	if d.enforced && w.failed == nil && out.Code/100 != 4 {
		out.Kind, out.Reason = Failed, ReasonTLSRequired
	}
	return out, true
}

func openPhase(command string) Phase {
	switch command {
	case "ehlo", "helo":
		return PhaseEHLO
	case "starttls":
		return PhaseStartTLS
	case "auth":
		return PhaseAuth
	}
	return PhaseGreeting
}

// blockWriter applies the timeout of a data block to each write of a session.
type blockWriter struct{ s *session }

func (b blockWriter) Write(p []byte) (int, error) {
	b.s.wire.limitTo(b.s.timeouts.Block)
	return b.s.conn.Write(p)
}

// quit ends a session politely (RFC 5321, 4.1.1.10), but quickly.
func (s *session) quit() {
	defer s.cut()
	if s.broken {
		return
	}
	s.wire.limitTo(s.timeouts.Quit)
	if _, err := s.conn.Write([]byte("QUIT\r\n")); err != nil {
		return // already closed
	}
	if _, err := readReply(s.r); err != nil {
		return
	}
}

// cut ends a session immediately. It closes the TCP connection first: closing TLS would wait to write its
// close message.
func (s *session) cut() {
	s.broken = true
	s.wire.Conn.Close()
}

// remoteName returns the remote host for errors.
func (s *session) remoteName() string {
	return strings.TrimSpace(s.host.name + " " + s.addr)
}
