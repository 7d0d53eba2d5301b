package telemetry_test

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postrider/postrider/runtime/base/telemetry"
)

type sheet struct {
	mutex  sync.Mutex
	writes []string
}

func (s *sheet) Write(b []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.writes = append(s.writes, string(b))
	return len(b), nil
}

func (s *sheet) take() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	got := s.writes
	s.writes = nil
	return got
}

func TestLinesShareAWrite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &sheet{}
		w := telemetry.NewJoinedWriter(s)
		log := telemetry.JoinedLines(telemetry.NewLogger(telemetry.Text, slog.LevelInfo, w), w)
		log.Info("one")
		log.Info("two")
		if got := s.take(); len(got) != 0 {
			t.Errorf("written immediately: %q", got)
		}
		time.Sleep(51 * time.Millisecond)
		synctest.Wait()
		if got := s.take(); len(got) != 1 || strings.Count(got[0], "\n") != 2 {
			t.Errorf("after a moment: %q", got)
		}
		log.Info("before")
		log.With("a", 1).WithGroup("g").Error("broken")
		if got := s.take(); len(got) != 1 || !strings.Contains(got[0], "before") ||
			!strings.Contains(got[0], "broken") {
			t.Errorf("an error: %q", got)
		}
		log.Info("last")
		if err := w.Flush(); err != nil || len(s.take()) != 1 {
			t.Errorf("at the end: %v", err)
		}
		log.Info(strings.Repeat("x", 70<<10))
		if got := s.take(); len(got) != 1 {
			t.Error("a long line waits")
		}
		time.Sleep(time.Second)
	})
}
