package db

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/lib/pq"
)

// chunk is the size of a write with one deadline: a large attachment gets many deadlines, a stuck server
// only one.
const chunk = 256 << 10

// dialer decides how long operations on connections may take, and learns from their results.
type dialer struct {
	timeout time.Duration // for each read and write
	idle    time.Duration // for each read, if not 0: a statement may take long
	stalled atomic.Int64  // when an operation last hit its deadline, in Unix nanoseconds; 0 after a success
	probed  atomic.Int64  // when a new connection was last tried during a stall
}

// operationTimeout returns how long an operation may take now. After a missed deadline the next ones are short: a
// caller that waited for a connection must not wait in full again. A stall without further timeouts is
// forgotten after half a minute.
func (d *dialer) operationTimeout() time.Duration {
	if d.isStalled() {
		return d.timeout / 5
	}
	return d.timeout
}

func (d *dialer) isStalled() bool {
	at := d.stalled.Load()
	return at != 0 && time.Since(time.Unix(0, at)) < 30*time.Second
}

// mayConnect allows one new connection half a second after each failure. database/sql opens the connections
// that callers wait for one after the other: if each took the full time, the last caller would wait for all
// of them.
func (d *dialer) mayConnect() bool {
	if !d.isStalled() {
		return true
	}
	const pause = int64(500 * time.Millisecond)
	now, last := time.Now().UnixNano(), d.probed.Load()
	return now-d.stalled.Load() > pause && now-last > pause && d.probed.CompareAndSwap(last, now)
}

// recordResult learns from the result of an operation.
func (d *dialer) recordResult(err error) {
	switch {
	case err == nil:
		if d.stalled.Load() != 0 {
			d.stalled.Store(0)
		}
	case errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded):
		d.stalled.Store(time.Now().UnixNano())
	}
}

// trial is one attempt to connect to one host. Its failure does not count for the database, because another
// host may respond.
type trial struct {
	*dialer
	over   context.Context // when it ends, a connection that has not been accepted is closed
	passed atomic.Bool
}

var (
	_ pq.Dialer        = (*trial)(nil)
	_ pq.DialerContext = (*trial)(nil)
)

// Dial implements pq.Dialer; lib/pq calls DialContext instead.
func (t *trial) Dial(network, address string) (net.Conn, error) {
	return t.DialContext(context.Background(), network, address)
}

// DialTimeout implements pq.Dialer; lib/pq calls DialContext instead.
func (t *trial) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return t.DialContext(ctx, network, address)
}

// DialContext connects and wraps the connection.
func (t *trial) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	inner := net.Dialer{Timeout: t.operationTimeout()}
	conn, err := inner.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(t.over, func() {
		if !t.passed.Load() {
			_ = conn.Close() // during a read, which then returns an error
		}
	})
	return &deadlineConn{Conn: conn, trial: t}, nil
}

// recordResult forwards to the dialer once the connection was accepted.
func (t *trial) recordResult(err error) {
	if t.passed.Load() {
		t.dialer.recordResult(err)
	}
}

// deadlineConn sets a deadline before each read and write.
type deadlineConn struct {
	net.Conn
	trial *trial
	limit atomic.Int64 // set by callers: no operation may exceed it; Unix nanoseconds
	sent  atomic.Int64 // bytes since the last response
}

// SetDeadline limits all operations together; lib/pq uses it for the handshake.
func (c *deadlineConn) SetDeadline(at time.Time) error {
	if at.IsZero() {
		c.limit.Store(0)
	} else {
		c.limit.Store(at.UnixNano())
	}
	return nil
}

func (c *deadlineConn) nextDeadline(timeout time.Duration) time.Time {
	at := time.Now().Add(timeout)
	if limit := c.limit.Load(); limit != 0 && limit < at.UnixNano() {
		return time.Unix(0, limit)
	}
	return at
}

// Read waits for the server, longer after a large statement. An EOF in the middle of a response becomes an operational
// error: for a plain io.EOF, database/sql would run the statement again although it may already have taken effect.
func (c *deadlineConn) Read(buffer []byte) (int, error) {
	timeout := c.trial.operationTimeout() + extraTime(int(c.sent.Load()))
	if c.trial.idle != 0 {
		timeout = c.trial.idle
	}
	if err := c.SetReadDeadline(c.nextDeadline(timeout)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(buffer)
	c.trial.recordResult(err)
	c.sent.Store(0)
	if errors.Is(err, io.EOF) {
		err = &net.OpError{Op: "read", Net: "postgres", Source: c.LocalAddr(), Addr: c.RemoteAddr(),
			Err: io.ErrUnexpectedEOF}
	}
	return n, err
}

// Write sends the data in chunks, each with its own deadline.
func (c *deadlineConn) Write(data []byte) (int, error) {
	written := 0
	for {
		if err := c.SetWriteDeadline(c.nextDeadline(c.trial.operationTimeout())); err != nil {
			return written, err
		}
		n, err := c.Conn.Write(data[written:min(written+chunk, len(data))])
		written += n
		c.sent.Add(int64(n))
		if err != nil {
			c.trial.recordResult(err)
			return written, err
		}
		if written == len(data) {
			return written, nil
		}
	}
}
