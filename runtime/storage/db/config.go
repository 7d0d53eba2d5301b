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

// Config says which server to use and how long to wait for it. Zero values
// mean the defaults.
type Config struct {
	URL              string        // postgres://… or key=value, as libpq takes it
	Connections      int           // of both pools together, 40
	OpTimeout        time.Duration // deadline of one network operation, 4 s
	StatementTimeout time.Duration // server side, less than OpTimeout, 3 s
	LockTimeout      time.Duration // server side, 2 s
	IdleInTxTimeout  time.Duration // server side, 10 s

	// RiskLosingAcceptedMail accepts a server with synchronous_commit=off,
	// which forgets the last moments before a crash: mail that was answered
	// with 200 can be lost.
	RiskLosingAcceptedMail bool

	Standbys int // that have to hold what is confirmed; 0: none
}

// Connections are how many both pools of a process open together at most, where nobody says. One more
// listens.
const Connections = 40

// PerProcess is how many connections a process opens at most, with the one that listens.
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

// Validate reports every wrong field.
func (c Config) Validate() error {
	c = c.withDefaults()
	wrong := fault.Fields{}
	if c.URL == "" {
		wrong.Add("URL", "is empty")
	} else if _, err := pq.NewConfig(c.URL); err != nil {
		wrong.Add("URL", "is not a PostgreSQL connection string") // the error would show the password
	}
	if c.Connections < 4 {
		wrong.Add("Connections", "is less than 4")
	}
	if c.Standbys < 0 {
		wrong.Add("Standbys", "is less than 0")
	}
	for name, value := range map[string]time.Duration{"OpTimeout": c.OpTimeout, "StatementTimeout": c.StatementTimeout,
		"LockTimeout": c.LockTimeout, "IdleInTxTimeout": c.IdleInTxTimeout} {
		if value < time.Millisecond {
			wrong.Add(name, "is less than a millisecond")
		}
	}
	if c.StatementTimeout >= c.OpTimeout {
		wrong.Add("StatementTimeout", "is not less than OpTimeout (%s): the server could not say what was slow", c.OpTimeout)
	}
	return wrong.Err()
}

// dsn is the connection string with our parameters, for a pool or a listener.
// What the URL says of them already stays.
func (c Config) dsn(parameters ...parameter) (string, error) {
	given, err := pq.NewConfig(c.URL)
	if err != nil {
		return "", fmt.Errorf("database url: not understood")
	}
	all := append([]parameter{
		{"statement_timeout", milliseconds(c.StatementTimeout)},
		{"lock_timeout", milliseconds(c.LockTimeout)},
		{"idle_in_transaction_session_timeout", milliseconds(c.IdleInTxTimeout)},
		{"fallback_application_name", "postrider"},
		// Statements are short. Where the planner adds the high price of what is switched off (enable_seqscan of
		// the hot pool), the server would compile them first: a second of work for a millisecond's.
		{"jit", "off"},
	}, parameters...)
	if local(given) && !strings.Contains(c.URL, "sslmode") && os.Getenv("PGSSLMODE") == "" {
		all = append(all, parameter{"sslmode", "prefer"}) // lib/pq would require TLS on loopback
	}
	result := c.URL
	for _, p := range all {
		if _, known := given.Runtime[p.name]; !known {
			result = p.appendTo(result)
		}
	}
	return result, nil
}

func local(c pq.Config) bool {
	if strings.HasPrefix(c.Host, "/") || strings.HasPrefix(c.Host, "@") || c.Host == "localhost" {
		return true
	}
	ip := net.ParseIP(c.Host)
	return ip != nil && ip.IsLoopback()
}

// parameter is one connection parameter; the values used here need no quoting.
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

// replaced is a connection string with other values for some parameters.
func replaced(dsn string, parameters []parameter) (string, error) {
	if !isURL(dsn) {
		for _, p := range parameters { // the last value counts
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
	address.Host, address.RawQuery = "", query.Encode() // a host before the path would count as well
	return address.String(), nil
}

func isURL(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
