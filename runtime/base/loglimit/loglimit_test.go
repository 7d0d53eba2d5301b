package loglimit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/loglimit"
)

// journal is a log whose lines can be read while others write to it.
type journal struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.all.Write(p)
}

type line struct {
	Level, Msg, Who string
	N, Count        int
}

func (j *journal) lines(t *testing.T) (list []line) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	for text := range strings.Lines(j.all.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("the line %q: %v", text, err)
		}
		list = append(list, l)
	}
	return list
}

func newLog() (*slog.Logger, *journal) {
	j := &journal{}
	return slog.New(loglimit.New(slog.NewJSONHandler(j, nil))), j
}

// A flood becomes one line per second and reason, and the counts add up to the number of records.
func TestAFloodIsOneLinePerSecondAndReason(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, j := newLog()
		const perSecond, seconds = 1000, 5
		for i := range perSecond * seconds {
			for _, reason := range []string{"a", "b"} {
				log.WarnContext(loglimit.Collapse(t.Context(), reason), "refused", "n", i, "who", reason)
			}
			time.Sleep(time.Second / perSecond)
		}
		time.Sleep(3 * time.Second)
		lines, told := map[string]int{}, map[string]int{}
		for _, l := range j.lines(t) {
			lines[l.Who]++
			told[l.Who] += max(l.Count, 1)
		}
		for _, reason := range []string{"a", "b"} {
			if lines[reason] > seconds+1 || told[reason] != perSecond*seconds {
				t.Errorf("%d rejections in %d seconds for the reason %s became %d lines that count %d, want at most %d lines that count all", perSecond*seconds, seconds, reason, lines[reason], told[reason], seconds+1)
			}
		}
	})
}

// A single line is written immediately and unchanged. The line of a flood has the attributes of the last one.
func TestSingleLinesAreUnchanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, j := newLog()
		ctx := loglimit.Collapse(t.Context(), "a")
		log.With("who", "ada").WarnContext(ctx, "refused", "n", 1)
		log.With("who", "bob").WarnContext(ctx, "refused", "n", 2)
		log.With("who", "cy").WarnContext(ctx, "refused", "n", 3)
		log.With("who", "ada").InfoContext(ctx, "refused", "n", 4)
		log.InfoContext(t.Context(), "unmarked", "n", 5)
		log.InfoContext(t.Context(), "unmarked", "n", 6)
		want := []line{{"WARN", "refused", "ada", 1, 0}, {"INFO", "refused", "ada", 4, 0},
			{"INFO", "unmarked", "", 5, 0}, {"INFO", "unmarked", "", 6, 0}}
		if diff := cmp.Diff(want, j.lines(t)); diff != "" {
			t.Errorf("lines within the second (-want +got):\n%s", diff)
		}
		time.Sleep(5 * time.Second)
		log.WarnContext(ctx, "refused", "n", 7)
		want = append(want, line{"WARN", "refused", "cy", 3, 2}, line{"WARN", "refused", "", 7, 0})
		if diff := cmp.Diff(want, j.lines(t)); diff != "" {
			t.Errorf("lines after some seconds (-want +got):\n%s", diff)
		}
		time.Sleep(2 * time.Second)
	})
}

// CollapseAfter writes a few lines a second individually.
func TestCollapseAfterWritesAFewLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, j := newLog()
		for i := range 50 {
			log.InfoContext(loglimit.CollapseAfter(t.Context(), 20, "a"), "request", "n", i)
		}
		if got := len(j.lines(t)); got != 20 {
			t.Errorf("of 50 lines, %d were written immediately, want 20", got)
		}
		time.Sleep(3 * time.Second)
		if got := j.lines(t); len(got) != 21 || got[20].Count != 30 {
			t.Errorf("of 50 lines, %d were written in total, the last %+v; want 21, the last for 30", len(got),
				got[len(got)-1])
		}
	})
}

// Reasons that are not from a small set cost bounded memory and bounded lines.
func TestReasonsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, j := newLog()
		for i := range 10_000 {
			log.WarnContext(loglimit.Collapse(t.Context(), fmt.Sprint(i)), "refused", "n", i)
		}
		time.Sleep(3 * time.Second)
		told := 0
		lines := j.lines(t)
		for _, l := range lines {
			told += max(l.Count, 1)
		}
		if len(lines) > 600 || told != 10_000 {
			t.Errorf("10,000 reasons became %d lines that count %d, want at most 600 that count all", len(lines), told)
		}
	})
}
