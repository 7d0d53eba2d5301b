package tracking

import (
	_ "embed"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

//go:embed machines.txt
var machinesFile string

// classifier distinguishes programs from people.
type classifier struct{ rules []rule }

type rule struct {
	reason string
	fits   func(v Visit) bool
}

func newMachines(table string) (classifier, error) {
	var m classifier
	for number, line := range strings.Split(table, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		reason, rest, _ := strings.Cut(line, " ")
		how, rest, _ := strings.Cut(strings.TrimSpace(rest), " ")
		fits, err := parseCondition(how, strings.TrimSpace(rest))
		if err != nil {
			return classifier{}, fmt.Errorf("table of machines, line %d: %w", number+1, err)
		}
		m.rules = append(m.rules, rule{reason, fits})
	}
	return m, nil
}

func parseCondition(how, rest string) (func(Visit) bool, error) {
	if how == "network" {
		text, _, _ := strings.Cut(rest, " ")
		network, err := netip.ParsePrefix(text)
		return func(v Visit) bool { return v.IP.IsValid() && network.Contains(v.IP.Unmap()) }, err
	}
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return nil, fmt.Errorf("%s requires a quoted value: %w", how, err)
	}
	value, err := strconv.Unquote(quoted)
	if err != nil {
		return nil, err
	}
	lower := strings.ToLower(value)
	switch how {
	case "agent-is":
		return func(v Visit) bool { return v.UserAgent == value }, nil
	case "agent-has":
		return func(v Visit) bool { return strings.Contains(strings.ToLower(v.UserAgent), lower) }, nil
	case "header":
		name, part, found := strings.Cut(lower, ": ")
		if !found {
			return nil, fmt.Errorf("header %q is not name: value", value)
		}
		return func(v Visit) bool {
			return v.Header != nil &&
				strings.Contains(strings.ToLower(strings.Join(v.Header.Values(http.CanonicalHeaderKey(name)), ",")),
					part)
		}, nil
	}
	return nil, fmt.Errorf("unknown method %q", how)
}

// classify returns why a visit counts as a program's, or "" for a person's.
func (m classifier) classify(v Visit) string {
	for _, r := range m.rules {
		if r.fits(v) {
			return r.reason
		}
	}
	return ""
}
