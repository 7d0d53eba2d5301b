package failover_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postrider/postrider/runtime/storage/db/failover"
)

func sighting(host, system, timeline, started string) failover.Sighting {
	return failover.Sighting{Host: host, Identity: failover.Identity{System: system, Timeline: timeline,
		Started: started}}
}

func TestMultiplePrimariesAreRejected(t *testing.T) {
	t.Parallel()
	old, primary := sighting("db1:5432", "7", "00000001", "100"), sighting("db2:5432", "7", "00000002", "200")
	standby, readOnly, off := sighting("db3:5432", "7", "00000002", "300"), old, old
	standby.Standby, readOnly.ReadOnly, off.Err = true, true, errors.New("connection refused")
	twin := sighting("db4:5432", "7", "00000002", "400")
	alias := primary
	alias.Host = "db.example.com:5432"
	for name, c := range map[string]struct {
		all  []failover.Sighting
		want []string // parts of the error; none if one host may be written to
	}{
		"a primary and a standby": {[]failover.Sighting{primary, standby}, nil},
		"the old primary, started by mistake": {[]failover.Sighting{old, primary, standby},
			[]string{"db1:5432 (timeline 1) and db2:5432 (timeline 2)", "db1:5432 is from before a failover"}},
		"two standbys that were both promoted": {[]failover.Sighting{primary, twin},
			[]string{"db2:5432 (timeline 2) and db4:5432 (timeline 2)", "the one that you want to discard"}},
		"an old primary that is read-only":     {[]failover.Sighting{readOnly, primary}, nil},
		"an old primary that does not respond": {[]failover.Sighting{off, primary}, nil},
		"one server under two names":           {[]failover.Sighting{primary, alias}, nil},
		"a primary of another cluster":         {[]failover.Sighting{primary, sighting("db9:5432", "8", "00000001", "900")}, nil},
	} {
		err := failover.Judge("7", c.all)
		if (err == nil) != (c.want == nil) {
			t.Errorf("%s returned %v, want an error with %q", name, err, c.want)
		}
		for _, want := range c.want {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s returned %v, want it to contain %q", name, err, want)
			}
		}
	}
	if got := failover.NewestTimeline("7",
		[]failover.Sighting{old, standby, sighting("db9:5432", "8", "00000009", "900"),
			{Host: "x", Err: io.EOF}}); got != "00000002" {
		t.Errorf("the newest timeline is %s, want that of the standby", got)
	}
}

// machine is a host of a survey.
type machine struct {
	mutex  sync.Mutex
	silent bool
	err    error
	dials  int
	asked  int
	who    []driver.Value
}

func (m *machine) dial(ctx context.Context) (driver.Conn, error) {
	m.mutex.Lock()
	m.dials++
	silent, err := m.silent, m.err
	m.mutex.Unlock()
	if silent {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return link{m}, nil
}

func (m *machine) set(change func()) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	change()
}

// link is a connection to a machine.
type link struct{ *machine }

func (l link) Prepare(string) (driver.Stmt, error) { return nil, driver.ErrSkip }
func (l link) Begin() (driver.Tx, error)           { return nil, driver.ErrSkip }
func (l link) Close() error                        { return nil }
func (l link) QueryContext(ctx context.Context, _ string, _ []driver.NamedValue) (driver.Rows, error) {
	l.mutex.Lock()
	l.asked++
	silent, err, who := l.silent, l.err, l.who
	l.mutex.Unlock()
	if silent {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return &row{who, false}, nil
}

type row struct {
	values []driver.Value
	read   bool
}

func (r *row) Columns() []string { return make([]string, len(r.values)) }
func (r *row) Close() error      { return nil }
func (r *row) Next(into []driver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read = true
	copy(into, r.values)
	return nil
}

func newSurvey(t *testing.T, patience time.Duration) (*failover.Survey, []*machine) {
	t.Helper()
	var machines []*machine
	for _, standby := range []string{"false", "true", "true"} {
		machines = append(machines, &machine{who: []driver.Value{"7", "00000001", "100", standby, "off"}})
	}
	s := failover.NewSurvey([]string{"db1:5432", "db2:5432", "db3:5432"}, patience,
		func(ctx context.Context, host int) (driver.Conn, error) {
			return machines[host].dial(ctx)
		})
	t.Cleanup(s.Close)
	return s, machines
}

// A silent host costs its timeout once: later checks do not wait for it, and notice when it has recovered.
func TestSilentHostDelaysOnlyOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, machines := newSurvey(t, time.Second)
		machines[2].set(func() { machines[2].silent = true })
		look := func() (all []failover.Sighting, took time.Duration) {
			began := time.Now()
			all = s.Refresh(t.Context(), began, -1)
			return all, time.Since(began)
		}
		all, took := look()
		if took != time.Second || all[2].Err == nil || all[0].Err != nil || !all[1].Standby {
			t.Errorf("the first check took %s and returned %+v, want a second for the silent host", took, all)
		}
		for range 3 {
			time.Sleep(2 * time.Second) // fake time
			if all, took := look(); took != 0 || all[2].Err == nil {
				t.Errorf("a later check took %s and returned %+v, want no wait for the silent host", took, all[2])
			}
		}
		machines[2].set(func() { machines[2].silent = false })
		time.Sleep(2 * time.Second) // fake time
		look()
		synctest.Wait()
		if all, _ := look(); all[2].Err != nil {
			t.Errorf("the recovered host is %+v", all[2])
		}
	})
}

// A burst of new connections queries the hosts once, on persistent connections.
func TestConcurrentChecksQueryOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, machines := newSurvey(t, time.Second)
		since := time.Now()
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { s.Refresh(t.Context(), since, 0) })
		}
		all.Wait()
		time.Sleep(time.Second) // fake time
		s.Refresh(t.Context(), time.Now(), 0)
		if m := machines[0]; m.asked != 0 {
			t.Errorf("the excluded host was queried %d times", m.asked)
		}
		for _, m := range machines[1:] {
			if m.asked != 2 || m.dials != 1 { // the connection to a standby is kept
				t.Errorf("a host was queried %d times on %d connections, want twice on one", m.asked, m.dials)
			}
		}
	})
}

// A kept connection may have been closed long ago; the host is then queried on another one. A host that
// refuses connections is detected immediately.
func TestClosedKeptConnectionIsReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, machines := newSurvey(t, time.Second)
		s.Refresh(t.Context(), time.Now(), -1)
		broken := errors.New("connection reset")
		machines[1].set(func() { machines[1].who = nil; machines[1].err = broken })
		time.Sleep(time.Second) // fake time
		if all := s.Refresh(t.Context(), time.Now(), -1); !errors.Is(all[1].Err, broken) {
			t.Errorf("a host that refuses connections is %+v", all[1])
		}
		machines[1].set(func() { machines[1].who = machines[0].who; machines[1].err = nil })
		time.Sleep(time.Second) // fake time
		if all := s.Refresh(t.Context(), time.Now(), -1); all[1].Err != nil || all[1].Standby {
			t.Errorf("a promoted host is %+v", all[1])
		}
	})
}

// The result of a new connection is newer than a query that started before it.
func TestNewestResultCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, machines := newSurvey(t, time.Second)
		machines[0].set(func() { machines[0].silent = true })
		go s.Refresh(t.Context(), time.Now(), -1)
		time.Sleep(time.Millisecond) // fake time
		s.Record(0, failover.Identity{System: "7", Timeline: "00000005"}, time.Now())
		time.Sleep(2 * time.Second) // the query has failed
		if all := s.Refresh(t.Context(), time.Time{}, -1); all[0].Err != nil || all[0].Timeline != "00000005" {
			t.Errorf("the host is %+v, want the result of the connection", all[0])
		}
	})
}
