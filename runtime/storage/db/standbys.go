package db

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The server shows state and sync_state only to members of pg_monitor.
const standbysSQL = `SELECT count(*) FILTER (WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum')), count(*) FILTER (WHERE state IS NULL) FROM pg_stat_replication`

// standbysFresh is how long a result is valid.
const standbysFresh = 2 * time.Second

// standbys caches the number of standbys that hold confirmed data. It is safe for concurrent use.
type standbys struct {
	wanted int

	mutex sync.Mutex
	asked time.Time
	found error
}

// CheckReplication returns an error unless Config.Standbys standbys follow the server and its commits wait for
// them. It queries the server at most every two seconds.
func (d *DB) CheckReplication(ctx context.Context) error {
	s := &d.standbys
	if s.wanted == 0 {
		return nil
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if time.Since(s.asked) > standbysFresh {
		s.found = s.countStandbys(ctx, d)
		s.asked = time.Now()
	}
	return s.found
}

func (s *standbys) countStandbys(ctx context.Context, d *DB) error {
	type seen struct{ waitedFor, hidden int }
	found, err := One(ctx, d.SQL, func(f *seen) []any { return []any{&f.waitedFor, &f.hidden} }, standbysSQL)
	switch {
	case err != nil:
		return fmt.Errorf("query the standbys: %w", err)
	case found.waitedFor >= s.wanted:
		return nil
	case found.hidden > 0:
		return errors.New("the server does not show its standbys to this role: GRANT pg_monitor to it, or unset POSTRIDER_DATABASE_STANDBYS")
	}
	return fmt.Errorf("commits wait for only %d connected standbys; POSTRIDER_DATABASE_STANDBYS requires %d",
		found.waitedFor, s.wanted)
}

// manyNames matches the forms of synchronous_standby_names that contain the number of standbys for which a
// commit waits.
var manyNames = regexp.MustCompile(`(?i)^(?:(?:first|any)\s+)?(\d+)\s*\(`)

// waitsFor returns the number of standbys that have a commit on disk before it is confirmed, given the
// settings synchronous_commit and synchronous_standby_names.
func waitsFor(commit, names string) int {
	names = strings.TrimSpace(names)
	if names == "" || commit != "on" && commit != "remote_apply" {
		return 0
	}
	if many := manyNames.FindStringSubmatch(names); many != nil {
		n, err := strconv.Atoi(many[1])
		if err == nil {
			return n
		}
	}
	return 1 // a list of names: the first available one
}
