package node

import (
	"testing"

	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// A database that responds but stores nothing counts as unavailable: the last write becomes old, and nothing
// is claimed. The process recovers automatically.
func TestUnstoredBeatsStopClaims(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		server func(t *testing.T) *dbtest.Server
		fault  func(t *testing.T, s *dbtest.Server) (undo func())
	}{
		"a read-only database": {fault: func(_ *testing.T, s *dbtest.Server) func() {
			s.SetReadOnly(true)
			return func() { s.SetReadOnly(false) }
		}},
		"a standby that never confirms": {fault: func(_ *testing.T, s *dbtest.Server) func() {
			s.SetHangingCommits(true)
			return func() { s.SetHangingCommits(false) }
		}},
		"a full disk": {
			server: func(t *testing.T) *dbtest.Server {
				t.Helper()
				return dbtest.NewServerIn(t, dbtest.SmallDisk(t, "200m"))
			},
			fault: func(t *testing.T, s *dbtest.Server) func() { t.Helper(); return dbtest.Fill(t, s.Folder()) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.server == nil {
				c.server = func(t *testing.T) *dbtest.Server { t.Helper(); return dbtest.NewServer(t) }
			}
			server := c.server(t)
			m := join(t, server.Open(), "one")
			eventually(t, "beats are stored", func() bool { return m.mayRun() && m.SinceStored() < quick.silent })
			undo := c.fault(t, server)
			eventually(t, "the last write becomes old",
				func() bool { return m.SinceStored() > 3*quick.every+quick.silent })
			if m.mayClaim() {
				t.Error("a process whose writes are not stored may claim")
			}
			undo()
			eventually(t, "beats are stored again", func() bool { return m.SinceStored() < quick.silent })
			eventually(t, "the process may claim again", m.mayClaim)
		})
	}
}
