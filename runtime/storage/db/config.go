package db

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/base/fault"
)

// Config defines which server to use and how long to wait for it. Zero values mean the defaults.
type Config struct {
	URL              string        // postgres://… or key=value, as in libpq
	Connections      int           // of both pools together, default 40
	OpTimeout        time.Duration // deadline of one network operation, default 4 s
	StatementTimeout time.Duration // enforced by the server, less than OpTimeout, default 3 s
	LockTimeout      time.Duration // enforced by the server, default 2 s
	IdleInTxTimeout  time.Duration // enforced by the server, default 10 s

	// RiskLosingAcceptedMail accepts a server with synchronous_commit=off, which loses the last moments
	// before a crash: accepted mail (status 200) can be lost.
	RiskLosingAcceptedMail bool

	Standbys int // number that must hold confirmed data; 0 for none
}

// Connections is the default maximum number of connections in both pools of a process. One more connection
// listens.
const Connections = 40

// PerProcess returns the maximum number of connections of a process, including the listening one.
func PerProcess(connections int) int { return connections + 1 }

func (c Config) withDefaults() Config {
	set := func(value *time.Duration, standard time.Duration) {
		if *value == 0 {
			*value = standard
		}
	}
	if c.Connections == 0 {
		c.Connections = Connections
	}
	set(&c.OpTimeout, 4*time.Second)
	set(&c.StatementTimeout, c.OpTimeout*3/4)
	set(&c.LockTimeout, c.OpTimeout/2)
	set(&c.IdleInTxTimeout, 10*time.Second)
	return c
}

// Validate returns an error that lists every invalid field.
func (c Config) Validate() error {
	c = c.withDefaults()
	wrong := fault.Fields{}
	if c.URL == "" {
		wrong.Add("URL", "must not be empty")
	} else if _, err := pq.NewConfig(c.URL); err != nil {
		wrong.Add("URL", "is not a PostgreSQL connection string") // the error would reveal the password
	}
	if c.Connections < 4 {
		wrong.Add("Connections", "must be at least 4")
	}
	if c.Standbys < 0 {
		wrong.Add("Standbys", "must not be negative")
	}
	for name, value := range map[string]time.Duration{"OpTimeout": c.OpTimeout, "StatementTimeout": c.StatementTimeout,
		"LockTimeout": c.LockTimeout, "IdleInTxTimeout": c.IdleInTxTimeout} {
		if value < time.Millisecond {
			wrong.Add(name, "must be at least a millisecond")
		}
	}
	if c.StatementTimeout >= c.OpTimeout {
		wrong.Add("StatementTimeout", "must be less than OpTimeout (%s), so that the server can report what was slow",
			c.OpTimeout)
	}
	return wrong.Err()
}

// buildDSN returns the connection string with additional parameters, for a pool or a listener. Parameters that
// the URL already sets keep their values.
func (c Config) buildDSN(parameters ...parameter) (string, error) {
	given, err := pq.NewConfig(c.URL)
	if err != nil {
		return "", fmt.Errorf("database url: invalid connection string")
	}
	all := append([]parameter{
		{"statement_timeout", formatMilliseconds(c.StatementTimeout)},
		{"lock_timeout", formatMilliseconds(c.LockTimeout)},
		{"idle_in_transaction_session_timeout", formatMilliseconds(c.IdleInTxTimeout)},
		{"fallback_application_name", "postrider"},
		// All statements are short. Where the planner adds the penalty for a disabled method
		// (enable_seqscan of the hot pool), the server would JIT-compile them: a second of work to save a
		// millisecond.
		{"jit", "off"},
	}, parameters...)
	if isLocalHost(given) && !strings.Contains(c.URL, "sslmode") && os.Getenv("PGSSLMODE") == "" {
		all = append(all, parameter{"sslmode", "prefer"}) // lib/pq would require TLS even on loopback
	}
	result := c.URL
	for _, p := range all {
		if _, known := given.Runtime[p.name]; !known {
			result = p.appendTo(result)
		}
	}
	return result, nil
}

func isLocalHost(c pq.Config) bool {
	if strings.HasPrefix(c.Host, "/") || strings.HasPrefix(c.Host, "@") || c.Host == "localhost" {
		return true
	}
	ip := net.ParseIP(c.Host)
	return ip != nil && ip.IsLoopback()
}

// parameter is one connection parameter. The values used here need no quoting.
type parameter struct{ name, value string }

func (p parameter) appendTo(dsn string) string {
	if !isURL(dsn) {
		return dsn + " " + p.name + "=" + p.value
	}
	separator := "?"
	if strings.Contains(dsn, "?") {
		separator = "&"
	}
	return dsn + separator + p.name + "=" + p.value
}

// replaceParameters returns a connection string with other values for some parameters.
func replaceParameters(dsn string, parameters []parameter) (string, error) {
	if !isURL(dsn) {
		for _, p := range parameters { // the last value wins
			dsn += " " + p.name + "='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(p.value) + "'"
		}
		return dsn, nil
	}
	address, err := url.Parse(dsn)
	if err != nil {
		return "", err
	}
	query := address.Query()
	for _, p := range parameters {
		query.Set(p.name, p.value)
	}
	address.Host, address.RawQuery = "", query.Encode() // a host before the path would also be used
	return address.String(), nil
}

func isURL(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}

func formatMilliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
